import type { NameHashes, NameSet } from './name-list.ts';

/** Who decides, in this order: the first level that says anything about a name has the word. */
export type Level = 'dangerous' | 'guardian' | 'person' | 'provider' | 'lists';

export interface LevelRules {
  level: Level;
  allowed?: NameSet;
  blocked: readonly { category: string; names: NameSet }[];
}

/** The rules of one device. */
export interface Policy {
  /** In the order of `Level`. */
  levels: readonly LevelRules[];
  safe_search: 'off' | 'moderate' | 'strict';
  /** Seconds that the device may keep an answer for. */
  seconds_maximum: number;
}

/** `depth`: which ending of the name the rule has, 0 for the last label. */
export type Decision =
  | { kind: 'allowed'; level: Level; depth: number }
  | { kind: 'refused'; level: Level; category: string; depth: number };

/** The ending of a name that a level knows first, from the whole name to its last label. An allow wins over a block of the same ending. */
function decideLevel({ level, allowed, blocked }: LevelRules, hashes: NameHashes): Decision | undefined {
  for (let depth = hashes.depth - 1; depth >= 0; depth--) {
    if (allowed?.has(hashes, depth)) return { kind: 'allowed', level, depth };
    const block = blocked.find(({ names }) => names.has(hashes, depth));
    if (block !== undefined) return { kind: 'refused', level, category: block.category, depth };
  }
  return undefined;
}

/** True if the provider cleared a name of danger. */
export function isCleared({ levels }: Policy, hashes: NameHashes): boolean {
  return levels.some((rules) => rules.level === 'dangerous' && decideLevel(rules, hashes)?.kind === 'allowed');
}

export function withoutDanger(policy: Policy): Policy {
  return { ...policy, levels: policy.levels.filter(({ level }) => level !== 'dangerous') };
}

/** Decides about a name. With `above`, only levels before that one count: an allow also covers the names that an answer refers to (CNAME). */
export function decide({ levels }: Policy, hashes: NameHashes, above?: Level): Decision | undefined {
  for (const rules of levels) {
    if (rules.level === above) return undefined;
    const decision = decideLevel(rules, hashes);
    // A name that is cleared of danger may still be refused for another reason.
    if (decision !== undefined && !(decision.kind === 'allowed' && decision.level === 'dangerous')) return decision;
  }
  return undefined;
}
