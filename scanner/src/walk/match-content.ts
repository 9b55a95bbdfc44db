import { createHash } from 'node:crypto';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { StatusDetail } from '@palisade/contract/antivirus';
import { type ScanPhrase, scanPhrase } from '@palisade/contract/scan-phrases';
import { type Content, openSource, windowPlaces, windowsOf } from '#scanner/reading/content.ts';
import type { ReadContext } from '#scanner/reading/member.ts';
import { withoutMark } from '#scanner/text/text-encoding.ts';
import type { Places } from './carving.ts';
import type { Examination, Finding, Match, Matchers, MatchRules } from './examination.ts';
import type { Help } from './help.ts';

// Matches one content with the rules and records the findings.

/** Whole-file conditions (`filesize`, `pe`) hold for content up to this size; larger content is matched in overlapping windows. Bytes. */
const WINDOWS = { whole: 64 * 1024 ** 2, window: 16 * 1024 ** 2, overlap: 256 * 1024 } as const;

const HASH_BYTES = 1024 ** 2;

const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;

const NOTES_MAXIMUM = 20;

export interface Walk extends Matchers {
  /** Reports progress. Called at each step, so very often. */
  report: () => void;
  /** Share of the file itself that has been matched, from 0 to 1. */
  share: number;
  context: ReadContext;
  /** The uploaded file's name: gzip names its one member after it. */
  name: string;
  /** SHA-256 of the uploaded file, in hex, if it is known already. */
  sha256: string | undefined;
  found: Examination;
  worst: number;
  /** Access to idle engine processes; undefined if there can be none. */
  help: Help | undefined;
}

export function note(walk: Walk, member: string | null, phrase: ScanPhrase): void {
  const { notes } = walk.found;
  const isSame = (known: (typeof notes)[number]) =>
    JSON.stringify([known.member, known.phrase]) === JSON.stringify([member, phrase]);
  if (notes.length < NOTES_MAXIMUM && !notes.some(isSame)) notes.push({ member, phrase });
}

export function unread(walk: Walk, detail: StatusDetail): void {
  if (!walk.found.unread.includes(detail)) walk.found.unread.push(detail);
}

/** Reads the content separately, because the windows for rules overlap. */
function sha256Of(walk: Walk, content: Content): string {
  const hash = createHash('sha256');
  using source = openSource(content);
  const buffer = Buffer.allocUnsafe(Math.min(content.size, HASH_BYTES));
  for (let position = 0; position < content.size; ) {
    walk.context.budget.checkTime();
    const filled = source.fill(buffer, position);
    if (filled === 0) throw new Error('The file became shorter while it was read.');
    hash.update(buffer.subarray(0, filled));
    position += filled;
  }
  return hash.digest('hex');
}

/** Path of a content, for rules that test it; undefined if none does. */
export function pathOf(walk: Walk, trail: readonly string[]): string | undefined {
  return walk.asks_for_names === true ? [walk.name, ...trail].join('/') : undefined;
}

/** Matches a piece. `is_within`: it is not the first of its content. `path`: path of the content, for rules that test it. */
export function findingOf(match: MatchRules, piece: Buffer, is_within: boolean, path: string | undefined): Finding {
  const text = is_within ? piece : withoutMark(piece);
  const skipped = piece.length - text.length;
  const places: Finding['places'] = [];
  const onPlaces: Parameters<MatchRules>[1] = (carved, offsets, is_cut) => {
    places.push({ carved, offsets: offsets.map((offset) => skipped + offset), is_cut });
  };
  return { matches: match(text, onPlaces, path, is_within), places };
}

function addPlaces(places: Places, finding: Finding, position: number): void {
  for (const { carved, offsets, is_cut } of finding.places) {
    const known = places.get(carved) ?? { offsets: new Set(), is_cut: false };
    places.set(carved, known);
    known.is_cut ||= is_cut;
    for (const offset of offsets) known.offsets.add(position + offset);
  }
}

/** Records matches: suspicious ones as notes, and the worst threat. */
export function keepMatches(walk: Walk, found_in: Iterable<Match[]>, trail: readonly string[]): void {
  for (const matches of found_in) {
    for (const found of matches) {
      const member = trail.length > 0 ? trail.join(' / ') : null;
      if (found.verdict === 'suspicious') {
        note(walk, member, scanPhrase('rule', { description: found.description }));
        continue;
      }
      const severity = SEVERITIES.indexOf(found.severity);
      // A file that an archive stores uncompressed matches in the archive, too: its own name is more exact.
      if (found.threat === walk.found.threat && walk.found.threat_member === null) walk.found.threat_member = member;
      if (severity > walk.worst) {
        walk.worst = severity;
        walk.found.threat = found.threat;
        walk.found.threat_member = member;
        walk.found.threat_facts = { description: found.description, severity: found.severity, reference: found.reference };
      }
    }
  }
}

/** A content whose bytes were already counted: an unclaimed range (`is_rest`) or another form (`is_view`) of the containing content. */
export interface Kind {
  is_rest?: boolean;
  is_view?: boolean;
}

/** Position of a window, and the rules' matches in it. */
interface Matched {
  finding: Finding;
  position: number;
}

