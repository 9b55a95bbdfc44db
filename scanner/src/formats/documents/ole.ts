import type { StatusDetail } from '@palisade/contract/antivirus';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { byMarks, format, hexMark, patternOf } from '#scanner/formats/format.ts';
import { isCompressedRtf, lzfuText } from '#scanner/formats/mail/compressed-rtf.ts';
import { type Content, MEMORY_BYTES_MAXIMUM } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type MemberBody, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { Ranges } from '#scanner/reading/ranges.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';
import { type HangulFile, hangulFileOf, unpackedStream } from './hangul.ts';
import { isLockedStream } from './locked-office.ts';
import { openedPackage } from './office-lock.ts';
import { nativeMembers, nativeRange } from './ole-native.ts';
import { bytesOf, type Chain, chainOf, fatOf, HEADER, isZeros, miniOf, partOfChain, SHARED_MAXIMUM } from './ole-sectors.ts';
import { macroSources } from './vba.ts';
import { hiddenCode, isModule, isOldProject } from './vba-pcode.ts';
import { wordMacros } from './word-basic.ts';
import { openedWorkbook } from './xls-lock.ts';
import { isWorkbook, xlsMacros } from './xls-macros.ts';

// A reader of its own, because Office opens files with truncated sectors or a wrong directory, and malicious documents use this. Every stream of a directory
// entry is read, even if the tree does not lead to it. Numbers in comments are sections of MS-CFB 12.0.

/** A directory entry (2.6.1). */
const ENTRY = struct('little', {
  name: 64,
  name_bytes: 'u16',
  type: 'u8',
  color: 'u8',
  left: 'u32',
  right: 'u32',
  child: 'u32',
  class_id: 16,
  state: 'u32',
  created: 8,
  modified: 8,
  first_sector: 'u32',
  size: 'u32',
  size_above: 'u32',
});
const ROOT = 5;
const STREAM = 2;
/** Names of streams that show that the whole document is encrypted. Their content is not scanned. */
const LOCKED = /^(encryptedpackage|encryptedsummary|\tdrmcontent|\tdrmviewercontent)$/i;
const NATIVE = '\x01ole10native';

/** The signs of an encrypted stream are in its first bytes. */
const BEGINNING_BYTES = 64 * 1024;

/** Minimum size of an unused range; shorter ones are the rest of a sector after the end of a stream. Bytes. */
const UNUSED_LEAST = 64;
const UNUSED_MAXIMUM = 1000;

/**
 * Sectors that no stream uses: free sectors, and the rest of a sector after the end of a stream. Programs leave earlier data there, so the content may be
 * anything and is not damage.
 */
function* unusedMembers(reader: Reader, claimed: Ranges, end: number, { claim }: ReadContext): Generator<Member> {
  let given = 0;
  for (const gap of claimed.gaps()) {
    const [from, to] = [gap.start, Math.min(gap.end, end)];
    if (from >= to) continue;
    claim(from, to);
    if (to - from < UNUSED_LEAST || given === UNUSED_MAXIMUM || isZeros(reader, from, to)) continue;
    given += 1;
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* reader.chunks(from, to);
    }
    yield { name: `unused, at ${from}`, read: () => ({ stream: pieces(), packed_bytes: to - from }) };
  }
}

/** Scan notes about macro code that could not be read, by the state of its source. */
const HIDDEN = { missing: 'macro.without_source', differs: 'macro.other_source', unknown: 'macro.old_form' } as const;

/** A text that a reader generated, which only rules examine. */
function textView(name: string, text: string, budget: Budget, damage?: StatusDetail): Member {
  const bytes = Buffer.from(text);
  budget.addUnpacked(bytes.length, bytes.length, bytes.length);
  return { name, kind: 'view', read: () => ({ content: { size: bytes.length, bytes }, damage }) };
}

/** Maximum total length of the cell texts of a workbook. UTF-16 code units. */
const CELLS_CHARACTERS_MAXIMUM = 4 * 1024 ** 2;
/** Minimum length of a cell text that may be a file, and maximum number of such texts that are matched separately. */
const CELL = { characters_least: 33, alone: 500 } as const;

/** The cell texts of a workbook: long ones separately, and all of them as lines of one text. */
class CellTexts {
  private readonly lines: string[] = [];
  private characters = 0;

  add(text: string): void {
    if (this.characters > CELLS_CHARACTERS_MAXIMUM) return;
    this.lines.push(text);
    this.characters += text.length;
  }

  *all(): Generator<string> {
    yield* this.lines.filter(({ length }) => length >= CELL.characters_least).slice(0, CELL.alone);
    if (this.lines.length > 1) yield this.lines.join('\n');
  }
}

