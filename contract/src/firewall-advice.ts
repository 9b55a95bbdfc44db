import type { NewRule, Rule } from './firewall.ts';
import { type Span, wholeFamily } from './firewall-grammar.ts';
import { FAMILIES, type JudgedRule, reachOf, refusalOf } from './firewall-shapes.ts';
import type { Finding } from './firewall-verdict.ts';

/** A suggestion to delete a rule without effect. `kept_id` is the rule that makes it so; null if its own addresses do. Deleting it changes no decision. */
export interface Conflict extends Pick<Finding, 'kind' | 'reason'> {
  kept_id: string | null;
  needless_id: string;
}

/**
 * Suggests to delete each unnecessary rule in `found`, the findings of `rules`. All of them can be deleted together: the rule that
 * makes another one unnecessary covers it and is wider, older or a block, so each chain keeps one rule.
 */
export function conflictsOf(rules: readonly Rule[], found: readonly Finding[]): Conflict[] {
  const actions = new Map(rules.map(({ id, action }) => [id, action]));
  const conflicts = new Map<string, Conflict>();
  for (const { kind, rule_id, other_id, reason } of found) {
    // A contradiction is reported for both rules; the block is the one that decides.
    const isDeciding = kind === 'contradicting' && actions.get(rule_id) === 'block';
    if (isDeciding || conflicts.has(rule_id)) continue;
    conflicts.set(rule_id, { kind, reason, kept_id: other_id, needless_id: rule_id });
  }
  return [...conflicts.values()];
}

const LAST_PORT = 65_535n;
const isFull = (spans: readonly Span[], from: bigint, to: bigint) => spans.some((span) => span.from <= from && to <= span.to);

/** Whether a rule allows all TCP or all UDP traffic of a direction, from every address of a family on every port. */
export function allowsEverything(terms: Omit<JudgedRule, 'id'> | NewRule): boolean {
  if (terms.action !== 'allow' || refusalOf(terms) !== undefined) return false;
  const { protocols, sources, destinations, ports } = reachOf({ ...terms, id: '' });
  if (!protocols.includes('tcp') && !protocols.includes('udp')) return false;
  if (ports !== null && !isFull(ports, 1n, LAST_PORT)) return false;
  return FAMILIES.some((family) => {
    const { from, to } = wholeFamily(family);
    return isFull(sources[family], from, to) && isFull(destinations[family], from, to);
  });
}
