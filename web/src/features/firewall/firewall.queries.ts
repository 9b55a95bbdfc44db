import { listRevisions, listRules, type Rule } from '@palisade/contract/firewall';
import { type QueryClient, queryOptions, replaceEqualDeep } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { changeList } from '#api/change-list.ts';
import { devicesQuery } from '#domain/device/devices.ts';

/** Number of rules in the first fetch; the screen shows them first. */
export const FIRST_RULES = 30;
/** Page size of the list of rules. */
const RULES_PAGE = 500;

interface FirstRules {
  rules: Rule[];
  /** Number of all rules of the person. */
  total: number;
}

/** The newest rules and the total, enough for the first render. */
export const firstRulesQuery = queryOptions({
  queryKey: ['firewall', 'first-rules'],
  queryFn: async ({ signal }): Promise<FirstRules> => {
    const { rows, total } = await callPage(listRules, { query: { limit: FIRST_RULES }, signal });
    return { rules: rows, total: total ?? rows.length };
  },
});

/** All rules of the person, newest first. Unchanged rules of the first fetch keep their object identity, so that their rows do not render again. */
export const allRulesQuery = queryOptions({
  queryKey: ['firewall', 'rules'],
  queryFn: async ({ client, signal }): Promise<Rule[]> => {
    const all: Rule[] = [];
    for (let cursor: string | undefined; ; ) {
      const { rows, next } = await callPage(listRules, {
        query: { limit: RULES_PAGE, ...(cursor !== undefined && { cursor }) },
        signal,
      });
      all.push(...rows);
      if (next === undefined) return replaceEqualDeep(client.getQueryData(firstRulesQuery.queryKey)?.rules, all);
      cursor = next;
    }
  },
});

export const revisionsQuery = queryOptions({
  queryKey: ['firewall', 'revisions'],
  queryFn: ({ signal }) => call(listRevisions, { signal }),
  staleTime: 0,
});

/** Changes the cached lists of rules after the server has made the change. Shows devices as pending until they report that they have applied it. */
export function updateRules(queries: QueryClient, change: (rules: Rule[]) => Rule[]): void {
  changeList(queries, allRulesQuery.queryKey, change);
  changeList(queries, firstRulesQuery.queryKey, (first) => {
    const rules = change(first.rules);
    return { rules, total: first.total + rules.length - first.rules.length };
  });
  changeList(queries, devicesQuery.queryKey, (devices) =>
    devices.map((device) =>
      device.enforcement.state === 'applied' ? { ...device, enforcement: { ...device.enforcement, state: 'pending' } } : device,
    ),
  );
  for (const { queryKey } of [revisionsQuery, devicesQuery]) void queries.invalidateQueries({ queryKey });
  if (!queries.getQueryData(firstRulesQuery.queryKey)) void queries.invalidateQueries({ queryKey: firstRulesQuery.queryKey });
}

/** Refetches all queries of the firewall. */
export function readRulesAnew(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['firewall'] });
}
