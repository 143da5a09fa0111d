/** Rows of text in columns as wide as they need to be; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[], indent = ""): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows
    .map((row) => row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))))
    .map((cells) => `${indent}${cells.join("  ").trimEnd()}\n`)
    .join("");
}
