import type { Action, Direction, Rule } from './firewall.ts';
import { reachOf } from './firewall-shapes.ts';
import { firstSteps } from './firewall-steps.ts';
import { CannotExpress, packetsOf, type Writer } from './firewall-writer.ts';
import { iptables, nftables, ufw } from './firewall-writers-linux.ts';
import { pf, powershell } from './firewall-writers-other.ts';

/** Firewalls for which rules can be exported. A computer without an agent loads the file by hand; rules that the firewall cannot express are listed. */
export const EXPORTS = ['nftables', 'iptables', 'ufw', 'powershell', 'pf'] as const;
export type Export = (typeof EXPORTS)[number];

interface Exported {
  file_name: string;
  text: string;
  /** Rules that were left out, with the reason. */
  left_out: { rule_name: string; reason: string }[];
}

const WRITERS: Record<Export, Writer> = { nftables, iptables, ufw, powershell, pf };
const DIRECTIONS: readonly Direction[] = ['inbound', 'outbound'];

/** By default, packets that match no rule are left to the firewall that loads the file. */
const LEFT_ALONE: Record<Direction, Action> = { inbound: 'allow', outbound: 'allow' };

/**
 * Writes rules in the language of another firewall: first the steps before all rules, then blocks, then allows, the oldest first, so that decisions are the same as here.
 * Left out are disabled and temporary rules, rules for some devices only, and rules that the firewall cannot express. Windows decides in the same
 * way: a block wins in any order.
 */
export function exportRules(rules: readonly Rule[], target: Export, defaults: Record<Direction, Action> = LEFT_ALONE): Exported {
  const writer = WRITERS[target];
  const left_out: Exported['left_out'] = [];
  const on = rules.filter(({ enabled }) => enabled).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ordered = [...on.filter(({ action }) => action === 'block'), ...on.filter(({ action }) => action === 'allow')];
  const written = ordered.flatMap((rule) => {
    try {
      if (rule.expires_at !== null) throw new CannotExpress('It’s temporary, and that firewall can’t end it.');
      if (rule.device_ids.length > 0) throw new CannotExpress('It applies only to some devices.');
      const { direction, action } = rule;
      const lines = packetsOf(rule).flatMap((match) => writer.entry({ direction, action, match, rule }));
      return [{ rule, lines: [...(target === 'powershell' ? [] : [writer.comment(rule.rule_name)]), ...new Set(lines)] }];
    } catch (error) {
      if (!(error instanceof CannotExpress)) throw error;
      left_out.push({ rule_name: rule.rule_name, reason: error.message });
      return [];
    }
  });
  const ruleset = { rules: written.map(({ rule }) => reachOf(rule)), defaults, block_list: [], control: [] };
  const linesOf = (direction: Direction) => [
    ...firstSteps(ruleset, direction).flatMap(({ action, match }) =>
      match.kind === 'packets' ? writer.entry({ direction, action, match, rule: null }) : writer.known(match.kind, direction),
    ),
    ...written.filter(({ rule }) => rule.direction === direction).flatMap(({ lines }) => lines),
  ];
  const [inbound = [], outbound = []] = DIRECTIONS.map(linesOf);
  const text = [
    ...writer.head,
    ...left_out.map(({ rule_name, reason }) => writer.comment(`Left out: ${rule_name}. ${reason}`).trim()),
    ...writer.begin(defaults),
    ...writer.file({ inbound, outbound }, defaults),
  ];
  return { file_name: writer.file_name, left_out, text: `${text.join('\n')}\n` };
}
