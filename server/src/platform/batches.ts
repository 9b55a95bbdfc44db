/** Number of values per statement: with up to 60 columns a row, less than any database binds (SQLite 32,766, PostgreSQL 65,535). */
export const BATCH = 500;

/** Lets everybody else have their turn of the event loop: an await of an answer that is there is a microtask, and gives no turn. */
const giveWay = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Reads a long list page by page: the one way to do so. `read` gets the last row of the page before, and answers at most `size` rows; a page that is not full is the last one. Between two
 * pages others have their turn.
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

/** Does `work` with one part of a long list after the other, and answers all results. Between two of them others have their turn. */
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
