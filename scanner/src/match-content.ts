import { createHash } from 'node:crypto';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { StatusDetail } from '@palisade/contract/antivirus';
import type { Carved } from './carved-formats.ts';
import type { Places } from './carving.ts';
import { type Content, openSource, windowPlaces, windowsOf } from './content.ts';
import type { Examination, Match, Matchers, MatchRules } from './examine.ts';
import type { Help } from './help.ts';
import type { Workshop } from './member.ts';
import { withoutMark } from './text-encoding.ts';

// What the rules say of one content, and what of it is kept.

/** Whole-file conditions (`filesize`, `pe`) hold for content up to this size; larger content is matched in overlapping windows. Bytes. */
const WINDOWS = { whole: 64 * 1024 ** 2, window: 16 * 1024 ** 2, overlap: 256 * 1024 } as const;

const HASH_BYTES = 1024 ** 2;

const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;

const NOTES_MAXIMUM = 20;

export interface Walk extends Matchers {
  /** Called at each step, and there are many. */
  report: () => void;
  /** Of the file itself, from 0 to 1. */
  share: number;
  workshop: Workshop;
  /** The uploaded file's name: gzip names its one member after it. */
  name: string;
  /** Of the uploaded file, in hex, where it is known already. */
  sha256: string | undefined;
  found: Examination;
  worst: number;
  /** Engine processes that have nothing to read, where there may be any. */
  help: Help | undefined;
  /** Where each finding stands among all of them: what another process has matched comes late, and is kept as if it had come in its turn. */
  order: { next: number; threat: number; notes: number[] };
}

/** A place among the findings for what is found now, or will be. */
function turnOf(walk: Walk): number {
  walk.order.next += 1;
  return walk.order.next;
}

/** Keeps the first notes of all, each once. */
export function note(walk: Walk, member: string | null, sentence: string, turn = turnOf(walk)): void {
  const { notes } = walk.found;
  const turns = walk.order.notes;
  const known = notes.findIndex((other) => other.member === member && other.sentence === sentence);
  if (known >= 0) {
    if ((turns[known] ?? 0) <= turn) return;
    notes.splice(known, 1);
    turns.splice(known, 1);
  }
  const later = turns.findIndex((other) => other > turn);
  const place = later < 0 ? notes.length : later;
  notes.splice(place, 0, { member, sentence });
  turns.splice(place, 0, turn);
  if (notes.length > NOTES_MAXIMUM) {
    notes.pop();
    turns.pop();
  }
}

export function unread(walk: Walk, detail: StatusDetail): void {
  if (!walk.found.unread.includes(detail)) walk.found.unread.push(detail);
}

/** Read on its own: the windows for rules overlap. */
function sha256Of(walk: Walk, content: Content): string {
  const hash = createHash('sha256');
  const source = openSource(content);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(content.size, HASH_BYTES));
    for (let position = 0; position < content.size; ) {
      walk.workshop.budget.checkTime();
      const filled = source.fill(buffer, position);
      if (filled === 0) throw new Error('The file became shorter while it was read.');
      hash.update(buffer.subarray(0, filled));
      position += filled;
    }
  } finally {
    source.close();
  }
  return hash.digest('hex');
}

/** Where a content stands, for rules that ask for it. */
export function pathOf(walk: Walk, trail: readonly string[]): string | undefined {
  return walk.asks_for_names === true ? [walk.name, ...trail].join('/') : undefined;
}

/** What the rules say of a piece of a content: what matched, and where containers seem to begin in it. */
export interface Finding {
  matches: Match[];
  /** Offsets count from the piece's first byte. */
  places: { carved: Carved; offsets: number[]; is_cut: boolean }[];
}

/** Matches a piece. `is_within`: it is not the first of its content. `path`: where the content stands, for rules that ask for it. */
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

/** Keeps what matched: notes, and the worst threat; of two that are alike the one whose turn came first. */
function keep(walk: Walk, matches: readonly Match[], trail: readonly string[], turn: number): void {
  for (const found of matches) {
    const member = trail.length > 0 ? trail.join(' / ') : null;
    if (found.verdict === 'suspicious') {
      note(walk, member, found.description, turn);
      continue;
    }
    const severity = SEVERITIES.indexOf(found.severity);
    if (severity > walk.worst || (severity === walk.worst && turn < walk.order.threat)) {
      walk.worst = severity;
      walk.order.threat = turn;
      walk.found.threat = found.threat;
      walk.found.threat_member = member;
      walk.found.threat_facts = { description: found.description, severity: found.severity, reference: found.reference };
    }
  }
}

/** Keeps what matched. */
export function matchPieces(walk: Walk, pieces: Iterable<Match[]>, trail: readonly string[]): void {
  for (const matches of pieces) keep(walk, matches, trail, turnOf(walk));
}

/** A content that was read with what is around it, a rest or another form of it, is not counted again. */
export interface Kind {
  is_rest?: boolean;
  is_view?: boolean;
}

/** A content that is being matched. */
export interface Matching {
  /** Ends it, and keeps what was found. Answers where containers seem to begin in the content. Asked again, it answers the same. */
  end(): Promise<Places>;
}

/** What is known of a content before its first piece is matched. */
function announce(walk: Walk, content: Content, { is_rest = false, is_view = false }: Kind): void {
  if (content.size > WINDOWS.whole) walk.found.coverage.whole_file_conditions = false;
  if (!is_rest && !is_view) walk.found.coverage.bytes_scanned += content.size;
}

