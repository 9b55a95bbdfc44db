import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { inBatches } from './batches.ts';

const SPANS_AT_ONCE = 10;
/** Sorts after every ISO time. */
const NEVER = '9999';

/**
 * Counts the rows of a table in each span of time. `starts` are ISO times, oldest first: a span ends where the next one starts, the last one at `end` if there is one.
 * Needs an index that begins with `column`.
 */
export async function countBySpan(
  database: QueryExecutorProvider,
  { table, column, where = sql`true` }: { table: string; column: string; where?: RawBuilder<unknown> },
  starts: readonly string[],
  end = NEVER,
): Promise<number[]> {
  const spans = starts.map((start, place) => sql`(${start}, ${starts[place + 1] ?? end})`);
  return await inBatches(
    spans,
    async (some) => {
      const { rows } = await sql<{ count: number }>`
        with spans (begins, ends) as (values ${sql.join(some)})
        select (
          select count(*) from ${sql.table(table)}
          where ${sql.ref(column)} >= spans.begins and ${sql.ref(column)} < spans.ends and ${where}
        ) as count
        from spans order by begins`.execute(database);
      return rows.map(({ count }) => Number(count));
    },
    SPANS_AT_ONCE,
  );
}

/** The index of the span that contains a time; undefined for a time before the first span. Arguments are ISO times. */
export function spanAt(starts: readonly string[], at: string): number | undefined {
  const place = starts.findLastIndex((start) => start <= at);
  return place < 0 ? undefined : place;
}
