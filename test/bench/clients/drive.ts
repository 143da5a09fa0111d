// The same work for every client: `list` connects, lists the tools and leaves; `calls` prints calls per second, one at a
// time and 64 in flight, as JSON.

export type Client = { tools(): Promise<number>; echo(text: string): Promise<string>; close(): Promise<void> };

const ONE_BY_ONE = 1_000;
const TOGETHER = 8_000;
const IN_FLIGHT = 64;

export async function drive(connect: (command: string, args: string[]) => Promise<Client>): Promise<void> {
  const [mode, command = "", ...args] = process.argv.slice(2);
  const client = await connect(command, args);
  if ((await client.tools()) === 0) throw new Error("no tools");
  if (mode === "calls") {
    await series(client, 200);
    const alone = await rate(ONE_BY_ONE, () => series(client, ONE_BY_ONE));
    const together = await rate(TOGETHER, () =>
      Promise.all(Array.from({ length: IN_FLIGHT }, () => series(client, TOGETHER / IN_FLIGHT))),
    );
    console.log(JSON.stringify({ alone, together }));
  }
  await client.close();
}

async function series(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const text = await client.echo(`n${index}`);
    if (text !== `echo: n${index}`) throw new Error(`wrong answer: ${text}`);
  }
}

async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1_000);
}
