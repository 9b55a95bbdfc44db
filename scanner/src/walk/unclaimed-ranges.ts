import type { StatusDetail } from '@palisade/contract/antivirus';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { zlibIn } from '#scanner/decompression/zlib-within.ts';
import { zlib } from '#scanner/formats/compression/compressed.ts';
import { type Found, HEAD_BYTES } from '#scanner/formats/format.ts';
import { containerFor, containerOf, isLate } from '#scanner/formats/recognition.ts';
import { type Content, partOf } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import type { Member } from '#scanner/reading/member.ts';
import type { Range, Ranges } from '#scanner/reading/ranges.ts';
import { endOfZeros, openReader, type Reader } from '#scanner/reading/reader.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';
import { runsOf } from '#scanner/text/text-runs.ts';
import { wideTextsIn } from '#scanner/text/wide-texts.ts';
import { extentsOf, type Hit, hitsOf, type Places } from './carving.ts';
import { looksLikeNothing } from './entropy.ts';
import { isOrHoldsFile } from './holds-file.ts';
import { bytesOfMember, isTextOrFile, writtenIn } from './leaf-bytes.ts';
import { beginning, hasLeafMembers, isTextBeforeOthers, type Leaf, leafMembers, leafOf } from './leaves.ts';
import { type Kind, keepMatches, matchContent, note, pathOf, unread, type Walk } from './match-content.ts';

// Unclaimed ranges of one content (docs/decisions/scanner.md).

/** The cost of checking whether a container begins at a place. */
const PLACE_COST = 64;

/** The result of opening a container. */
export interface Opened {
  claimed: Ranges;
  members: number;
  failure: StatusDetail | undefined;
}

/** The steps of the examination that lead from a rest on: it knows them, and they make rests. */
interface Steps {
  open(walk: Walk, container: Found, content: Content, depth: number, trail: readonly string[]): Promise<Opened>;
  examineContent(
    walk: Walk,
    content: Content,
    depth: number,
    trail: readonly string[],
    kind?: Kind & { taken?: readonly string[] | undefined },
  ): Promise<void>;
  examineMember(walk: Walk, member: Member, depth: number, trail: readonly string[]): Promise<void>;
}

/** Options for opening a container within a content. */
interface OpenAs {
  name: string | undefined;
  /** That it does not open means nothing. */
  is_quiet: boolean;
  /** It has no magic of its own: when it does not open, it was none. */
  is_guess?: boolean;
  /** It stands in a picture, a sound or a program: when it does not open and gives nothing, its magic was a number of that. */
  is_constant?: boolean;
}

/**
 * The ranges of one content that no reader claimed: each is examined as the format that it looks like, one after the other,
 * each byte once.
 */
