/** Maximum edit distance for short and long names: with two letters, `PORT` and `HOST` would match `PATH` and `HOME`. */
const DISTANCE = { short: 1, long: 2 } as const;
const LONG_NAME = 8;

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other (optimal string alignment). */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const options = [(last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1)];
      if (one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) options.push((before[column - 2] ?? 0) + 1);
      next.push(Math.min(...options));
    }
    before = last;
    last = next;
  }
  return last[other.length] ?? 0;
}

/** Names within one or two letters of a known name, which are probably misspelt. */
export function misspeltNames(names: readonly string[], known: readonly string[]): { name: string; known: string }[] {
  return names.flatMap((name) => {
    if (known.includes(name)) return [];
    const upper = name.toUpperCase();
    const near = known
      .map((one) => ({ one, far: distance(upper, one) }))
      .filter(({ one, far }) => far <= (one.length < LONG_NAME ? DISTANCE.short : DISTANCE.long))
      .sort((a, b) => a.far - b.far)[0];
    return near === undefined ? [] : [{ name, known: near.one }];
  });
}