const isUpload = (trail: readonly string[], { is_view = false }: Kind) => trail.length === 0 && !is_view;

/** Matches the windows of a content one after the other. */
function* matchAlone(walk: Walk, content: Content, trail: readonly string[], kind: Kind): Generator<Matched> {
  let bytes = 0;
  for (const { bytes: piece, position } of windowsOf(content, WINDOWS)) {
    walk.context.budget.checkTime();
    if (isUpload(trail, kind)) walk.share = Math.min(1, bytes / content.size);
    bytes += piece.length;
    walk.report();
    yield { finding: findingOf(walk.match, piece, position > 0, pathOf(walk, trail)), position };
  }
}

/** Records the rules' matches in all windows of a content, and matches of its hash unless a rule found a threat. */
function conclude(walk: Walk, content: Content, trail: readonly string[], kind: Kind, windows: Iterable<Matched>): Places {
  if (content.size > WINDOWS.whole) walk.found.coverage.whole_file_conditions = false;
  const places: Places = new Map();
  let is_known = false;
  for (const { finding, position } of windows) {
    addPlaces(places, finding, position);
    is_known ||= finding.matches.some(({ verdict }) => verdict === 'infected');
    keepMatches(walk, [finding.matches], trail);
  }
  if (walk.matchHash !== undefined && !is_known) {
    const sha256 = isUpload(trail, kind) && walk.sha256 !== undefined ? walk.sha256 : sha256Of(walk, content);
    keepMatches(walk, [walk.matchHash(sha256)], trail);
  }
  if (kind.is_rest !== true && kind.is_view !== true) walk.found.coverage.bytes_scanned += content.size;
  if (trail.length === 0) walk.share = 1;
  return places;
}

/** Matches a content, and returns the offsets at which containers seem to begin. */
export function matchContent(walk: Walk, content: Content, trail: readonly string[], kind: Kind = {}): Places {
  return conclude(walk, content, trail, kind, matchAlone(walk, content, trail, kind));
}

/**
 * Matches the windows of a large content together with another process, which starts from the first window while this one starts from the last. Undefined if no process is
 * free.
 */
async function matchTogether(
  walk: Walk,
  help: Help,
  content: Extract<Content, { path: string }>,
  trail: readonly string[],
  kind: Kind,
): Promise<Iterable<Matched> | undefined> {
  const { length, positions } = windowPlaces(content.size, WINDOWS);
  const path = pathOf(walk, trail);
  const { from = 0 } = content;
  const left = [...positions];
  const windows: Matched[] = [];
  const found = (position: number, finding: Finding) => {
    windows.push({ position, finding });
    if (isUpload(trail, kind)) walk.share = Math.min(1, windows.length / positions.length);
    walk.report();
  };
  const ask = (position: number) => {
    const range = { from: from + position, length, is_within: position > 0, ...(path === undefined ? {} : { path }) };
    return help.ask(content.path, [range]);
  };
  const first = left.shift() ?? 0;
  const begun = ask(first);
  if (!(await begun.granted)) return undefined;
  const matchThere = async (): Promise<void> => {
    let answer = begun.findings;
    for (let position: number | undefined = first; position !== undefined; position = left.shift()) {
      if (position !== first) answer = ask(position).findings;
      const [finding] = (await answer) ?? [];
      if (finding === undefined) {
        // The other process was needed elsewhere.
        left.unshift(position);
        return;
      }
      found(position, finding);
    }
  };
  const matchHere = async (): Promise<void> => {
    if (left.length === 0) return;
    using source = openSource(content);
    const buffer = Buffer.allocUnsafe(length);
    for (let position = left.pop(); position !== undefined; position = left.pop()) {
      walk.context.budget.checkTime();
      if (source.fill(buffer, position) < length) throw new Error('The file became shorter while it was read.');
      found(position, findingOf(walk.match, buffer, position > 0, path));
      await turnOfLoop();
    }
  };
  let error: unknown;
  const beside = matchThere();
  try {
    await matchHere();
    await beside;
    await matchHere();
  } catch (failure) {
    error = failure;
    left.length = 0;
    await beside;
  }
  function* inOrder(): Generator<Matched> {
    yield* windows.toSorted((a, b) => a.position - b.position);
    // Matches before the error count.
    if (error !== undefined) throw error;
  }
  return inOrder();
}

/**
 * Matches a content, with another process if one is free, and returns the offsets at which containers seem to begin. `asked`: another process's finding for the whole
 * content, if it was requested before. The findings, and their order, are the same as with one process.
 */
export async function matchWithHelp(
  walk: Walk,
  content: Content,
  trail: readonly string[],
  kind: Kind,
  asked: Promise<Finding | undefined> | undefined,
): Promise<Places> {
  const finding = await asked;
  if (finding !== undefined) {
    walk.context.budget.checkTime();
    return conclude(walk, content, trail, kind, [{ finding, position: 0 }]);
  }
  const is_large = 'path' in content && content.size > WINDOWS.whole;
  const together = is_large && walk.help?.isLikely() ? await matchTogether(walk, walk.help, content, trail, kind) : undefined;
  return conclude(walk, content, trail, kind, together ?? matchAlone(walk, content, trail, kind));
}