const NOTHING: MemberBody = { content: { size: 0, bytes: Buffer.alloc(0) } };

/** The macros of a document of Word 6 or 95, as raw bytes. Strings are readable in them. */
function* wordBasic(name: string, document: Buffer, { budget, note }: ReadContext): Generator<Member> {
  let number = 0;
  try {
    for (const bytes of wordMacros(document)) {
      number += 1;
      if (number === 1) note(scanPhrase('macro.word_basic', {}));
      budget.addUnpacked(bytes.length, bytes.length, bytes.length);
      yield {
        name: `${name} (macro ${number})`,
        read: () => ({ content: { size: bytes.length, bytes }, damage: 'unsupported' }),
      };
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    yield { name: `${name} (macros)`, closed: error.detail, read: () => NOTHING };
  }
}

interface Entry {
  name: string;
  type: number;
  start: number;
  size: number;
}

/** The directory of an OLE file, and the chains of its streams. */
interface Directory {
  count: number;
  entryAt(index: number): Entry;
  /** The chain of a stream for its first `bytes`, by default for all. */
  chainOf(stream: Entry, bytes?: number): Chain;
  /** Identifies the location of a stream: streams with the same value have the same bytes. */
  placeOf(stream: Entry, chain: Chain): string;
  /** Position after the last sector that the FAT describes. */
  end: number;
  damaged: boolean;
}

/** Reads the sector tables and the directory, and claims them. @throws Unreadable */
function directoryOf(reader: Reader, claim: (start: number, end: number) => void, claimChain: (chain: Chain) => void): Directory {
  const header = HEADER.read(reader.at(0, HEADER.bytes));
  if (header === undefined) throw new Unreadable('damaged');
  const { sector_shift: shift, mini_sector_shift: mini_shift, mini_stream_below: cutoff } = header;
  if (shift < 7 || shift > 16 || mini_shift < 4 || mini_shift >= shift) throw new Unreadable('damaged');
  const { fat, own, known, damaged: is_fat_damaged } = fatOf(reader, header, 1 << shift);
  claim(0, 1 << shift);
  for (const sector of own) claim(fat.at(sector), fat.at(sector + 1));
  const directory = chainOf(fat, header.first_directory_sector, reader.size);
  claimChain(directory);
  const entries = bytesOf(reader, directory);
  const entryAt = (index: number): Entry => {
    const entry = ENTRY.read(entries, index * ENTRY.bytes);
    if (entry === undefined) throw new Unreadable('damaged');
    const name_bytes = Math.min(64, Math.max(0, entry.name_bytes - 2));
    return {
      name: entry.name.toString('utf16le', 0, name_bytes),
      type: entry.type,
      start: entry.first_sector,
      // The upper half of the size is undefined in files with 512-byte sectors.
      size: entry.size + (shift > 9 ? entry.size_above * 2 ** 32 : 0),
    };
  };
  const count = Math.floor(entries.length / ENTRY.bytes);
  let root_start: number | undefined;
  for (let index = 0; index < count && root_start === undefined; index += 1) {
    const { type, start } = entryAt(index);
    if (type === ROOT) root_start = start;
  }
  if (root_start === undefined) throw new Unreadable('damaged');
  const { mini, list, damaged: is_mini_damaged } = miniOf(reader, fat, header, root_start, 1 << mini_shift);
  claimChain(list);
  return {
    count,
    entryAt,
    chainOf: ({ start, size }, bytes = size) => chainOf(size < cutoff ? mini : fat, start, Math.min(size, bytes)),
    placeOf: ({ start, size }, chain) => `${size < cutoff ? 'mini' : 'sector'} ${start}, ${chain.size}`,
    end: fat.at(known),
    damaged: is_fat_damaged || directory.damaged || is_mini_damaged,
  };
}

/** The streams of a directory whose name in lower case is `name`. */
function* streamsNamed({ count, entryAt }: Directory, name: string): Generator<Entry> {
  for (let index = 0; index < count; index += 1) {
    const entry = entryAt(index);
    if (entry.type === STREAM && entry.name.toLowerCase() === name) yield entry;
  }
}

const PROJECT_HEAD_BYTES = 16;

/** Whether the file has a macro project compiled by Visual Basic before version 6. */
function isOldIn(reader: Reader, directory: Directory): boolean {
  for (const entry of streamsNamed(directory, '_vba_project'))
    if (isOldProject(bytesOf(reader, directory.chainOf(entry, PROJECT_HEAD_BYTES)))) return true;
  return false;
}

/** The properties of a Hangul document; undefined for other files. */
function hangulIn(reader: Reader, directory: Directory): HangulFile | undefined {
  for (const entry of streamsNamed(directory, 'fileheader'))
    return hangulFileOf(bytesOf(reader, directory.chainOf(entry, HEADER.bytes)));
  return undefined;
}

/** A stream of a Hangul document, if it is compressed, as an unpacked member. */
function* hangulMembers(name: string, bytes: Buffer, budget: Budget): Generator<Member> {
  const plain = unpackedStream(name, bytes, budget);
  if (plain === undefined) return;
  if (plain === 'damaged') yield { name: `${name} (unpacked)`, closed: 'damaged', read: () => NOTHING };
  else yield { name: `${name} (unpacked)`, read: () => ({ content: { size: plain.length, bytes: plain } }) };
}

/** The decrypted document of an encrypted package; undefined if it cannot be decrypted. */
function packageIn(reader: Reader, directory: Directory, locked: Chain, { password, budget }: ReadContext): Buffer | undefined {
  if (locked.size > MEMORY_BYTES_MAXIMUM) return undefined;
  for (const entry of streamsNamed(directory, 'encryptioninfo')) {
    if (entry.size > BEGINNING_BYTES) continue;
    return openedPackage(bytesOf(reader, directory.chainOf(entry)), bytesOf(reader, locked), password, budget);
  }
  return undefined;
}

/** A member with bytes that were decrypted here. */
function opened(name: string, bytes: Buffer, { budget }: ReadContext): Member {
  budget.addUnpacked(bytes.length, bytes.length, bytes.length);
  return { name: `${name} (opened)`, read: () => ({ content: { size: bytes.length, bytes } }) };
}

function* piecesOf(reader: Reader, { runs }: Chain): Generator<Buffer> {
  for (const { position, length } of runs) yield* reader.chunks(position, position + length);
}

async function* streamed(reader: Reader, chain: Chain): AsyncGenerator<Buffer> {
  yield* piecesOf(reader, chain);
}

function* sheetsOf(name: string, head: Buffer, stream: Iterable<Buffer>, { budget, note }: ReadContext): Generator<Member> {
  const cells = new CellTexts();
  const sheets = xlsMacros(head, stream, budget, (text) => cells.add(text));
  for (const text of cells.all()) yield { ...textView(`${name} (cells)`, text, budget), kind: 'alone' };
  if (sheets === undefined) return;
  if (sheets.is_cut) note(scanPhrase('macro.long_sheets', {}));
  yield textView(`${name} (macro sheets)`, sheets.text, budget, sheets.is_cut ? 'too_large' : undefined);
}

/** Members of a stream too large for memory. It is read in pieces where possible; readers that need all of it are skipped with a note. */
function* largeMembers(reader: Reader, name: string, chain: Chain, context: ReadContext): Generator<Member> {
  const [first] = chain.runs;
  const head = first === undefined ? Buffer.alloc(0) : reader.at(first.position, Math.min(first.length, BEGINNING_BYTES));
  const is_locked = isLockedStream(name, head);
  if (is_locked) yield { name: `${name} (text)`, closed: 'encrypted', read: () => NOTHING };
  yield { name, read: () => ({ stream: streamed(reader, chain), packed_bytes: chain.size }) };
  if (isWorkbook(head) && !is_locked) yield* sheetsOf(name, head, piecesOf(reader, chain), context);
  // Real macros and mail texts are shorter, so these are not unpacked.
  if (isModule(head)) yield { name: `${name} (compiled macro)`, closed: 'too_large', read: () => NOTHING };
  if (isCompressedRtf(head)) yield { name: `${name} (text)`, closed: 'too_large', read: () => NOTHING };
  if (!name.toLowerCase().startsWith(NATIVE)) return;
  const file = nativeRange(head, chain.size);
  const part = partOfChain(chain, file.start, file.end);
  yield { name: file.name, read: () => ({ stream: streamed(reader, part), packed_bytes: part.size }) };
}

/** The contents of a stream in memory: a decrypted workbook, cells, macros, the text of a mail, and embedded files. */
function* membersWithin(name: string, bytes: Buffer, is_old: boolean, context: ReadContext): Generator<Member> {
  const { budget } = context;
  let workbook = bytes;
  if (isLockedStream(name, bytes)) {
    budget.spend(bytes.length * 2);
    const plain = openedWorkbook(bytes, context.password);
    if (plain === undefined) yield { name: `${name} (text)`, closed: 'encrypted', read: () => NOTHING };
    else {
      workbook = plain;
      yield opened(name, plain, context);
    }
  }
  yield* sheetsOf(name, workbook, [workbook], context);
  const rtf = lzfuText(bytes, budget);
  if (rtf !== undefined) yield { name: `${name} (text)`, read: () => ({ content: { size: rtf.length, bytes: rtf } }) };
  if (name.toLowerCase().startsWith(NATIVE)) yield* nativeMembers(bytes, budget);
  const sources: Buffer[] = [];
  for (const { bytes: macro, packed_bytes, is_cut } of macroSources(bytes, budget)) {
    sources.push(macro);
    budget.addUnpacked(macro.length, macro.length, packed_bytes);
    const content = { size: macro.length, bytes: macro };
    yield { name: `${name} (macro)`, read: () => ({ content, damage: is_cut ? 'too_large' : undefined }) };
  }
  if (name.toLowerCase() === 'worddocument') yield* wordBasic(name, bytes, context);
  const hidden = hiddenCode(bytes, sources, is_old);
  if (hidden === undefined) return;
  context.note(scanPhrase(HIDDEN[hidden.source], {}));
  yield textView(`${name} (compiled macro)`, `${hidden.texts.join('\n')}\n`, budget, 'unsupported');
}

/** The streams of an OLE file, each followed by the contents extracted from it. @throws Unreadable `damaged`, at the end, if a chain of sectors is damaged. */
async function* oleMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const { budget } = context;
  using reader = openReader(content, budget);
  const claimed = new Ranges(reader.size);
  const claim = (start: number, end: number) => {
    claimed.add(start, end);
    context.claim(start, end);
  };
  const claimChain = ({ runs }: Chain) => {
    for (const { position, length } of runs) claim(position, position + length);
  };
  const directory = directoryOf(reader, claim, claimChain);
  let { damaged } = directory;
  const is_old = isOldIn(reader, directory);
  const hangul = hangulIn(reader, directory);
  if (hangul?.closed !== undefined) yield { name: 'text', closed: hangul.closed, read: () => NOTHING };
  let given = 0;
  /** Locations of the streams that were given. */
  const places = new Set<string>();
  for (let index = 0; index < directory.count; index += 1) {
    const entry = directory.entryAt(index);
    const { name, type, size } = entry;
    if (type !== STREAM || size === 0) continue;
    const chain = directory.chainOf(entry, reader.size);
    claimChain(chain);
    if (LOCKED.test(name)) {
      const plain = name.toLowerCase() === 'encryptedpackage' ? packageIn(reader, directory, chain, context) : undefined;
      yield plain === undefined ? { name, closed: 'encrypted', read: () => NOTHING } : opened(name, plain, context);
      continue;
    }
    given += chain.size;
    if (given > SHARED_MAXIMUM * reader.size) throw new Unreadable('damaged');
    const { position = 0, length = 0 } = chain.runs.at(-1) ?? {};
    damaged ||= chain.damaged || chain.size < size || position + length > reader.size;
    if (chain.size > MEMORY_BYTES_MAXIMUM) {
      yield* largeMembers(reader, name, chain, context);
      continue;
    }
    const bytes = bytesOf(reader, chain);
    budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    const body: MemberBody = { content: { size: bytes.length, bytes }, damage: bytes.length < size ? 'damaged' : undefined };
    // Streams at the same location have the same bytes, which are given once. The name may still change how they are interpreted.
    const place = directory.placeOf(entry, chain);
    if (!places.has(place)) yield { name, taken: ['vba'], read: () => body };
    places.add(place);
    if (hangul?.is_packed && hangul.closed === undefined) yield* hangulMembers(name, bytes, budget);
    yield* membersWithin(name, bytes, is_old, context);
  }
  yield* unusedMembers(reader, claimed, directory.end, context);
  if (damaged) throw new Unreadable('damaged');
}

const OLE = hexMark('d0cf11e0a1b11ae1');

/** Whether the header has the valid byte order and sector size (MS-CFB 2.2). */
function provesOle(reader: Reader, at: number): boolean {
  const head = HEADER.read(reader.at(at, HEADER.bytes));
  return head?.byte_order === 0xfffe && [9, 12].includes(head.sector_shift);
}

export const oleDocument = format({
  id: 'ole',
  media_type: 'application/x-ole-storage',
  recognise: byMarks([OLE]),
  carve: [{ pattern: patternOf(OLE), proves: provesOle }],
  limits:
    'Documents behind a password (except workbooks) and with rights are not read. Nor are macros of Word 6 and 95 and of Visual Basic before version 5.',
  open: oleMembers,
});
