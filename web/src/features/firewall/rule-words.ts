import type { Action, Direction, NewRule, Protocol, Revision, Rule } from '@palisade/contract/firewall';
import type { FindingKind } from '@palisade/contract/firewall-verdict';
import { formatNumber, plural } from '@palisade/contract/intl';

export const DIRECTIONS: Record<Direction, string> = { inbound: 'Inbound', outbound: 'Outbound' };
export const ACTIONS: Record<Action, string> = { allow: 'Allow', block: 'Block' };
export const PROTOCOLS: Record<Protocol, string> = { tcp: 'TCP', udp: 'UDP', icmp: 'ICMP', all: 'All' };
export const FINDINGS: Record<FindingKind, string> = {
  duplicate: 'Duplicate',
  contradicting: 'Contradiction',
  never_matching: 'No effect',
};

const DECIDED = {
  allow: { allow: 'Already allowed by “{rule}”.', block: 'Allowed by “{rule}”.' },
  block: { allow: 'Blocked by “{rule}”.', block: 'Already blocked by “{rule}”.' },
} as const satisfies Record<Action, Record<Action, string>>;

/** The rule that decides in place of one without an effect, as a text for `Sentence`. */
export function describeDecider(needless: Pick<Rule, 'action'>, kept: Pick<Rule, 'action'>) {
  return DECIDED[kept.action][needless.action];
}

/** The default of devices for traffic without a matching rule. */
export const DEFAULTS_SENTENCE = 'Without a matching rule: inbound blocked, outbound allowed.';

/** Source and port in one text; brackets separate an IPv6 address from the port. */
export function describeSource({ source_ip, port }: Pick<NewRule, 'source_ip' | 'port'>): string {
  return `${source_ip.includes(':') ? `[${source_ip}]` : source_ip}:${port}`;
}

/** Sentences of a change: of one rule by name, of one rule, and of several. */
interface ChangeWords {
  named: (name: string) => string;
  one: string;
  other: (count: string) => string;
}

const CHANGES: Record<Exclude<Revision['kind'], 'imported'>, ChangeWords> = {
  added: { named: (name) => `Added “${name}”`, one: 'Added 1 rule', other: (count) => `Added ${count} rules` },
  edited: { named: (name) => `Edited “${name}”`, one: 'Edited 1 rule', other: (count) => `Edited ${count} rules` },
  enabled: { named: (name) => `Enabled “${name}”`, one: 'Enabled 1 rule', other: (count) => `Enabled ${count} rules` },
  disabled: { named: (name) => `Disabled “${name}”`, one: 'Disabled 1 rule', other: (count) => `Disabled ${count} rules` },
  deleted: { named: (name) => `Deleted “${name}”`, one: 'Deleted 1 rule', other: (count) => `Deleted ${count} rules` },
  expired: {
    named: (name) => `“${name}” ended and was disabled`,
    one: '1 rule ended and was disabled',
    other: (count) => `${count} rules ended and were disabled`,
  },
  undone: {
    named: (name) => `Undid a change to “${name}”`,
    one: 'Undid a change to 1 rule',
    other: (count) => `Undid a change to ${count} rules`,
  },
};

function describeImport({ added, removed }: Pick<Revision, 'added' | 'removed'>): string {
  const figures = { added: formatNumber(added), removed: formatNumber(removed) };
  if (removed === 0) return plural(added, { one: 'Imported 1 rule', other: `Imported ${figures.added} rules` });
  return plural(added, {
    one: `Imported 1 rule, replacing ${figures.removed}`,
    other: `Imported ${figures.added} rules, replacing ${figures.removed}`,
  });
}

/** Description of a change: "Deleted “Printer”". */
export function describeRevision({ kind, rule_name, added, changed, removed }: Revision): string {
  if (kind === 'imported') return describeImport({ added, removed });
  const { named, one, other } = CHANGES[kind];
  if (rule_name !== null) return named(rule_name);
  const count = added + changed + removed;
  return plural(count, { one, other: other(formatNumber(count)) });
}