/** Keeps the findings of all pieces of a content, and what lists say of its hash where no rule knows it better. */
function conclude(
  walk: Walk,
  content: Content,
  trail: readonly string[],
  { is_view = false }: Kind,
  turn: number,
  findings: Iterable<{ finding: Finding; position: number }>,
): Places {
  const places: Places = new Map();
  const is_upload = trail.length === 0 && !is_view;
  let is_known = false;
  for (const { finding, position } of findings) {
    addPlaces(places, finding, position);
    is_known ||= finding.matches.some(({ verdict }) => verdict === 'infected');
    keep(walk, finding.matches, trail, turn);
  }
  if (walk.matchHash !== undefined && !is_known) {
    const sha256 = is_upload && walk.sha256 !== undefined ? walk.sha256 : sha256Of(walk, content);
    keep(walk, walk.matchHash(sha256), trail, turn);
  }
  if (trail.length === 0) walk.share = 1;
  return places;
}

/** Matches a content here and now, and answers where containers seem to begin in it. */
export function matchContent(walk: Walk, content: Content, trail: readonly string[], kind: Kind = {}): Places {
  announce(walk, content, kind);
  const is_upload = trail.length === 0 && kind.is_view !== true;
  const path = pathOf(walk, trail);
  const matched = function* (): Generator<{ finding: Finding; position: number }> {
    let bytes = 0;
    for (const { bytes: piece, position } of windowsOf(content, WINDOWS)) {
      walk.workshop.budget.checkTime();
      if (is_upload) walk.share = Math.min(1, bytes / content.size);
      bytes += piece.length;
      walk.report();
      yield { finding: findingOf(walk.match, piece, position > 0, path), position };
    }
  };
  return conclude(walk, content, trail, kind, turnOf(walk), matched());
}

/** Matches the windows of a large content together with another process: that one from the first on, this one, once it has nothing else to do, from the last. */
async function matchTogether(
  walk: Walk,
  help: Help,
  content: Extract<Content, { path: string }>,
  trail: readonly string[],
  kind: Kind,
): Promise<Matching | undefined> {
  const { length, positions } = windowPlaces(content.size, WINDOWS);
  const path = pathOf(walk, trail);
  const { from = 0 } = content;
  const findings = new Map<number, Finding>();
  const left = [...positions];
  const is_upload = trail.length === 0 && kind.is_view !== true;
  const found = (position: number, finding: Finding) => {
    findings.set(position, finding);
    if (is_upload) walk.share = Math.min(1, findings.size / positions.length);
    walk.report();
  };
  const ask = (position: number) => {
    const range = { from: from + position, length, is_within: position > 0, ...(path === undefined ? {} : { path }) };
    return help.ask(content.path, [range]);
  };
  const [first] = left;
  if (first === undefined) return undefined;
  const begun = ask(first);
  if (!(await begun.granted)) return undefined;
  left.shift();
  announce(walk, content, kind);
  const turn = turnOf(walk);
  const beside = (async () => {
    let position: number | undefined = first;
    let answer = begun.findings;
    while (position !== undefined) {
      const [finding] = (await answer) ?? [];
      if (finding === undefined) {
        left.unshift(position);
        return;
      }
      found(position, finding);
      position = left.shift();
      if (position !== undefined) answer = ask(position).findings;
    }
  })();

  const matchHere = async (): Promise<void> => {
    const source = openSource(content);
    try {
      const buffer = Buffer.allocUnsafe(length);
      for (let position = left.pop(); position !== undefined; position = left.pop()) {
        walk.workshop.budget.checkTime();
        if (source.fill(buffer, position) < length) throw new Error('The file became shorter while it was read.');
        found(position, findingOf(walk.match, buffer, position > 0, path));
        await turnOfLoop();
      }
    } finally {
      source.close();
    }
  };
  const inOrder = () =>
    positions.flatMap((position) => {
      const finding = findings.get(position);
      return finding === undefined ? [] : [{ finding, position }];
    });
  const end = async (): Promise<Places> => {
    try {
      await matchHere();
    } catch (error) {
      // What was matched before counts.
      await beside;
      for (const { finding } of inOrder()) keep(walk, finding.matches, trail, turn);
      throw error;
    }
    await beside;
    // The other process was wanted elsewhere.
    await matchHere();
    return conclude(walk, content, trail, kind, turn, inOrder());
  };
  let ended: Promise<Places> | undefined;
  return {
    end() {
      ended ??= end();
      return ended;
    },
  };
}

/**
 * Begins to match a content. With help of another process it goes on beside what is done next; alone it is over at once.
 * `finding`: what another process says of all of it, where it was asked before.
 */
export async function beginMatching(
  walk: Walk,
  content: Content,
  trail: readonly string[],
  kind: Kind,
  finding?: Promise<Finding | undefined>,
): Promise<Matching> {
  if (finding !== undefined && 'bytes' in content) {
    announce(walk, content, kind);
    const turn = turnOf(walk);
    let places: Places | undefined;
    return {
      async end() {
        const found = await finding;
        const own = () => findingOf(walk.match, content.bytes.subarray(0, content.size), false, pathOf(walk, trail));
        places ??= conclude(walk, content, trail, kind, turn, [{ finding: found ?? own(), position: 0 }]);
        return places;
      },
    };
  }
  if ('path' in content && content.size > WINDOWS.whole && walk.help?.isLikely()) {
    const together = await matchTogether(walk, walk.help, content, trail, kind);
    if (together !== undefined) return together;
  }
  const places = matchContent(walk, content, trail, kind);
  return { end: () => Promise.resolve(places) };
}
