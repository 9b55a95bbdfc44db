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

/** Cost of checking whether a container begins at an offset. */
const PLACE_COST = 64;

/** The result of opening a container. */
export interface Opened {
  claimed: Ranges;
  members: number;
  failure: StatusDetail | undefined;
}

/** Steps of examine.ts that this class needs. They are passed in because examine.ts imports this class. */
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
  /** A failure to open is not reported. */
  is_quiet: boolean;
  /** The format has no magic: a failure to open means that the bytes are not of this format. */
  is_guess?: boolean;
  /** Its magic is in a picture, an audio file or a program: if it is damaged and gives no members, the magic was data of that file. */
  is_constant?: boolean;
}

/**
 * Examines the ranges of one content that no reader claimed, each as the format that it looks like, one after the other and each byte
 * once.
 */
export class UnclaimedRanges {
  private readonly steps: Steps;
  private readonly walk: Walk;
  private readonly content: Content;
  private readonly reader: Reader;
  private depth: number;
  private readonly trail: readonly string[];
  /** The content is itself an unclaimed range that was identified as one file. */
  private readonly is_rest: boolean;
  private readonly hits: readonly Hit[];
  private readonly extentOf: (hit: Hit, limit: number) => number;
  /** Index of the next hit that was not checked. */
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

  /** `is_opened`: a reader opened the content. `is_tried`: a container at its first byte was already tried. */
  async examine(gaps: readonly Range[], is_opened: boolean, is_tried: boolean): Promise<void> {
    let start = 0;
    for (const gap of gaps) {
      // An archive that began in an earlier gap may end in a later one.
      start = Math.max(start, gap.start);
      // Hits in claimed ranges do not count.
      this.passHits(start);
      while (start < gap.end) {
        if (start > 0) start = this.behindZeros(start, gap.end);
        if (start >= gap.end) break;
        start = await this.examineFrom(start, gap.end, is_opened, is_tried && start === 0);
      }
    }
  }

  /** Start of the content after zeros. Some formats have zeros before their magic, such as disc images and NSIS installers. */
  private behindZeros(start: number, end: number): number {
    const zeros_end = endOfZeros(this.reader, start, end);
    return this.nextHit(start, zeros_end)?.offset ?? beginning(this.reader, start, zeros_end);
  }

  private passHits(start: number): void {
    while ((this.hits[this.hit]?.offset ?? Number.POSITIVE_INFINITY) < start) this.hit += 1;
  }

  /** The next hit from `start` on and before `end` that passes the check of its format. */
  private nextHit(start: number, end: number): Hit | undefined {
    for (this.passHits(start); ; this.hit += 1) {
      const hit = this.hits[this.hit];
      if (hit === undefined || hit.offset >= end) return undefined;
      this.walk.context.budget.spend(PLACE_COST);
      if (hit.carved.proves?.(this.reader, hit.offset) ?? true) return hit;
    }
  }

  /** Examines the content that begins at `start`, and returns its end. */
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

  /** The container at the beginning of an unclaimed range. A PDF with bytes before its header begins at the header instead. */
  private containerAt(start: number, end: number, begins: Hit | undefined): Found | undefined {
    const head = this.reader.at(start, Math.min(HEAD_BYTES, end - start));
    const container = containerOf(head, this.reader.budget);
    const carved_as = isLate(container, head) ? container?.format.late?.carved_as : undefined;
    if (carved_as === undefined) return container;
    const first = containerOf(this.reader.at(0, HEAD_BYTES), this.reader.budget);
    // If the content's own format reads such a container as well, it was read with the content.
    const is_read = first?.format.traits.reads_beside?.includes(carved_as) === true;
    const is_elsewhere = is_read || begins !== undefined || this.isCarved(carved_as, start, start + head.length);
    return is_elsewhere ? undefined : container;
  }

  /** Whether a container of this pattern seems to begin after `start` and before `end`. */
  private isCarved(id: string, start: number, end: number): boolean {
    for (let next = this.hit; (this.hits[next]?.offset ?? end) < end; next += 1)
      if (this.hits[next]?.carved.id === id && (this.hits[next]?.offset ?? 0) > start) return true;
    return false;
  }

