import { expect, test } from "bun:test";
import { namePlaces } from "../../src/cassette/places.ts";

const places = (workdir: string, skillDir: string) => namePlaces({ workdir, "skill.dir": skillDir });

const hidden: [string, string, string, string, string][] = [
  ["a whole path", "/tmp/a", "/x", "in /tmp/a", "in {{ workdir }}"],
  ["what lies in it", "/tmp/a", "/x", "/tmp/a/b and file:///tmp/a/c", "{{ workdir }}/b and file://{{ workdir }}/c"],
  ["not what only begins like it", "/tmp/a", "/x", "/tmp/ab /tmp/a-b /tmp/a.b", "/tmp/ab /tmp/a-b /tmp/a.b"],
  ["the longer of two", "/tmp/a", "/tmp/a/skills/s", "/tmp/a/skills/s/x /tmp/a/y", "{{ skill.dir }}/x {{ workdir }}/y"],
  ["the first of two that are the same", "/tmp/a", "/tmp/a", "/tmp/a/x", "{{ workdir }}/x"],
  ["not the root", "/", "/x", "/a /x", "/a {{ skill.dir }}"],
  ["one with a quote in it", '/tmp/"a"', "/x", '/tmp/"a"/b', "{{ workdir }}/b"],
  ["one at the end of a sentence", "/tmp/a", "/x", "In /tmp/a.", "In {{ workdir }}."],
  ["one at the end of a line", "/tmp/a", "/x", "/tmp/a\n/tmp/a", "{{ workdir }}\n{{ workdir }}"],
];
for (const [what, workdir, skillDir, text, told] of hidden) {
  test(`hidden is ${what}, and it is shown again`, () => {
    const { hide, show } = places(workdir, skillDir);
    expect(JSON.parse(hide(JSON.stringify({ text })))).toEqual({ text: told });
    expect(JSON.parse(show(hide(JSON.stringify({ text }))))).toEqual({ text });
  });
}

test("a name is shown as the folder of another machine, whatever its characters are", () => {
  const { show } = places('C:\\work\\"$&"', "/s");
  expect(JSON.parse(show('{"text":"{{ workdir }}/a, {{ skill.dir }}, {{ other }}"}'))).toEqual({
    text: 'C:\\work\\"$&"/a, /s, {{ other }}',
  });
});
