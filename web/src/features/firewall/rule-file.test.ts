import type { NewRule } from '@palisade/contract/firewall';
import { expect, it } from 'vitest';
import { readRuleFile } from './rule-file.ts';

const RULE: NewRule & { enabled: boolean } = {
  rule_name: 'From a file',
  direction: 'inbound',
  action: 'block',
  protocol: 'tcp',
  source_ip: '*',
  destination_ip: '*',
  port: '22',
  enabled: true,
};
const fileOf = (text: string) => new File([text], 'rules.json', { type: 'application/json' });

it('a file of rules is read', async () => {
  const file = { palisade_rules: 1 as const, rules: [RULE] };
  expect(await readRuleFile(fileOf(JSON.stringify(file)))).toEqual({ ok: true, file });
});

it.each([
  ['no JSON', '{', ['This isn’t a JSON file. Choose a file exported from Palisade.']],
  ['another kind', '[]', ['This isn’t a Palisade rules file. Choose a file exported from Palisade.']],
  ['another JSON', '{"a":1}', ['This isn’t a Palisade rules file. Choose a file exported from Palisade.']],
  ['no list', '{"palisade_rules":1,"rules":{}}', ['This isn’t a Palisade rules file. Choose a file exported from Palisade.']],
  ['no rule', '{"palisade_rules":1,"rules":[]}', ['This file has no rules.']],
  [
    'a bad port',
    JSON.stringify({ palisade_rules: 1, rules: [RULE, { ...RULE, port: '0' }] }),
    ['Rule 2, port: A port is a whole number from 1 to 65535: 0'],
  ],
])('a file with %s is refused with a sentence', async (_, text, messages) => {
  expect(await readRuleFile(fileOf(text))).toEqual({ ok: false, messages });
});

it('five sentences about a file are shown, and how many more there are', async () => {
  const rules = Array.from({ length: 7 }, () => ({ ...RULE, port: '0' }));
  const reading = await readRuleFile(fileOf(JSON.stringify({ palisade_rules: 1, rules })));
  expect(reading).toMatchObject({ ok: false, messages: { length: 6, 5: 'And 2 more.' } });
});