export class UnclaimedRanges {
  private readonly steps: Steps;
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
    steps: Steps,
    walk: Walk,
    content: Content,
    reader: Reader,
    depth: number,
    trail: readonly string[],
    places: Places,
    is_rest: boolean,
  ) {
    this.steps = steps;
    this.walk = walk;
    this.content = content;
    this.reader = reader;
    this.depth = depth;
    this.trail = trail;
    this.is_rest = is_rest;
    this.hits = hitsOf(reader, places);
    this.extentOf = extentsOf(reader, this.hits);
  }

  /** `is_opened`: a reader opened the content with the gaps. `is_tried`: it was tried as a container from its first byte on. */
  async examine(gaps: readonly Range[], is_opened: boolean, is_tried: boolean): Promise<void> {
    let start = 0;
    for (const gap of gaps) {
      // An archive that began in an earlier gap may end in a later one.
      start = Math.max(start, gap.start);
      // A place in a claimed range is no beginning.
      this.passHits(start);
      while (start < gap.end) {
        if (start > 0) start = this.behindZeros(start, gap.end);
        if (start >= gap.end) break;
        start = await this.examineFrom(start, gap.end, is_opened, is_tried && start === 0);
      }
    }
  }

  /** The start of something behind zeros; some formats have zeros before their mark, as the images of discs and the installers of NSIS. */
  private behindZeros(start: number, end: number): number {
    const zeros_end = endOfZeros(this.reader, start, end);
    return this.nextHit(start, zeros_end)?.offset ?? beginning(this.reader, start, zeros_end);
  }

  private passHits(start: number): void {
    while ((this.hits[this.hit]?.offset ?? Number.POSITIVE_INFINITY) < start) this.hit += 1;
  }

  /** The next place at or behind `start`, and before `end`, where a container proves to begin. */
  private nextHit(start: number, end: number): Hit | undefined {
    for (this.passHits(start); ; this.hit += 1) {
      const hit = this.hits[this.hit];
      if (hit === undefined || hit.offset >= end) return undefined;
      this.walk.context.budget.spend(PLACE_COST);
      if (hit.carved.proves?.(this.reader, hit.offset) ?? true) return hit;
    }
  }

  /** Examines what begins at `start`, and answers where it ends. */
  private async examineFrom(start: number, end: number, is_opened: boolean, is_tried: boolean): Promise<number> {
    const hit = this.nextHit(start, end);
    if (!is_tried) {
      const begins = hit?.offset === start ? hit : undefined;
      if (begins !== undefined) this.hit += 1;
      const container = start > 0 ? this.containerAt(start, end, begins) : undefined;
      const after =
        container !== undefined
          ? await this.open(
              container,
              start,
              container.format.traits.holds_whole_files === true ? this.content.size : this.endOf(begins, end),
              {
                name: begins?.carved.title,
                is_quiet: begins?.carved.is_guess ?? container.format.traits.is_weak === true,
              },
            )
          : begins !== undefined && (await this.carve(begins, end, false));
      if (typeof after === 'number') return after;
    }
    const leaf_end = await this.leaf(start, end, is_opened);
    if (leaf_end !== undefined) return leaf_end;
    return await this.raw(start, this.nextHit(start + 1, end)?.offset ?? end, is_opened);
  }

  /** The container that begins a rest. A PDF whose header stands further on begins there. */
  private containerAt(start: number, end: number, begins: Hit | undefined): Found | undefined {
    const head = this.reader.at(start, Math.min(HEAD_BYTES, end - start));
    const container = containerOf(head, this.reader.budget);
    const carved_as = isLate(container, head) ? container?.format.late?.carved_as : undefined;
    if (carved_as === undefined) return container;
    const first = containerOf(this.reader.at(0, HEAD_BYTES), this.reader.budget);
    // One that stands near the beginning of the content was read beside it.
    const is_read = first?.format.traits.reads_beside?.includes(carved_as) === true;
    const is_elsewhere = is_read || begins !== undefined || this.isCarved(carved_as, start, start + head.length);
    return is_elsewhere ? undefined : container;
  }

  /** Whether a container of this pattern seems to begin behind `start` and before `end`. */
  private isCarved(id: string, start: number, end: number): boolean {
    for (let next = this.hit; (this.hits[next]?.offset ?? end) < end; next += 1)
      if (this.hits[next]?.carved.id === id && (this.hits[next]?.offset ?? 0) > start) return true;
    return false;
  }

  private endOf(hit: Hit | undefined, end: number): number {
    return hit === undefined ? end : this.extentOf(hit, end);
  }

  /** Opens the container of a hit; undefined where none opens. */
  private async carve(hit: Hit, end: number, is_quiet: boolean): Promise<number | undefined> {
    const { carved } = hit;
    const { is_guess = false } = carved;
    const start = carved.startOf?.(this.reader, hit.offset) ?? hit.offset;
    const container = containerFor(carved, this.reader.at(start, HEAD_BYTES), this.reader.budget);
    const limit = container.format.traits.holds_whole_files === true ? this.content.size : end;
    const after = await this.open(container, start, this.extentOf(hit, limit), {
      name: carved.title,
      is_quiet: is_quiet || is_guess,
      is_guess,
      is_constant: is_quiet,
    });
    const also = after === undefined ? undefined : carved.also?.();
    if (also !== undefined) {
      const part = partOf(this.content, start, after ?? start);
      const { failure } = await this.steps.open(this.walk, { format: also, is_guess: false }, part, this.depth, [
        ...this.trail,
        `rest at ${start}`,
      ]);
      if (failure !== undefined) unread(this.walk, failure);
    }
    return after;
  }

  /**
   * Opens a container from `start` to `end` at most, examines the bytes that its reader does not claim, and answers its end; undefined where it does
   * not open. `is_quiet`: a failure is not reported.
   */
  private async open(
    container: Found,
    start: number,
    end: number,
    { name, is_quiet, is_guess = false, is_constant = false }: OpenAs,
  ): Promise<number | undefined> {
    const { walk, trail } = this;
    if (!walk.context.budget.mayDescend(this.depth)) {
      unread(walk, 'depth');
      return undefined;
    }
    const own_trail = start === 0 ? trail : [...trail, `rest at ${start}`];
    const { claimed, members, failure } = await this.steps.open(
      walk,
      container,
      partOf(this.content, start, end),
      this.depth,
      own_trail,
    );
    // A guess without a magic of its own gives some bytes before it proves wrong. A magic among the numbers of a program has a length, too, and nothing in it.
    const is_none = failure === 'damaged' && (is_guess || (is_constant && members === 0));
    if (claimed.is_empty || is_none) {
      if (failure !== undefined && !is_quiet) {
        unread(walk, failure);
        const unopened =
          name === undefined
            ? scanPhrase('container.unopened', { at: start })
            : scanPhrase('container.unopened.format', { at: start, format: name });
        note(walk, trail.length > 0 ? trail.join(' / ') : null, unopened);
      }
      return undefined;
    }
    if (failure !== undefined) unread(walk, failure);
    const after = start + claimed.end;
    if (start > 0) {
      this.count(failure === undefined);
      matchContent(walk, partOf(this.content, start, after), own_trail, { is_rest: true });
    }
    const holes = claimed.gaps().map((gap) => ({ start: start + gap.start, end: start + gap.end }));
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
    this.walk.context.budget.addMember();
    if (is_read) this.walk.found.coverage.members_scanned += 1;
    this.walk.report();
  }

  /** Examines a content without members, and answers its end. A container that proves to be within it is opened, but need not be one. */
  private async leaf(start: number, end: number, is_opened: boolean): Promise<number | undefined> {
    const part = partOf(this.content, start, end);
    const reader = start === 0 && end === this.content.size ? this.reader : openReader(part, this.walk.context.budget);
    let leaf: Leaf | undefined;
    try {
      leaf = leafOf(reader);
    } finally {
      if (reader !== this.reader) reader.close();
    }
    if (leaf === undefined) return undefined;
    const after = start + (this.is_rest && start === 0 ? part.size : leaf.end);
    // The bytes before a container are a file of its own, too.
    if (start > 0 || (is_opened && after < this.content.size)) {
      this.count(true);
      await this.examinePart(start, after);
      return after;
    }
    if (isTextBeforeOthers(this.reader, leaf)) {
      let hit = this.nextHit(1, after);
      // A header of a mail may stand within another one. A stream may begin with letters, which look like the end of the text.
      for (; hit?.carved.format.traits.is_mail === true; hit = this.nextHit(1, after)) this.hit += 1;
      await this.examinePart(0, hit?.offset ?? after);
      await this.streams(0, end);
      return hit?.offset ?? after;
    }
    if (leaf.kind === 'binary') await this.carriedMembers();
    let at = 1;
    for (let hit = this.nextHit(at, after); hit !== undefined; hit = this.nextHit(at, after)) {
      this.hit += 1;
      at = (await this.carve(hit, end, leaf.kind === 'binary')) ?? hit.offset + 1;
    }
    // A picture's packed data is its own, and the data that it carries beside was examined.
    if (!hasLeafMembers(this.reader.at(0, HEAD_BYTES))) await this.streams(0, leaf.kind === 'text' ? end : after);
    // A few wide letters among noise look like a text of another alphabet.
    await this.wideTexts(0, after);
    if (leaf.kind === 'binary') await this.letters(0, after);
    return Math.max(at, after);
  }

  private async examinePart(start: number, end: number): Promise<void> {
    const own = partOf(this.content, start, end);
    await this.steps.examineContent(this.walk, own, this.depth, [...this.trail, `rest at ${start}`], { is_rest: true });
  }

  /** Data that a picture or a sound carries beside its own: a member where it is a file or a text, or one begins in it, else only matched alone. */
  private async carriedMembers(): Promise<void> {
    const { walk, trail, reader, depth } = this;
    for (const member of leafMembers(reader)) {
      const bytes = bytesOfMember(reader, member, walk.context.budget);
      if (bytes === undefined) continue;
      const name = `${member.name} at ${member.start}`;
      const head = bytes.subarray(0, HEAD_BYTES);
      if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
      // A smaller picture of the same is no member.
      if (hasLeafMembers(head)) {
        await this.steps.examineContent(walk, { size: bytes.length, bytes }, depth + 1, [...trail, name], { is_view: true });
        continue;
      }
      if (textFormOf(bytes.subarray(0, LOOK_BYTES)) === undefined && !isOrHoldsFile(walk, bytes)) {
        keepMatches(walk, [walk.match(bytes, undefined, pathOf(walk, trail))], [...trail, name]);
        continue;
      }
      await this.steps.examineMember(walk, { name, read: () => ({ content: { size: bytes.length, bytes } }) }, depth + 1, [
        ...trail,
        name,
      ]);
    }
  }

  /** Streams of zlib among bytes of another kind: a member where one is a file or a text, else only matched. */
  private async streams(start: number, end: number): Promise<void> {
    const { walk, trail, reader, depth } = this;
    if (end - start > STREAMS_WITHIN_MAXIMUM) return;
    let members = 0;
    /** A long one is opened as a container is, and what lies in it is read there. */
    let opened_to = 0;
    const others = new JoinedPieces();
    const matchOthers = () => {
      if (others.length > 0) keepMatches(walk, [walk.match(others.take(), undefined, pathOf(walk, trail))], trail);
    };
    for (const { start: at, plain, is_large } of zlibIn(reader.at(start, end - start), walk.context.budget)) {
      const name = `zlib at ${start + at}`;
      if (!walk.context.budget.mayDescend(depth)) {
        unread(walk, 'depth');
        return;
      }
      if (start + at < opened_to) continue;
      if (is_large) {
        opened_to = (await this.open({ format: zlib, is_guess: false }, start + at, end, { name: 'zlib', is_quiet: false })) ?? 0;
        continue;
      }
      // A file may begin as a text and continue as something else.
      const is_member =
        members < STREAMS_MAXIMUM && (textFormOf(plain.subarray(0, LOOK_BYTES)) !== undefined || isOrHoldsFile(walk, plain));
      if (is_member) {
        members += 1;
        const content = { size: plain.length, bytes: plain };
        await this.steps.examineMember(walk, { name, read: () => ({ content }) }, depth + 1, [...trail, name]);
        continue;
      }
      others.add(plain);
      if (others.length >= OTHERS_BYTES) matchOthers();
    }
    matchOthers();
  }

  /** Texts of wide letters among bytes of another kind: matched, and a member where something is written in them. */
  private async wideTexts(start: number, end: number): Promise<void> {
    const { walk, trail, reader, depth } = this;
    if (end - start > STREAMS_WITHIN_MAXIMUM) return;
    const bytes = wideTextsIn(reader.at(start, end - start));
    if (bytes === undefined) return;
    walk.context.budget.addUnpacked(bytes.length, bytes.length, end - start);
    const name = `wide texts from ${start} on`;
    if (runsOf(bytes).next().done)
      return keepMatches(walk, [walk.match(bytes, undefined, pathOf(walk, trail))], [...trail, name]);
    if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
    await this.steps.examineMember(walk, { name, read: () => ({ content: { size: bytes.length, bytes } }) }, depth + 1, [
      ...trail,
      name,
    ]);
  }

  /** Files written as escaped letters among bytes of another kind: a member where they are a file or a text, or one begins in the text without escapes. */
  private async letters(start: number, end: number): Promise<void> {
    const { walk, trail, reader, depth } = this;
    if (end - start > STREAMS_WITHIN_MAXIMUM) return;
    let members = 0;
    const others = new JoinedPieces();
    for (const { how, start: at, end: after, bytes } of writtenIn(reader.at(start, end - start))) {
      const is_together = how === 'literal';
      if (!is_together && (after - at < LETTERS_LEAST || new Set(bytes.subarray(0, 64)).size < DIFFERENT_LEAST)) continue;
      walk.context.budget.spend(bytes.length);
      if (members < STREAMS_MAXIMUM && (isTextOrFile(bytes, reader.budget) || (is_together && isOrHoldsFile(walk, bytes)))) {
        members += 1;
        walk.context.budget.addUnpacked(bytes.length, bytes.length, after - at);
        if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
        const name = `${how} at ${start + at}`;
        const content = { size: bytes.length, bytes };
        await this.steps.examineMember(walk, { name, read: () => ({ content }) }, depth + 1, [...trail, name]);
      } else if (is_together) others.add(bytes);
    }
    if (others.length > 0) keepMatches(walk, [walk.match(others.take(), undefined, pathOf(walk, trail))], trail);
  }

  /** A text behind the zeros that a file begins with: a file that was lost and written again, or a part of a disk. */
  private async behindFirstZeros(end: number): Promise<void> {
    const { walk, trail, reader, depth } = this;
    const start = endOfZeros(reader, 0, end);
    if (start === 0 || start >= end || textFormOf(reader.at(start, Math.min(LOOK_BYTES, end - start))) === undefined) return;
    if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
    const own = partOf(this.content, start, end);
    await this.steps.examineContent(walk, own, depth + 1, [...trail, `rest at ${start}`], { is_rest: true });
  }

  /** Unknown bytes: matched from their own first byte on. */
  private async raw(start: number, end: number, is_opened: boolean): Promise<number> {
    const { walk, trail } = this;
    await this.streams(start, end);
    await this.wideTexts(start, end);
    await this.letters(start, end);
    if (start === 0 && !this.is_rest) await this.behindFirstZeros(end);
    if (start > 0 || end < this.content.size)
      matchContent(walk, partOf(this.content, start, end), [...trail, `rest at ${start}`], { is_rest: true });
    if (is_opened && looksLikeNothing(this.reader, start, end)) {
      unread(walk, 'unexplained');
      note(walk, trail.length > 0 ? trail.join(' / ') : null, scanPhrase('unexplained', { bytes: end - start, at: start }));
    } else walk.found.coverage.bytes_raw += end - start;
    return end;
  }
}

/** In larger contents streams of zlib are not looked for. Bytes. */
const STREAMS_WITHIN_MAXIMUM = 16 * 1024 ** 2;
/** Shorter runs of letters among other bytes are names. */
const LETTERS_LEAST = 64;
/** A repeated pattern is silence or a filling. */
const DIFFERENT_LEAST = 12;
/** So many of one content are members; the others are matched together, at this size. */
const STREAMS_MAXIMUM = 200;
const OTHERS_BYTES = 1024 ** 2;
