import { expect, it } from 'vitest';
import { ruleOf } from './fake-rules.ts';
import { chosenOf, EVERY_RULE } from './rule-filters.tsx';

const OFFICE = ruleOf({ rule_name: 'office', port: '53', source_ip: '10.0.0.0/8' });
const GUEST = ruleOf({ rule_name: 'Guest', port: '3389', action: 'block', enabled: false });
const OUT = ruleOf({ rule_name: 'Away', direction: 'outbound', destination_ip: '198.51.100.7' });
const CONFLICTS = new Map([[GUEST.id, undefined]]);

it.each([
  ['nothing', {}, [OFFICE, GUEST, OUT]],
  ['the state on', { state: 'on' }, [OFFICE, OUT]],
  ['the state off', { state: 'off' }, [GUEST]],
  ['conflicts', { state: 'odd' }, [GUEST]],
  ['a direction', { direction: 'outbound' }, [OUT]],
  ['an action', { action: 'block' }, [GUEST]],
  ['a name in other case', { search: ' OFFICE ' }, [OFFICE]],
  ['a source', { search: '10.0.0' }, [OFFICE]],
  ['a destination', { search: '198.51' }, [OUT]],
  ['a port', { search: '3389' }, [GUEST]],
  ['the sentence', { search: 'remote desktop' }, [GUEST]],
  ['words that nothing has', { search: 'nothing like it' }, []],
  ['the oldest first', { sort: 'oldest' }, [OUT, GUEST, OFFICE]],
  ['names', { sort: 'name' }, [OUT, GUEST, OFFICE]],
] as const)('rules are chosen by %s', (_, choice, rules) => {
  expect(chosenOf([OFFICE, GUEST, OUT], CONFLICTS, { ...EVERY_RULE, ...choice })).toEqual(rules);
});
