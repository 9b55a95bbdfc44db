import { RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';

/** Records for tests; what a test is about, it states itself. */

let lastId = 0;

/** A rule that is newer than those made before it. */
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