  private endOf(hit: Hit | undefined, end: number): number {
    return hit === undefined ? end : this.extentOf(hit, end);
  }

  /** Opens the container of a hit, and returns its end; undefined if it does not open. */
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
   * Opens a container from `start` to `end` at most, examines the bytes that its reader does not claim, and returns its end; undefined if it does
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
    // A guess without a magic may give some members before it fails. A magic found by chance in a program may be followed by a valid length, but gives no members.
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
    // A container in a gap of another is one level deeper: otherwise bytes within a thousand nested containers would be matched a thousand times.
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

  /** Examines a content without members, and returns its end. Containers that seem to begin in it are opened. */
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
    // Bytes before a container are a separate file, too.
    if (start > 0 || (is_opened && after < this.content.size)) {
      this.count(true);
      await this.examinePart(start, after);
      return after;
    }
    if (isTextBeforeOthers(this.reader, leaf)) {
      let hit = this.nextHit(1, after);
      // Mail headers may be nested, so they do not end the text. A zlib stream may begin with letters, which look like the end of the text.
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
    // Zlib streams of a picture are its pixels, and its embedded data was examined above.
    if (!hasLeafMembers(this.reader.at(0, HEAD_BYTES))) await this.streams(0, leaf.kind === 'text' ? end : after);
    // Noise with a few UTF-16 letters may look like a text of another alphabet.
    await this.wideTexts(0, after);
    if (leaf.kind === 'binary') await this.letters(0, after);
    return Math.max(at, after);
  }

  private async examinePart(start: number, end: number): Promise<void> {
    const own = partOf(this.content, start, end);
    await this.steps.examineContent(this.walk, own, this.depth, [...this.trail, `rest at ${start}`], { is_rest: true });
  }

  /** Examines data embedded in a picture or an audio file: as a member if it is text, or is or contains a file; other data is only matched. */
  private async carriedMembers(): Promise<void> {
    const { walk, trail, reader, depth } = this;
    for (const member of leafMembers(reader)) {
      const bytes = bytesOfMember(reader, member, walk.context.budget);
      if (bytes === undefined) continue;
      const name = `${member.name} at ${member.start}`;
      const head = bytes.subarray(0, HEAD_BYTES);
      if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
      // A thumbnail does not count as a member.
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

  /** Examines zlib streams among other bytes: as a member if one is text, or is or contains a file; others are only matched. */
  private async streams(start: number, end: number): Promise<void> {
    const { walk, trail, reader, depth } = this;
    if (end - start > STREAMS_WITHIN_MAXIMUM) return;
    let members = 0;
    /** End of a large stream, which is opened as a container: streams inside it are read there. */
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

  /** Examines UTF-16 and UTF-32 texts among other bytes: as a member if they contain encoded data; others are only matched. */
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

  /** Examines data that is encoded as text among other bytes: as a member if it is text or a file, or a literal that contains a file. Other literals are only matched. */
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

  /** Examines a text after leading zeros, as in a recovered file or a part of a disk. */
  private async behindFirstZeros(end: number): Promise<void> {
    const { walk, trail, reader, depth } = this;
    const start = endOfZeros(reader, 0, end);
    if (start === 0 || start >= end || textFormOf(reader.at(start, Math.min(LOOK_BYTES, end - start))) === undefined) return;
    if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
    const own = partOf(this.content, start, end);
    await this.steps.examineContent(walk, own, depth + 1, [...trail, `rest at ${start}`], { is_rest: true });
  }

  /** Examines bytes of an unknown format, matched from their own first byte on. */
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

/** Larger ranges are not searched for zlib streams and encoded texts. Bytes. */
const STREAMS_WITHIN_MAXIMUM = 16 * 1024 ** 2;
/** Shorter encoded runs among other bytes are names. Bytes. */
const LETTERS_LEAST = 64;
/** Least number of distinct values in a run's first 64 bytes: a repeated pattern is padding or silence. */
const DIFFERENT_LEAST = 12;
/** Maximum number of streams or literals of one content that become members. Others are joined, and matched when they reach OTHERS_BYTES. */
const STREAMS_MAXIMUM = 200;
const OTHERS_BYTES = 1024 ** 2;
