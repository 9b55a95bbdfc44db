import { conflictsOf } from '@palisade/contract/firewall-advice';
import { findings } from '@palisade/contract/firewall-verdict';
import { expect, it } from 'vitest';
import { ruleOf } from './fake-rules.ts';
import { describeDecider } from './rule-words.ts';

const all = { port: '*' };
const one = { port: '3389', source_ip: '192.168.1.20' };

it.each([
  ['an allow under a wider block', { ...all, action: 'block' }, one, 'Blocked by “{rule}”.'],
  ['an allow that is blocked exactly', { ...one, action: 'block' }, one, 'Blocked by “{rule}”.'],
  ['an allow under a wider allow', all, one, 'Already allowed by “{rule}”.'],
  ['a second block', { ...one, action: 'block' }, { ...one, action: 'block' }, 'Already blocked by “{rule}”.'],
] as const)('of %s the deciding rule is named', (_, kept, needless, text) => {
  const rules = [ruleOf(kept), ruleOf(needless)] as const;
  expect(conflictsOf(rules, findings(rules))).toMatchObject([{ needless_id: rules[1].id, kept_id: rules[0].id }]);
  expect(describeDecider(rules[1], rules[0])).toBe(text);
});
