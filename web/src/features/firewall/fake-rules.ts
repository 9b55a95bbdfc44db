import { RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';

/** Records for tests. A test sets the fields that it is about. */

let lastId = 0;

/** A rule with a newer id than all earlier ones. */
export function ruleOf(parts: Partial<Rule> = {}): Rule {
  lastId += 1;
  return {
    id: `01930000-0000-7000-9000-${String(lastId).padStart(12, '0')}`,
    rule_name: 'Web server',
    ...RULE_DEFAULTS,
    enabled: true,
    created_at: '2026-11-20T10:00:00.000Z',
    expires_at: null,
    device_ids: [],
    ...parts,
  };
}
