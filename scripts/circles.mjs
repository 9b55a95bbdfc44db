// Which files of a build import each other in a circle: what one of them reads while it loads may not be there yet, whichever the browser begins with.

/**
 * The shortest circle through each file that is in one, each circle once, by the names of its files with the first one again at the end.
 * @param {ReadonlyMap<string, readonly string[]>} imports by file, what it imports before it runs @returns {string[][]}
 */
export function circlesOf(imports) {
  /** @type {Map<string, string[]>} */
  const circles = new Map();
  for (const first of imports.keys()) {
    const circle = wayBack(imports, first);
    const name = circle?.toSorted().join('\n');
    if (circle !== undefined && name !== undefined && !circles.has(name)) circles.set(name, [...circle, first]);
  }
  return [...circles.values()];
}

/** @param {ReadonlyMap<string, readonly string[]>} imports @param {string} first @returns {string[] | undefined} */
function wayBack(imports, first) {
  /** By file, the one that it was reached from. @type {Map<string, string>} */
  const from = new Map();
  const waiting = [first];
  for (const file of waiting) {
    for (const next of imports.get(file) ?? []) {
      if (next === first) {
        const way = [file];
        for (let at = from.get(file); at !== undefined; at = from.get(at)) way.unshift(at);
        return way;
      }
      if (from.has(next)) continue;
      from.set(next, file);
      waiting.push(next);
    }
  }
  return undefined;
}
