import type { Action, Direction } from './firewall.ts';
import {
  byAge,
  type DecidingRule,
  FAMILIES,
  isCovered,
  type JudgedRule,
  PORT_BITS,
  PORT_SIDE,
  reachesAny,
  reachOf,
  type Shape,
  shapesOf,
} from './firewall-shapes.ts';
import type { Ruleset, Traffic } from './firewall-traffic.ts';
import { createJudge, type Decision } from './firewall-verdict.ts';
import { formatList } from './intl.ts';

/**
 * Contradictions among rules and a device's defaults. Unlike `findings`, which compares two rules at a time, this checks whether several other rules
 * together cover a rule's traffic.
 *
 * - `duplicate`: an older rule is identical.
 * - `redundant`: other rules with the same action cover all of its traffic. All redundant rules can be deleted together.
 * - `dead`: an allow whose traffic is blocked completely.
 * - `overlap`: an allow whose traffic is blocked in part.
 * - `no_effect`: the direction's default has the same result.
 * - `lockout`: it blocks everyone from a remote-access service.
 */
export type OddityKind = 'duplicate' | 'redundant' | 'dead' | 'overlap' | 'no_effect' | 'lockout';

export interface Oddity {
  kind: OddityKind;
  rule_id: string;
  /** Rules that cause the finding, the oldest first; only the first few of many. */
  other_ids: readonly string[];
  reason: string;
}

const OTHERS_NAMED = 5;
/** Maximum number of pieces of one rule's remaining traffic, and of steps of an analysis; beyond them a rule counts as not covered. */
const PIECES_MAXIMUM = 400;
const STEPS_MAXIMUM = 250_000;

/** Remote-access services by TCP port. */
export const REMOTE_ACCESS: readonly { port: number; name: string }[] = [
  { port: 22, name: 'SSH' },
  { port: 3389, name: 'Remote Desktop' },
  { port: 5900, name: 'screen sharing (VNC)' },
];

/** Sorted pairs of ranks: start (included) and end (excluded). */
type Ranks = ArrayLike<number>;
/** A set of packets: every combination of a source, a destination and a port. */
type Brick = readonly [Ranks, Ranks, Ranks];

const ONE: Ranks = [0, 1];

function common(a: Ranks, b: Ranks): number[] {
  const result: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const from = Math.max(a[i] ?? 0, b[j] ?? 0);
    const to = Math.min(a[i + 1] ?? 0, b[j + 1] ?? 0);
    if (from < to) result.push(from, to);
    if ((a[i + 1] ?? 0) < (b[j + 1] ?? 0)) i += 2;
    else j += 2;
  }
  return result;
}

function without(a: Ranks, b: Ranks): number[] {
  const result: number[] = [];
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    let from = a[i] ?? 0;
    const to = a[i + 1] ?? 0;
    while (j > 0 && (b[j - 1] ?? 0) > from) j -= 2;
    while (j < b.length && (b[j + 1] ?? 0) <= from) j += 2;
    while (j < b.length && (b[j] ?? 0) < to) {
      if ((b[j] ?? 0) > from) result.push(from, b[j] ?? 0);
      from = Math.max(from, b[j + 1] ?? 0);
      j += 2;
    }
    if (from < to) result.push(from, to);
  }
  return result;
}

/** Whether two lists overlap. */
function touches(a: Ranks | undefined, b: Ranks | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if ((a[i + 1] ?? 0) <= (b[j] ?? 0)) i += 2;
    else if ((b[j + 1] ?? 0) <= (a[i] ?? 0)) j += 2;
    else return true;
  }
  return false;
}

const isTouching = (a: Brick, b: Brick) => touches(a[0], b[0]) && touches(a[1], b[1]) && touches(a[2], b[2]);

/** The part of `a` outside `b`: at most three bricks. */
function subtract(a: Brick, b: Brick): readonly Brick[] {
  if (!isTouching(a, b)) return [a];
  const sources = common(a[0], b[0]);
  const destinations = common(a[1], b[1]);
  const pieces: Brick[] = [
    [without(a[0], b[0]), a[1], a[2]],
    [sources, without(a[1], b[1]), a[2]],
    [sources, destinations, without(a[2], b[2])],
  ];
  return pieces.filter((piece) => piece.every((side) => side.length > 0));
}

