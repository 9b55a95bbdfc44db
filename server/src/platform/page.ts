import { TOTAL_HEADER } from '@palisade/contract/fields';
import { foldText } from '@palisade/contract/text';
import { type RawBuilder, sql } from 'kysely';
import { foldedColumn } from './folded-text.ts';

/** Whether one of the columns contains the text, both folded by `foldText`, on both databases. */
export function containing(search: string, columns: readonly string[]): RawBuilder<boolean> {
  if (search === '') return sql`true`;
  const pattern = `%${foldText(search).replace(/[\\%_]/gu, '\\$&')}%`;
  const one = columns.map((column) => sql`${foldedColumn(column)} like ${pattern} escape '\\'`);
  return sql`(${sql.join(one, sql` or `)})`;
}

/** Counts the rows of all pages of a list, on its first page only: later pages do not repeat the count. */
export async function countPages(list: {
  rows: readonly unknown[];
  query: { cursor?: unknown; limit: number };
  count: () => Promise<number>;
  header: (name: string, value: string) => void;
}): Promise<void> {
  const { rows, query } = list;
  if (query.cursor !== undefined) return;
  list.header(TOTAL_HEADER, String(rows.length < query.limit ? rows.length : await list.count()));
}

/** Sets the `Link` header (RFC 8288) to the page after `rows`, if the page is full, and returns the rows. Links are relative, so they work behind any proxy. */
export function nextPage<Row extends { id: string }>(
  call: { query: { limit: number }; request: { url: string }; header: (name: string, value: string) => void },
  rows: Row[],
): Row[] {
  const { limit } = call.query;
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return rows;
  const [path = '', search = ''] = call.request.url.split('?', 2);
  // Keep the filters.
  const query = new URLSearchParams(search);
  for (const name of ['limit', 'cursor']) query.delete(name);
  query.set('limit', String(limit));
  query.set('cursor', last.id);
  call.header('link', `<${path}?${query}>; rel="next"`);
  return rows;
}
