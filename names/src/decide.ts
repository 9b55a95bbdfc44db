import type { NameHashes, NameSet } from './name-list.ts';

/** Sources of rules in order of precedence: the first level with a rule for a name decides. */
export type Level = 'dangerous' | 'guardian' | 'person' | 'provider' | 'lists';

export interface LevelRules {
  level: Level;
  allowed?: NameSet;
  blocked: readonly { category: string; names: NameSet }[];
}

/** The rules of one device. */
export interface Policy {
  /** In order of precedence. */
  levels: readonly LevelRules[];
  safe_search: 'off' | 'moderate' | 'strict';
  /** Maximum seconds for which the device may cache an answer. */
  seconds_maximum: number;
}

/** A decision about a name. `depth` is the suffix of the name that the rule matches; 0 is the last label alone. */
export type Decision =
  | { kind: 'allowed'; level: Level; depth: number }
  | { kind: 'refused'; level: Level; category: string; depth: number };

/** The decision of one level by the longest suffix of the name with a rule. For the same suffix, allow takes precedence over block. */
function decideLevel({ level, allowed, blocked }: LevelRules, hashes: NameHashes): Decision | undefined {
  for (let depth = hashes.depth - 1; depth >= 0; depth--) {
    if (allowed?.has(hashes, depth)) return { kind: 'allowed', level, depth };
    const block = blocked.find(({ names }) => names.has(hashes, depth));
    if (block !== undefined) return { kind: 'refused', level, category: block.category, depth };
  }
  return undefined;
}

/** Whether the provider has marked a name as not dangerous. */
export function isCleared({ levels }: Policy, hashes: NameHashes): boolean {
  return levels.some((rules) => rules.level === 'dangerous' && decideLevel(rules, hashes)?.kind === 'allowed');
}

export function withoutDanger(policy: Policy): Policy {
  return { ...policy, levels: policy.levels.filter(({ level }) => level !== 'dangerous') };
}

/** Decides about a name. With `above`, only levels before that one count: an allowed name's CNAME targets are allowed at the same level and below. */
export function decide({ levels }: Policy, hashes: NameHashes, above?: Level): Decision | undefined {
  for (const rules of levels) {
    if (rules.level === above) return undefined;
    const decision = decideLevel(rules, hashes);
    // A name that is marked as not dangerous may still be refused by a later level.
    if (decision !== undefined && !(decision.kind === 'allowed' && decision.level === 'dangerous')) return decision;
  }
  return undefined;
}
