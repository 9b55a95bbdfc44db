/** Number of rows per statement: with up to 60 columns per row, below the limit of bound values (SQLite 32,766, PostgreSQL 65,535). */
export const BATCH = 500;

/** Yields to the event loop: awaiting an available answer is only a microtask, which does not yield. */
const giveWay = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Reads a long list page by page: use this for every long read. `read` gets the last row of the previous page and returns at most `size` rows; a page that is not full is
 * the last one. Yields to the event loop between pages.
 */
export async function* inPages<Row>(
  size: number,
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let last: Row | undefined; ; await giveWay()) {
    const rows = await read(last);
    yield rows;
    last = rows.at(-1);
    if (rows.length < size) return;
  }
}

/** Runs `work` on a long list in batches and returns all results. Yields to the event loop between batches. */
export async function inBatches<T, R>(
  list: readonly T[],
  work: (batch: readonly T[]) => Promise<readonly R[]>,
  size = BATCH,
): Promise<R[]> {
  const all: R[] = [];
  for (let at = 0; at < list.length; at += size) {
    if (at > 0) await giveWay();
    for (const one of await work(list.slice(at, at + size))) all.push(one);
  }
  return all;
}
