/** Characters of JSON that one token covers, roughly, whatever the tokenizer. */
const CHARACTERS_PER_TOKEN = 4;

/** About how many tokens a tool's definition costs with every request. */
export function tokensOf(name: string, description: string, inputSchema: object): number {
  const sent = JSON.stringify({ name, description, parameters: inputSchema });
  return Math.ceil(sent.length / CHARACTERS_PER_TOKEN);
}
