import { carvedById } from '#scanner/formats/index.ts';
import { openSource } from '#scanner/reading/content.ts';
import type { Finding, MatchRules } from '#scanner/walk/examination.ts';
import type { Help } from '#scanner/walk/help.ts';
import { findingOf } from '#scanner/walk/match-content.ts';
import type { EngineMessage, FindingMessage, RangeMessage } from './messages.ts';

// An engine process lets idle processes match for it. Questions pass through the server, which knows the idle ones; the bytes are in a file, and messages name only ranges.

/** Time after a refusal without further questions, in ms. */
const REFUSED_MS = 50;

/** Sends questions and receives their answers. */
export interface HelpDesk extends Help {
  onGranted(call: number): void;
  onHelped(call: number, findings: FindingMessage[] | null): void;
}

export function createHelp(say: (message: EngineMessage) => void, now = () => performance.now()): HelpDesk {
  const open = new Map<
    number,
    { grant: (granted: boolean) => void; answer: (findings: Finding[] | undefined) => void; ranges: number }
  >();
  let calls = 0;
  let refused_at = Number.NEGATIVE_INFINITY;
  return {
    isLikely: () => now() - refused_at > REFUSED_MS,
    isBusy: () => open.size > 0,
    ask(path, ranges) {
      calls += 1;
      const call = calls;
      const granted = Promise.withResolvers<boolean>();
      const findings = Promise.withResolvers<Finding[] | undefined>();
      open.set(call, { grant: granted.resolve, answer: findings.resolve, ranges: ranges.length });
      say({ kind: 'asks', call, path, ranges: [...ranges] });
      return { granted: granted.promise, findings: findings.promise };
    },
    onGranted: (call) => open.get(call)?.grant(true),
    onHelped(call, findings) {
      const asked = open.get(call);
      open.delete(call);
      if (findings === null) refused_at = now();
      asked?.grant(findings !== null);
      asked?.answer(findings?.length === asked.ranges ? findings.map(fromMessage) : undefined);
    },
  };
}

function fromMessage({ matches, places }: FindingMessage): Finding {
  return {
    matches,
    places: places.flatMap(({ carved: id, offsets, is_cut }) => {
      const carved = carvedById(id);
      return carved === undefined ? [] : [{ carved, offsets, is_cut }];
    }),
  };
}

/** Matches the rules against ranges of a file. Null if the ranges no longer exist. */
export function matchRanges(match: MatchRules, path: string, ranges: readonly RangeMessage[]): FindingMessage[] | null {
  try {
    return ranges.map(({ from, length, is_within, path: name }) => {
      using source = openSource({ path, from, size: length });
      const bytes = source.read(0, length);
      if (bytes.length < length) throw new Error('The file became shorter while it was read.');
      const { matches, places } = findingOf(match, bytes, is_within, name);
      return { matches, places: places.map(({ carved, ...place }) => ({ ...place, carved: carved.id })) };
    });
  } catch {
    return null;
  }
}
