// `${NAME}` and `{{ name }}` in one pass over the text as written: what is put in is never looked at again.

export type Filler = {
  /** What stands for `{{ reference }}`; throws Unfilled. Without it, `{{` is plain text. */
  value?: ((reference: string) => string) | undefined;
  /** What stands for `${reference}`; throws Unfilled. Without it, `${` is plain text. */
  variable?: ((reference: string) => string) | undefined;
  /** The text was not written for omega: `{{ … }}` that is none of ours stays as it is. */
  isForeign?: boolean | undefined;
  /** Called for each place that cannot be filled, in order; `at` is where in the text it stands. */
  onProblem(expression: string, message: string, where: { text: string; at: number }): void;
};

export class Unfilled extends Error {}

const templates = /(\{\{)(?:([^{}\n]*)\}\})?|\$\{(?:([^{}\n]*)\})?/g;
const ours = /^(inputs\.[\w-]+|today|now|run\.id|skill\.dir|workdir)$/;

export function fillTemplate(text: string, filler: Filler): string {
  return text.replace(
    templates,
    (expression: string, braces: string | undefined, value: string, variable: string, at: number) => {
      const lookUp = braces ? filler.value : filler.variable;
      const inner: string | undefined = braces ? value : variable;
      const reference = inner?.trim();
      if (!lookUp || (filler.isForeign && !ours.test(reference ?? ""))) return expression;
      try {
        if (reference === undefined) throw new Unfilled(`${expression} is not closed on its line`);
        return lookUp(reference);
      } catch (error) {
        if (!(error instanceof Unfilled)) throw error;
        filler.onProblem(expression, error.message, { text, at });
        return expression;
      }
    },
  );
}