/** A rule's brick for one family and protocol; undefined if the rule does not match them. */
function brickOf(shape: Shape, plane: { family: 4 | 6; bit: number }): Brick | undefined {
  if ((shape.protocols & plane.bit) === 0) return undefined;
  const at = plane.family === 4 ? 0 : 2;
  const [sources, destinations, ports] = [shape.spans[at], shape.spans[at + 1], shape.spans[PORT_SIDE]];
  if (!sources?.length || !destinations?.length || ports === undefined) return undefined;
  return [sources, destinations, (plane.bit & PORT_BITS) === 0 ? ONE : ports];
}

const PLANES = FAMILIES.flatMap((family) => [1, 2, 4, 8].map((bit) => ({ family, bit })));

/** A rule with its bricks, one for each family and protocol that it matches. */
interface Walls<R extends JudgedRule> {
  shape: Shape<R>;
  rule: R;
  bricks: readonly (Brick | undefined)[];
  /** First and last source address of IPv4 and IPv6. Comparing them is enough to tell most pairs of rules apart. */
  least4: number;
  most4: number;
  least6: number;
  most6: number;
}

function wallsOf<R extends JudgedRule>(shape: Shape<R>): Walls<R> {
  const [sources4, , sources6] = shape.spans;
  return {
    ...{ shape, rule: shape.rule, bricks: PLANES.map((plane) => brickOf(shape, plane)) },
    ...{ least4: sources4?.[0] ?? 0, most4: sources4?.at(-1) ?? 0, least6: sources6?.[0] ?? 0, most6: sources6?.at(-1) ?? 0 },
  };
}

/** Whether a packet exists that both rules match. */
function isMeeting(one: Walls<JudgedRule>, other: Walls<JudgedRule>): boolean {
  if ((one.most4 <= other.least4 || other.most4 <= one.least4) && (one.most6 <= other.least6 || other.most6 <= one.least6))
    return false;
  const { shape: a } = one;
  const { shape: b } = other;
  const protocols = a.protocols & b.protocols;
  if (protocols === 0) return false;
  // Protocols without ports overlap whatever the ports are.
  if ((protocols & ~PORT_BITS) === 0 && !touches(a.spans[PORT_SIDE], b.spans[PORT_SIDE])) return false;
  return (
    (touches(a.spans[0], b.spans[0]) && touches(a.spans[1], b.spans[1])) ||
    (touches(a.spans[2], b.spans[2]) && touches(a.spans[3], b.spans[3]))
  );
}

/** Remaining steps of an analysis. */
interface Budget {
  steps: number;
}

/** Whether other rules together cover a rule. */
function isCoveredBy(walls: Walls<JudgedRule>, others: readonly Walls<JudgedRule>[], budget: Budget): boolean {
  if (others.some((other) => isCovered(walls.shape, other.shape))) return true;
  return walls.bricks.every((brick, plane) => {
    if (brick === undefined) return true;
    let left: Brick[] = [brick];
    for (const other of others) {
      const covering = other.bricks[plane];
      if (covering === undefined) continue;
      budget.steps -= left.length;
      if (budget.steps < 0) return false;
      left = left.flatMap((piece) => subtract(piece, covering));
      if (left.length === 0) return true;
      if (left.length > PIECES_MAXIMUM) return false;
    }
    return false;
  });
}

const keyOf = ({ protocols, spans }: Shape) => `${protocols} ${spans.map((side) => side.join()).join(' ')}`;

const REASONS = {
  duplicate: 'An older rule does the same. You need only one.',
  redundant_one: 'Another rule does the same for all of this traffic and more, so this rule has no effect.',
  redundant: 'Other rules together do the same for all of this traffic, so this rule has no effect.',
  dead_one: 'Another rule blocks all of this traffic. Blocks always win, so this rule has no effect.',
  dead: 'Other rules together block all of this traffic. Blocks always win, so this rule has no effect.',
  overlap: 'Another rule blocks part of this traffic. Blocks always win.',
  no_effect_allow: 'Traffic without a matching rule is allowed anyway, so this rule has no effect.',
  no_effect_block: 'Traffic without a matching rule is blocked anyway, so this rule has no effect.',
} as const;

