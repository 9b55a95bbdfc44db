import { listRules, RULES_MAXIMUM, type Rule } from '@palisade/contract/firewall';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** All rules of the person, newest first: one page holds as many as one may have. */
export const rulesQuery = queryOptions({
  queryKey: ['firewall', 'rules'],
  queryFn: ({ signal }) => call(listRules, { query: { limit: RULES_MAXIMUM }, signal }),
});

/** Changes the list that the screen reads, after the server has done the same. */
export async function updateRules(queries: QueryClient, change: (rules: Rule[]) => Rule[]): Promise<void> {
  const wasReading = queries.isFetching({ queryKey: rulesQuery.queryKey }) > 0;
  // A list that was asked for before the change must not overwrite it.
  await queries.cancelQueries({ queryKey: rulesQuery.queryKey });
  queries.setQueryData(rulesQuery.queryKey, (rules) => rules && change(rules));
  if (wasReading || queries.getQueryData(rulesQuery.queryKey) === undefined) {
    await queries.invalidateQueries({ queryKey: rulesQuery.queryKey });
  }
}
