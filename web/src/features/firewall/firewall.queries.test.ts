import { listRules } from '@palisade/contract/firewall';
import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { ruleOf } from './fake-rules.ts';
import { allRulesQuery, firstRulesQuery } from './firewall.queries.ts';
import { answerRules, begin, server } from './open-firewall.tsx';

it('reads thirty rules first, then all of them in pages of 500, with the objects of the first', async () => {
  begin();
  const rules = Array.from({ length: 1_000 }, (_, index) => ruleOf({ rule_name: `Rule ${index}` }));
  answerRules(rules);
  const queries = new QueryClient();
  const first = await queries.fetchQuery(firstRulesQuery);
  expect(first).toEqual({ rules: rules.slice(0, 30), total: 1_000 });
  const all = await queries.fetchQuery(allRulesQuery);
  expect(all).toEqual(rules);
  expect(all[0]).toBe(first.rules[0]);
  expect(server.callsOf(listRules)).toHaveLength(3);
});
