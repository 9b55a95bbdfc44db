import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { Coverage, StatusDetail } from '@palisade/contract/antivirus';
import type { ThreatFacts } from '@palisade/contract/quarantine';
import { type Carved, extentsOf, type Hit, headerStart, hitsOf, type Places } from './carving.ts';
import {
  type Container,
  containerFor,
  containerOf,
  containersBehind,
  HEAD_BYTES,
  isBeside,
  isFileHead,
  isNamedAfterFile,
  membersOf,
} from './containers.ts';
import { type Content, disposeContent, isDiskError, openSource, partOf, takeContent, windowsOf } from './content.ts';
import { hasParts, type LeafPart, leafParts } from './leaf-parts.ts';
import { beginning, type Leaf, leafOf, looksLikeNothing } from './leaves.ts';
import { Budget, LimitReached, type ScanLimits } from './limits.ts';
import { isLockingManifest } from './locked-office.ts';
import { mediaTypeOf } from './media-type.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { type Range, Ranges } from './ranges.ts';
import { openReader, type Reader } from './reader.ts';
import { LOOK_BYTES, textFormOf, withoutMark } from './text-encoding.ts';
import { textViews } from './text-views.ts';

/** A rule that matched. `severity` orders threats: the worst names the file. */
export interface Match {
  rule: string;
  threat: string;
  description: string;
  severity: 'low' | 'medium' | 'high' | 'critical';
  /** A public page about it. */
  reference: string | null;
  /** `suspicious` is a note on the record, never a verdict. */
  verdict: 'infected' | 'suspicious';
}

/**
 * What rules say of bytes. `onPlaces` is told where containers seem to begin in them, as the engine comes by; `is_cut`: at more places than these. `path` is
 * where the content stands: the upload's name, and the trail of members inside it. Rules of feeds may ask for it.
 */
export type MatchRules = (
  bytes: Buffer,
  onPlaces?: (carved: Carved, offsets: number[], is_cut: boolean) => void,
  path?: string,
) => Match[];

/** What a set of signatures says of content. `matchHash` is absent where no list of hashes is in use: then nothing is hashed. */
export interface Matchers {
  match: MatchRules;
  /** Some rule asks for names: the same bytes under another name may match other rules. */
  asks_for_names?: boolean | undefined;
  /** `sha256` in hex. */
  matchHash?: ((sha256: string) => Match[]) | undefined;
}

/** What one scan found, and what it could not read. An empty `unread` means that every byte of every member was read. */
export interface Examination {
  threat: string | null;
  threat_member: string | null;
  threat_facts: ThreatFacts | null;
  /** What the bytes of the upload are. */
  media_type: string | null;
  /** Names in it follow from the name of the upload: the same bytes under another name have others. */
  named_after_upload: boolean;
  /** `member` is the path inside the file, as hostile as `threat_member`; null for the file itself. */
  notes: { member: string | null; sentence: string }[];
  unread: StatusDetail[];
  coverage: Coverage;
}

/** How far a scan is: the share of the file itself that has been matched, from 0 to 1, and the members of all archives in it, as far as they are known. */
export interface Progress {
  share: number;
  members_read: number;
  members_found: number;
}

/** Whole-file conditions (`filesize`, `pe`) hold for content up to this size; larger content is matched in overlapping windows. Bytes. */
const WINDOWS = { whole: 64 * 1024 ** 2, window: 16 * 1024 ** 2, overlap: 256 * 1024 } as const;
const HASH_BYTES = 1024 ** 2;
const BOMB_BYTES_EXAMINED = 4 * 1024 ** 2;
const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
const NOTES_MAXIMUM = 20;
/** An archive may give a file a name of 64 KB. What is shown of it is shorter, and keeps the extension at its end. */
const NAME_CHARACTERS = { first: 960, last: 64 } as const;

/** What it costs to look whether a container begins at a place. */
const PLACE_COST = 64;

