/** Number of values per statement: with up to 60 columns a row, less than any database binds (SQLite 32,766, PostgreSQL 65,535). */
export const BATCH = 500;

/** Does `work` with one part of a long list after the other, and answers all results. Between two of them others have their turn. */
export async function inBatches<T, R>(
  list: readonly T[],
  work: (batch: readonly T[]) => Promise<readonly R[]>,
  size = BATCH,
): Promise<R[]> {
  const all: R[] = [];
  for (let at = 0; at < list.length; at += size) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const one of await work(list.slice(at, at + size))) all.push(one);
  }
  return all;
}
