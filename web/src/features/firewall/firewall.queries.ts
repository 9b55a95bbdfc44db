import { listRevisions, listRules, type Rule } from '@palisade/contract/firewall';
import { type QueryClient, queryOptions, replaceEqualDeep } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { changeList } from '#api/change-list.ts';
import { devicesQuery } from '#domain/device/devices.ts';

/** Rules that the screen begins with: those that are drawn first. */
export const FIRST_RULES = 30;
/** Rules that one call answers at most. */
const RULES_PAGE = 500;

interface FirstRules {
  rules: Rule[];
  /** Of all rules of the person. */
  total: number;
}

/** The newest rules, and how many there are: all that the first look needs. */
export const firstRulesQuery = queryOptions({
  queryKey: ['firewall', 'first-rules'],
  queryFn: async ({ signal }): Promise<FirstRules> => {
    const { rows, total } = await callPage(listRules, { query: { limit: FIRST_RULES }, signal });
    return { rules: rows, total: total ?? rows.length };
  },
});

/** All rules of the person, newest first. Those that the screen began with are the same objects where nothing of them has changed: their rows are not drawn again. */
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

/** The latest changes of the rules, newest first. */
export const revisionsQuery = queryOptions({
  queryKey: ['firewall', 'revisions'],
  queryFn: ({ signal }) => call(listRevisions, { signal }),
  staleTime: 0,
});

/** Changes the lists that the screen reads, after the server has done the same. No device has the change before it is known to. */
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

/** Has everything of the rules read anew. */
export function readRulesAnew(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['firewall'] });
}