interface Walk extends Matchers {
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

function note(walk: Walk, member: string | null, sentence: string): void {
  const { notes } = walk.found;
  const is_known = notes.some((known) => known.member === member && known.sentence === sentence);
  if (notes.length < NOTES_MAXIMUM && !is_known) notes.push({ member, sentence });
}

function unread(walk: Walk, detail: StatusDetail): void {
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
function pathOf(walk: Walk, trail: readonly string[]): string | undefined {
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
    const matches = walk.match(text, onPlaces, pathOf(walk, trail));
    known ||= matches.some(({ verdict }) => verdict === 'infected');
    yield matches;
  }
  if (walk.matchHash === undefined || known) return;
  yield walk.matchHash(is_upload && walk.sha256 !== undefined ? walk.sha256 : sha256Of(walk, content));
}

/** Keeps what matched: notes, and the worst threat. */
function matchPieces(walk: Walk, pieces: Iterable<Match[]>, trail: readonly string[]): void {
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
interface Kind {
  is_rest?: boolean;
  is_view?: boolean;
}

/** Matches a content, and answers where containers seem to begin in it. */
function matchContent(
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

/** What a member holds, unpacked and counted, with what went wrong on the way: what came before is good. */
async function contentOf(walk: Walk, member: Member): Promise<{ content: Content; damage: unknown }> {
  const body = await member.read();
  if ('content' in body) {
    return { content: body.content, damage: body.damage === undefined ? undefined : new Unreadable(body.damage) };
  }
  let member_bytes = 0;
  const { content, failure } = await takeContent(body.stream, walk.workshop.path, (bytes) => {
    member_bytes += bytes;
    walk.workshop.budget.addUnpacked(bytes, member_bytes, body.packed_bytes);
  });
  return { content, damage: failure };
}

async function examineMember(walk: Walk, member: Member, depth: number, trail: readonly string[]): Promise<void> {
  walk.found.coverage.members_total += 1;
  walk.workshop.budget.addMember();
  walk.report();
  if (member.closed === 'encrypted') walk.found.coverage.encrypted += 1;
  if (member.closed !== undefined) return unread(walk, member.closed);

  const { content, damage } = await contentOf(walk, member);
  // Of a bomb only the beginning is examined: the rest is its filling, and reading it is the harm it does.
  if (damage instanceof LimitReached && damage.detail === 'bomb') content.size = Math.min(content.size, BOMB_BYTES_EXAMINED);
  try {
    // What was unpacked before a failure or a limit is examined all the same: a hit in what was read wins.
    if (member.view) matchContent(walk, content, trail);
    else await examineContent(walk, content, depth, trail, { taken: member.taken });
    if ('bytes' in content && isLockingManifest(member.name, content.bytes)) {
      walk.found.coverage.encrypted += 1;
      unread(walk, 'encrypted');
    }
  } finally {
    await disposeContent(content);
  }
  if (damage instanceof LimitReached) throw damage;
  if (damage !== undefined) {
    const detail = damage instanceof Unreadable ? damage.detail : 'damaged';
    // The password was not the right one for it.
    if (detail === 'encrypted') walk.found.coverage.encrypted += 1;
    return unread(walk, detail);
  }
  walk.found.coverage.members_scanned += 1;
}

/** The containers that a content is, or holds behind something else. `is_tried`: its first byte is taken for the beginning of one. */
function containersOf(walk: Walk, reader: Reader, name: string): { containers: Container[]; is_tried: boolean } {
  const head = reader.at(0, HEAD_BYTES);
  const container = containerOf(head);
  // The first content of a walk is the upload itself.
  walk.found.media_type ??= mediaTypeOf(head, container);
  const behind = containersBehind(reader, head, container, name);
  const is_tried = container !== undefined || behind.some(({ kind }) => kind === 'seven');
  return { containers: container === undefined ? behind : [container, ...behind], is_tried };
}

/** Containers that are texts, too. What is in any other kind is no text that a program reads. */
const TEXTS: readonly Container['kind'][] = ['uuencode', 'mail', 'mailbox', 'rtf', 'armour'];

/** Shorter runs of letters hold no container behind something else. Bytes. */
const HOLDS_LEAST = 256;

/** Whether bytes that a text has as letters are a container or a program, or one begins somewhere in them. */
function isOrHoldsFile(walk: Walk, bytes: Buffer): boolean {
  if (isFileHead(bytes.subarray(0, HEAD_BYTES), bytes.length)) return true;
  if (bytes.length < HOLDS_LEAST) return false;
  walk.workshop.budget.spend(bytes.length);
  let holds = false;
  walk.match(bytes, (_carved, offsets) => {
    holds ||= offsets.length > 0;
  });
  return holds;
}

/** What the rules see of a text that does not stand in its bytes as it is, and what is written in it as letters. */
async function examineViews(
  walk: Walk,
  reader: Reader,
  containers: readonly Container[],
  depth: number,
  trail: readonly string[],
): Promise<void> {
  if (containers.some(({ kind }) => !TEXTS.includes(kind))) return;
  const is_taken = containers.some(({ kind }) => kind === 'mail' || kind === 'mailbox');
  for await (const view of textViews(reader, walk.workshop, { is_taken, isFile: (bytes) => isOrHoldsFile(walk, bytes) })) {
    if (!walk.workshop.budget.mayDescend(depth)) return unread(walk, 'depth');
    if (view.kind === 'member') await examineMember(walk, view.member, depth + 1, [...trail, view.member.name]);
    if (view.kind === 'view') matchPieces(walk, [walk.match(view.bytes, undefined, pathOf(walk, trail))], trail);
    if (view.kind !== 'text') continue;
    try {
      await examineContent(walk, view.content, depth + 1, trail, { is_view: true });
    } finally {
      await disposeContent(view.content);
    }
    if (view.failure instanceof LimitReached) throw view.failure;
  }
}

function shortened(name: string): string {
  const { first, last } = NAME_CHARACTERS;
  return name.length <= first + last ? name : name.slice(0, first) + name.slice(-last);
}

/** What opening a container came to. */
interface Opened {
  explained: Ranges;
  members: number;
  failure: StatusDetail | undefined;
}

/** Opens a container and examines its members. One whose reader explains nothing, and gives members or does not fail, is explained as a whole. */
async function open(
  walk: Walk,
  container: Container,
  content: Content,
  depth: number,
  trail: readonly string[],
): Promise<Opened> {
  const explained = new Ranges(content.size);
  const workshop: Workshop = { ...walk.workshop, explain: (start, end) => explained.add(start, end) };
  let members = 0;
  let failure: StatusDetail | undefined;
  try {
    for await (const member of membersOf(container, content, trail.at(-1) ?? walk.name, workshop)) {
      if (!member.view) members += 1;
      await examineMember(walk, member, depth + 1, [...trail, shortened(member.name)]);
    }
  } catch (error) {
    if (error instanceof LimitReached || isDiskError(error)) throw error;
    failure = error instanceof Unreadable ? error.detail : 'damaged';
  }
  const is_guess = container.kind === 'seven' && container.is_guess === true;
  const is_whole = !isBeside(container) && (members > 0 || (failure === undefined && !is_guess));
  if (explained.is_empty && is_whole) explained.add(0, content.size);
  return { explained, members, failure };
}

/** `is_rest`: it is a rest, and one thing as a whole; `is_view`: the content around it in another form. `taken`: formats that are not to be looked for in it. */
async function examineContent(
  walk: Walk,
  content: Content,
  depth: number,
  trail: readonly string[],
  { is_rest = false, is_view = false, taken = [] }: Kind & { taken?: readonly string[] | undefined } = {},
): Promise<void> {
  if (content.size === 0) return;
  const places = matchContent(walk, content, trail, { is_rest, is_view });
  for (const carved of places.keys()) if (taken.includes(carved.format)) places.delete(carved);
  const reader = openReader(content, walk.workshop.budget);
  try {
    const explained = new Ranges(content.size);
    const { containers, is_tried } = containersOf(walk, reader, trail.at(-1) ?? walk.name);
    await examineViews(walk, reader, containers, depth, trail);
    for (const container of containers) {
      if (trail.length === 0 && isNamedAfterFile(container)) walk.found.named_after_upload = true;
      if (!walk.workshop.budget.mayDescend(depth)) return unread(walk, 'depth');
      const opened = await open(walk, container, content, depth, trail);
      if (opened.failure !== undefined) unread(walk, opened.failure);
      explained.addAll(opened.explained);
    }
    const is_opened = !explained.is_empty;
    const gaps = explained.gaps();
    if (gaps.length === 0) return;
    await new Rests(walk, content, reader, depth, trail, places, is_rest).examine(gaps, is_opened, is_tried);
  } finally {
    reader.close();
  }
}

/** Formats that two or three bytes make of anything: in the middle of a file they are one only where they open. */
function isWeak(container: Container): boolean {
  if (container.kind === 'packed') return container.compressor === 'zlib';
  return container.kind === 'seven' && ['lzma', 'Z', 'arj', 'cpio'].includes(container.format ?? '');
}

/** What no reader explained of one content: it is taken for what it looks like, piece by piece, each byte once. */
class Rests {
  private readonly walk: Walk;
  private readonly content: Content;
  private readonly reader: Reader;
  private depth: number;
  private readonly trail: readonly string[];
  /** The content is a rest itself, and known to be one thing as a whole. */
  private readonly is_rest: boolean;
  private readonly hits: readonly Hit[];
  private readonly extentOf: (hit: Hit, limit: number) => number;
  /** The next hit that was not looked at. */
  private hit = 0;

  constructor(
    walk: Walk,
    content: Content,
    reader: Reader,
    depth: number,
    trail: readonly string[],
    places: Places,
    is_rest: boolean,
  ) {
    this.walk = walk;
    this.content = content;
    this.reader = reader;
    this.depth = depth;
    this.trail = trail;
    this.is_rest = is_rest;
    this.hits = hitsOf(reader, places);
    this.extentOf = extentsOf(reader, this.hits);
  }

  /** `is_opened`: a reader opened what the gaps are in. `is_tried`: it was looked at as a container from its first byte on. */
  async examine(gaps: readonly Range[], is_opened: boolean, is_tried: boolean): Promise<void> {
    for (const gap of gaps) {
      // What stands in explained ranges is no beginning.
      this.passHits(gap.start);
      let { start } = gap;
      while (start < gap.end) {
        // Some formats begin with zeros.
        if (start > 0) start = beginning(this.reader, start, skipZeros(this.reader, start, gap.end));
        if (start >= gap.end) break;
        start = await this.piece(start, gap.end, is_opened, is_tried && start === 0);
      }
    }
  }

  private passHits(start: number): void {
    while ((this.hits[this.hit]?.offset ?? Number.POSITIVE_INFINITY) < start) this.hit += 1;
  }

  /** The next place at or behind `start`, and before `end`, where a container proves to begin. */
  private nextHit(start: number, end: number): Hit | undefined {
    for (this.passHits(start); ; this.hit += 1) {
      const hit = this.hits[this.hit];
      if (hit === undefined || hit.offset >= end) return undefined;
      this.walk.workshop.budget.spend(PLACE_COST);
      if (hit.carved.proves?.(this.reader, hit.offset) ?? true) return hit;
    }
  }

  /** Examines what begins at `start`, and answers where it ends. */
  private async piece(start: number, end: number, is_opened: boolean, is_tried: boolean): Promise<number> {
    const hit = this.nextHit(start, end);
    if (!is_tried) {
      const container = start > 0 ? containerOf(this.reader.at(start, Math.min(HEAD_BYTES, end - start))) : undefined;
      const begins = hit?.offset === start ? hit : undefined;
      if (begins !== undefined) this.hit += 1;
      const after =
        container !== undefined
          ? await this.open(container, start, this.endOf(begins, end), {
              name: begins?.carved.format,
              is_quiet: begins?.carved.is_guess ?? isWeak(container),
            })
          : begins !== undefined && (await this.carve(begins, end, false));
      if (typeof after === 'number') return after;
    }
    const leaf_end = await this.leaf(start, end, is_opened);
    if (leaf_end !== undefined) return leaf_end;
    return this.raw(start, this.nextHit(start + 1, end)?.offset ?? end, is_opened);
  }

  private endOf(hit: Hit | undefined, end: number): number {
    return hit === undefined ? end : this.extentOf(hit, end);
  }

  /** Opens what a hit says; undefined where it is nothing that opens. */
  private async carve(hit: Hit, end: number, is_quiet: boolean): Promise<number | undefined> {
    const { format, is_guess = false } = hit.carved;
    const start = format === 'mime' ? headerStart(this.reader, hit.offset) : hit.offset;
    const container = containerFor(format, this.reader.at(start, HEAD_BYTES));
    return await this.open(container, start, this.extentOf(hit, end), { name: format, is_quiet: is_quiet || is_guess, is_guess });
  }

  /**
   * Opens a container from `start` to `end` at most, examines what its reader does not explain, and answers where it ends; undefined where it does not
   * open. `is_quiet`: that it does not open means nothing.
   */
  private async open(
    container: Container,
    start: number,
    end: number,
    { name, is_quiet, is_guess = false }: { name: string | undefined; is_quiet: boolean; is_guess?: boolean },
  ): Promise<number | undefined> {
    const { walk, trail } = this;
    if (!walk.workshop.budget.mayDescend(this.depth)) {
      unread(walk, 'depth');
      return undefined;
    }
    const own_trail = start === 0 ? trail : [...trail, `rest at ${start}`];
    const { explained, failure } = await open(walk, container, partOf(this.content, start, end), this.depth, own_trail);
    // What has no magic of its own gives some bytes before it turns out to be something else.
    if (explained.is_empty || (is_guess && failure === 'damaged')) {
      if (failure !== undefined && !is_quiet) {
        unread(walk, failure);
        const what = name === undefined ? 'a container' : `a container in the format ${name}`;
        note(
          walk,
          trail.length > 0 ? trail.join(' / ') : null,
          `At byte ${start} there seems to be ${what}, which could not be opened.`,
        );
      }
      return undefined;
    }
    if (failure !== undefined) unread(walk, failure);
    const after = start + explained.end;
    if (start > 0) {
      this.count(failure === undefined);
      matchContent(walk, partOf(this.content, start, after), own_trail, { is_rest: true });
    }
    const holes = explained.gaps().map((gap) => ({ start: start + gap.start, end: start + gap.end }));
    // A container within a hole of another is one deeper: else each of a thousand around another would be matched once more.
    this.depth += 1;
    await this.examine(
      holes.filter((hole) => hole.end <= after),
      true,
      false,
    );
    this.depth -= 1;
    return after;
  }

  private count(is_read: boolean): void {
    this.walk.found.coverage.members_total += 1;
    this.walk.workshop.budget.addMember();
    if (is_read) this.walk.found.coverage.members_scanned += 1;
    this.walk.report();
  }

  /** What holds nothing but itself: where it ends, after its own examination. What proves to be a container within it is opened, but need not be one. */
  private async leaf(start: number, end: number, is_opened: boolean): Promise<number | undefined> {
    const part = partOf(this.content, start, end);
    const reader = start === 0 && end === this.content.size ? this.reader : openReader(part, this.walk.workshop.budget);
    let leaf: Leaf | undefined;
    try {
      leaf = leafOf(reader);
    } finally {
      if (reader !== this.reader) reader.close();
    }
    if (leaf === undefined) return undefined;
    const after = start + (this.is_rest && start === 0 ? part.size : leaf.end);
    // What stands before a container is a file of its own, too.
    if (start > 0 || (is_opened && after < this.content.size)) {
      this.count(true);
      const own = partOf(this.content, start, after);
      await examineContent(this.walk, own, this.depth, [...this.trail, `rest at ${start}`], { is_rest: true });
      return after;
    }
    if (leaf.kind === 'binary') await this.parts();
    let at = 1;
    for (let hit = this.nextHit(at, after); hit !== undefined; hit = this.nextHit(at, after)) {
      this.hit += 1;
      at = (await this.carve(hit, end, leaf.kind === 'binary')) ?? hit.offset + 1;
    }
    return Math.max(at, after);
  }

  /** What a picture or a sound carries beside what it shows: a member where it is a file or a text, else only matched as a piece of its own. */
  private async parts(): Promise<void> {
    const { walk, trail, reader, depth } = this;
    for (const part of leafParts(reader)) {
      const bytes = partBytes(reader, part, walk.workshop.budget);
      if (bytes === undefined) continue;
      const name = `${part.name} at ${part.start}`;
      const head = bytes.subarray(0, HEAD_BYTES);
      if (!isFileHead(head, bytes.length) && !hasParts(head) && textFormOf(bytes.subarray(0, LOOK_BYTES)) === undefined) {
        matchPieces(walk, [walk.match(bytes, undefined, pathOf(walk, trail))], [...trail, name]);
        continue;
      }
      if (!walk.workshop.budget.mayDescend(depth)) return unread(walk, 'depth');
      await examineMember(walk, { name, read: () => ({ content: { size: bytes.length, bytes } }) }, depth + 1, [...trail, name]);
    }
  }

  /** What nobody knows: matched from its own first byte on. */
  private raw(start: number, end: number, is_opened: boolean): number {
    const { walk, trail } = this;
    if (start > 0 || end < this.content.size)
      matchContent(walk, partOf(this.content, start, end), [...trail, `rest at ${start}`], { is_rest: true });
    if (is_opened && looksLikeNothing(this.reader, start, end)) {
      unread(walk, 'unexplained');
      const place = `The ${end - start} bytes from byte ${start} on belong to nothing in it and look like nothing known.`;
      note(walk, trail.length > 0 ? trail.join(' / ') : null, place);
    } else walk.found.coverage.bytes_raw += end - start;
    return end;
  }
}

/** A part of a picture is a comment or a description: what is larger is matched with the picture. Bytes. */
const PART_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** The bytes of a part; undefined for those that are too large, or not packed as they say. */
function partBytes(reader: Reader, { start, end, packed, more = [] }: LeafPart, budget: Budget): Buffer | undefined {
  const pieces = [{ start, end }, ...more];
  const size = pieces.reduce((sum, piece) => sum + piece.end - piece.start, 0);
  if (size > PART_BYTES_MAXIMUM) return undefined;
  const bytes = Buffer.concat(pieces.map((piece) => reader.at(piece.start, piece.end - piece.start)));
  if (packed !== true) return bytes;
  try {
    const plain = inflateSync(bytes, { maxOutputLength: Math.min(PART_BYTES_MAXIMUM, budget.memberMaximum(bytes.length)) });
    budget.addUnpacked(plain.length, plain.length, bytes.length);
    return plain;
  } catch (error) {
    if (error instanceof LimitReached) throw error;
    return undefined;
  }
}

const ZEROS = Buffer.alloc(64 * 1024);

/** Where something else than zeros stands next. */
function skipZeros(reader: Reader, start: number, end: number): number {
  // Most rests begin with something else.
  if (reader.at(start, 1)[0] !== 0) return start;
  for (let at = start; at < end; ) {
    const piece = reader.at(at, Math.min(ZEROS.length, end - at));
    if (piece.length === 0) return end;
    if (!piece.equals(ZEROS.subarray(0, piece.length))) return at + piece.findIndex((byte) => byte !== 0);
    at += piece.length;
  }
  return end;
}

/**
 * Reads a file and everything packed in it, and matches each piece. Never throws for what the file holds: damage and limits are in `unread`; only for a
 * disk that takes no more.
 * `folder` takes members that are too big for memory; it is made where it is needed, and removed here.
 */
export async function examine(
  file: Content & { name: string; sha256?: string | undefined },
  parts: Matchers & {
    limits: ScanLimits;
    folder: string;
    password?: string | undefined;
    onProgress?: (progress: Progress) => void;
    /** Counts what the scan uses up, for those who want to know it. */
    budget?: Budget;
  },
): Promise<Examination> {
  let files = 0;
  const walk: Walk = {
    match: parts.match,
    asks_for_names: parts.asks_for_names,
    share: 0,
    report() {
      const { members_total, members_scanned } = walk.found.coverage;
      const members_found = Math.max(members_total, walk.workshop.budget.members_announced);
      parts.onProgress?.({ share: walk.share, members_read: members_scanned, members_found });
    },
    matchHash: parts.matchHash,
    sha256: file.sha256,
    workshop: {
      budget: parts.budget ?? new Budget(parts.limits, file.size),
      password: parts.password,
      path() {
        if (files === 0) mkdirSync(parts.folder, { recursive: true });
        files += 1;
        return join(parts.folder, `${files}`);
      },
      explain: () => {},
    },
    name: file.name,
    worst: -1,
    found: {
      threat: null,
      threat_member: null,
      threat_facts: null,
      media_type: null,
      named_after_upload: parts.asks_for_names === true,
      notes: [],
      unread: [],
      coverage: {
        members_total: 0,
        members_scanned: 0,
        bytes_scanned: 0,
        encrypted: 0,
        bytes_raw: 0,
        whole_file_conditions: true,
      },
    },
  };
  try {
    await examineContent(walk, file, 0, []);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    unread(walk, error.detail);
  } finally {
    // Most files need none.
    if (files > 0) await rm(parts.folder, { recursive: true, force: true });
  }
  return walk.found;
}