/** Analyses the enabled rules of one device, in the order of `rules`. */
export function analyse<R extends JudgedRule>(rules: readonly R[], defaults: Record<Direction, Action>): Oddity[] {
  const found = new Map<string, Oddity[]>();
  const budget: Budget = { steps: STEPS_MAXIMUM };
  const all = shapesOf(rules.map(reachOf).filter(reachesAny)).map(wallsOf);

  function note(rule: R, kind: OddityKind, others: readonly Walls<R>[], reason: string): void {
    const other_ids = others.toSorted(byAge).map((other) => other.rule.id);
    found.set(rule.id, [
      ...(found.get(rule.id) ?? []),
      { kind, rule_id: rule.id, other_ids: other_ids.slice(0, OTHERS_NAMED), reason },
    ]);
  }

  /** Reports newer duplicates and returns the other rules. */
  function distinct(some: readonly Walls<R>[]): Walls<R>[] {
    const first = new Map<string, Walls<R>>();
    return some.toSorted(byAge).filter((walls) => {
      const key = keyOf(walls.shape);
      const older = first.get(key);
      if (older === undefined) first.set(key, walls);
      else note(walls.rule, 'duplicate', [older], REASONS.duplicate);
      return older === undefined;
    });
  }

  /** Reports rules that others cover, the newest first, and returns the rest. All reported rules can be deleted together. */
  function needed(some: readonly Walls<R>[], always: readonly Walls<R>[]): Walls<R>[] {
    let kept = [...some];
    for (const walls of some.toSorted((a, b) => byAge(b, a))) {
      const meets = (other: Walls<R>) => other !== walls && isMeeting(walls, other);
      const others = [...always.filter(meets), ...kept.filter(meets)];
      if (!isCoveredBy(walls, others, budget)) continue;
      const one = others.find((other) => isCovered(walls.shape, other.shape));
      note(walls.rule, 'redundant', one ? [one] : others, one ? REASONS.redundant_one : REASONS.redundant);
      kept = kept.filter((other) => other !== walls);
    }
    return kept;
  }

  for (const direction of ['inbound', 'outbound'] as const) {
    const of = (action: Action) => all.filter(({ rule }) => rule.direction === direction && rule.action === action);
    const blocks = needed(distinct(of('block')), []);
    const alive = distinct(of('allow')).filter((walls) => {
      const meeting = blocks.filter((block) => isMeeting(walls, block));
      if (meeting.length === 0 || !isCoveredBy(walls, meeting, budget)) return true;
      const one = meeting.find((block) => isCovered(walls.shape, block.shape));
      note(walls.rule, 'dead', one ? [one] : meeting, one ? REASONS.dead_one : REASONS.dead);
      return false;
    });
    const allows = needed(alive, blocks);
    for (const walls of allows) {
      const meeting = blocks.filter((block) => isMeeting(walls, block));
      if (meeting.length > 0) note(walls.rule, 'overlap', meeting, REASONS.overlap);
      if (defaults[direction] === 'allow') note(walls.rule, 'no_effect', [], REASONS.no_effect_allow);
    }
    if (defaults[direction] === 'block') {
      for (const walls of blocks) {
        if (!allows.some((allow) => isMeeting(walls, allow))) note(walls.rule, 'no_effect', [], REASONS.no_effect_block);
      }
    }
    if (direction === 'inbound') {
      for (const { rule } of blocks) {
        const closed = REMOTE_ACCESS.filter(({ port }) => closesPort(rule, port));
        if (closed.length > 0) {
          const names = formatList(
            closed.map(({ name, port }) => `${name} (port ${port})`),
            'plain',
          );
          note(rule, 'lockout', [], `This rule blocks everyone from ${names}. You can’t sign in to this computer that way.`);
        }
      }
    }
  }
  return rules.flatMap(({ id }) => found.get(id) ?? []);
}

/** Whether a rule matches a TCP port, from every address of a family to every address of this computer. */
function closesPort(rule: JudgedRule, port: number): boolean {
  const reach = reachOf(rule);
  return (
    reach.protocols.includes('tcp') &&
    (reach.ports === null || reach.ports.some(({ from, to }) => from <= BigInt(port) && BigInt(port) <= to)) &&
    FAMILIES.some((family) =>
      [reach.sources, reach.destinations].every((side) => side[family].length === 1 && isWhole(side[family][0], family)),
    )
  );
}

function isWhole(span: { from: bigint; to: bigint } | undefined, family: 4 | 6): boolean {
  return span !== undefined && span.from === 0n && span.to === (1n << (family === 4 ? 32n : 128n)) - 1n;
}

/** The open connections that a ruleset would close, each with the rule that decides. */
export function cutConnections<R extends DecidingRule, C extends Traffic>(
  ruleset: Ruleset<R>,
  connections: readonly C[],
): { connection: C; decision: Decision<R> }[] {
  const judge = createJudge(ruleset);
  return connections
    .map((connection) => ({ connection, decision: judge({ ...connection, is_established: false }) }))
    .filter(({ decision }) => decision.action === 'block');
}
