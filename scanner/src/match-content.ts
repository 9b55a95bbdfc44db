import { createHash } from 'node:crypto';
import type { StatusDetail } from '@palisade/contract/antivirus';
import type { Places } from './carving.ts';
import { type Content, openSource, windowsOf } from './content.ts';
import type { Examination, Match, Matchers, MatchRules } from './examine.ts';
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
}

export function note(walk: Walk, member: string | null, sentence: string): void {
  const { notes } = walk.found;
  const is_known = notes.some((known) => known.member === member && known.sentence === sentence);
  if (notes.length < NOTES_MAXIMUM && !is_known) notes.push({ member, sentence });
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

/** What matches a content, window by window; its hash only where no rule knows it better. */
function* matchesOf(
  walk: Walk,
  content: Content,
  { trail, is_upload }: { trail: readonly string[]; is_upload: boolean },
  places: Places,
): Generator<Match[]> {
  let known = false;
  let matched = 0;
  for (const { bytes: piece, position } of windowsOf(content, WINDOWS)) {
    walk.workshop.budget.checkTime();
    if (is_upload) walk.share = Math.min(1, matched / content.size);
    matched += piece.length;
    walk.report();
    const text = position === 0 ? withoutMark(piece) : piece;
    const skipped = piece.length - text.length;
    const onPlaces: Parameters<MatchRules>[1] = (carved, offsets, is_cut) => {
      const known = places.get(carved) ?? { offsets: new Set(), is_cut: false };
      places.set(carved, known);
      known.is_cut ||= is_cut;
      for (const offset of offsets) known.offsets.add(position + skipped + offset);
    };
    const matches = walk.match(text, onPlaces, pathOf(walk, trail), position > 0);
    known ||= matches.some(({ verdict }) => verdict === 'infected');
    yield matches;
  }
  if (walk.matchHash === undefined || known) return;
  yield walk.matchHash(is_upload && walk.sha256 !== undefined ? walk.sha256 : sha256Of(walk, content));
}

/** Keeps what matched: notes, and the worst threat. */
export function matchPieces(walk: Walk, pieces: Iterable<Match[]>, trail: readonly string[]): void {
  for (const matches of pieces) {
    for (const found of matches) {
      const member = trail.length > 0 ? trail.join(' / ') : null;
      if (found.verdict === 'suspicious') {
        note(walk, member, found.description);
        continue;
      }
      const severity = SEVERITIES.indexOf(found.severity);
      if (severity > walk.worst) {
        walk.worst = severity;
        walk.found.threat = found.threat;
        walk.found.threat_member = member;
        walk.found.threat_facts = { description: found.description, severity: found.severity, reference: found.reference };
      }
    }
  }
}

/** A content that was read with what is around it, a rest or another form of it, is not counted again. */
export interface Kind {
  is_rest?: boolean;
  is_view?: boolean;
}

/** Matches a content, and answers where containers seem to begin in it. */
export function matchContent(
  walk: Walk,
  content: Content,
  trail: readonly string[],
  { is_rest = false, is_view = false }: Kind = {},
): Places {
  const places: Places = new Map();
  if (content.size > WINDOWS.whole) walk.found.coverage.whole_file_conditions = false;
  matchPieces(walk, matchesOf(walk, content, { trail, is_upload: trail.length === 0 && !is_view }, places), trail);
  if (!is_rest && !is_view) walk.found.coverage.bytes_scanned += content.size;
  if (trail.length === 0) walk.share = 1;
  return places;
}
