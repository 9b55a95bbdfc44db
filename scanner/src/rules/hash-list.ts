import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

// A list of SHA-256 sums as one file that is searched on disk, so that a million entries take 256 KiB of an engine process:
//   magic (8) | count (u32) | fan-out (65,537 x u32: number of sums before those that begin with these two bytes)
//   | sums, sorted (32 each) | offsets of names (u32 each, NO_NAME for none) | names (u16 length, UTF-8)

const MAGIC = Buffer.from('PALSHA01', 'latin1');
const SUM_BYTES = 32;
const FANOUT = 65_536;
const FANOUT_START = MAGIC.length + 4;
const SUMS_START = FANOUT_START + (FANOUT + 1) * 4;
/** Maximum number of sums that are read at once. */
const BUCKET_MAXIMUM = 256;
const NO_NAME = 0xffffffff;
const NAME_CHARACTERS_MAXIMUM = 100;
const LINE_CHARACTERS_MAXIMUM = 1_000;
/** This many take 180 MB on disk. */
const ENTRIES_MAXIMUM = 5_000_000;

/** A list's entry for a sum. */
interface ListedHash {
  /** Null if the list gives no name. */
  name: string | null;
}

export interface HashList {
  count: number;
  /** `sha256` in hex. */
  find(sha256: string): ListedHash | undefined;
  close(): void;
}

/** A list cannot be used. The message is a sentence for an administrator. */
export class BadHashList extends Error {
  override name = 'BadHashList';
}

/** A growing array of sums with the offsets of their names. */
class Entries {
  count = 0;
  sums = Buffer.allocUnsafe(SUM_BYTES * 4096);
  refs = new Uint32Array(4096);

  add(hex: string, ref: number): void {
    if (this.count === this.refs.length) {
      const sums = Buffer.allocUnsafe(this.sums.length * 2);
      this.sums.copy(sums);
      this.sums = sums;
      const refs = new Uint32Array(this.refs.length * 2);
      refs.set(this.refs);
      this.refs = refs;
    }
    this.sums.write(hex, this.count * SUM_BYTES, 'hex');
    this.refs[this.count] = ref;
    this.count += 1;
  }

  sum(index: number): Buffer {
    return this.sums.subarray(index * SUM_BYTES, (index + 1) * SUM_BYTES);
  }

  /** Indices sorted by their sums; of equal sums the one added first comes first. */
  sorted(): Uint32Array {
    const order = new Uint32Array(this.count).map((_, index) => index);
    const starts = new Uint32Array(FANOUT + 1);
    const prefix = (index: number) => this.sums.readUInt16BE(index * SUM_BYTES);
    for (const index of order) starts[prefix(index) + 1] = (starts[prefix(index) + 1] ?? 0) + 1;
    for (let at = 1; at <= FANOUT; at++) starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0);
    const next = starts.slice();
    const sorted = new Uint32Array(this.count);
    for (const index of order) {
      const at = next[prefix(index)] ?? 0;
      sorted[at] = index;
      next[prefix(index)] = at + 1;
    }
    for (let at = 0; at < FANOUT; at++) {
      sorted.subarray(starts[at], starts[at + 1]).sort((one, other) => this.sum(one).compare(this.sum(other)) || one - other);
    }
    return sorted;
  }
}

/** A name from a list, cleaned for display; null if there is none. */
function nameOf(rest: string): string | null {
  const name = rest
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .trim();
  return name === '' || name.startsWith('#') || /^n\/a$/i.test(name) ? null : name.slice(0, NAME_CHARACTERS_MAXIMUM);
}

/** The fields of a line of CSV (RFC 4180), with the separators that lists use. */
function fieldsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|[,;\t|])\s*(?:"((?:[^"]|"")*)"|([^,;\t|]*))/g)].map(([, quoted, plain = '']) =>
    (quoted?.replaceAll('""', '"') ?? plain).trim(),
  );
}

/** Indices of the columns that have sums and names. */
interface Columns {
  sum: number;
  /** -1 if there is none. */
  name: number;
}

const SUM_COLUMN = /^sha-?256/i;
/** The first of these that is present gives the names: abuse.ch calls the family `signature`. */
const NAME_COLUMNS = [/^signature$/i, /^(malware|threat|family)/i, /^(name|tag)/i];

/** The columns that a header line names; undefined for other lines. Some lists write the header as a comment. */
function columnsOf(line: string): Columns | undefined {
  const fields = fieldsOf(line.replace(/^(#|;|\/\/)+\s*/, ''));
  const sum = fields.findIndex((field) => SUM_COLUMN.test(field));
  if (sum < 0 || fields.length < 2) return undefined;
  const name = NAME_COLUMNS.map((pattern) => fields.findIndex((field) => pattern.test(field))).find((found) => found >= 0);
  return { sum, name: name ?? -1 };
}

const SUM = /^[0-9a-f]{64}$/i;

/** Parses a line: a sum followed by a name, or fields in columns. Undefined if there is no sum. */
function entryOf(text: string, columns: Columns | undefined): { hex: string; name: string | null } | undefined {
  if (columns !== undefined) {
    const fields = fieldsOf(text);
    const hex = fields[columns.sum] ?? '';
    if (SUM.test(hex)) return { hex, name: nameOf(fields[columns.name] ?? '') };
  }
  const [, hex, rest = ''] = /^"?([0-9a-f]{64})"?(?:[\s,;:|*]+(.*))?$/i.exec(text) ?? [];
  if (hex !== undefined) return { hex, name: nameOf(rest.includes('"') ? (fieldsOf(rest)[0] ?? '') : rest) };
  const anywhere = fieldsOf(text).find((field) => SUM.test(field));
  return anywhere === undefined ? undefined : { hex: anywhere, name: null };
}

/** Options for reading a list. */
export interface ListRules {
  /** A line without a sum makes the list invalid. If false, such lines are left out. */
  strict: boolean;
  /** Sums (lowercase hex) of harmless content, which are left out. */
  except: ReadonlySet<string>;
}

/** The entries of a list that were left out. */
export interface ListLeftOut {
  lines: number;
  sums: string[];
}

async function readEntries(source: string, { strict, except }: ListRules) {
  const left_out: ListLeftOut = { lines: 0, sums: [] };
  let columns: Columns | undefined;
  let first_bad: number | undefined;
  const entries = new Entries();
  const places = new Map<string, number>();
  const names: Buffer[] = [];
  let names_bytes = 0;
  const place = (name: string): number => {
    const known = places.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(name);
    const length = Buffer.alloc(2);
    length.writeUInt16LE(bytes.length);
    names.push(length, bytes);
    places.set(name, names_bytes);
    names_bytes += length.length + bytes.length;
    return names_bytes - length.length - bytes.length;
  };
  let line_number = 0;
  for await (const line of createInterface({ input: createReadStream(source), crlfDelay: Number.POSITIVE_INFINITY })) {
    line_number += 1;
    const text = line.slice(0, LINE_CHARACTERS_MAXIMUM).trim();
    if (text === '') continue;
    const named = entries.count === 0 ? columnsOf(text) : undefined;
    if (named !== undefined) columns = named;
    if (named !== undefined || /^(#|;|\/\/)/.test(text)) continue;
    const entry = entryOf(text, columns);
    if (entry === undefined) {
      first_bad ??= line_number;
      left_out.lines += 1;
      if (strict) throw new BadHashList(`Line ${line_number} of the list has no SHA-256 in hex.`);
      continue;
    }
    if (!strict && except.has(entry.hex.toLowerCase())) {
      left_out.sums.push(entry.hex.toLowerCase());
      continue;
    }
    if (entries.count >= ENTRIES_MAXIMUM) throw new BadHashList(`The list has more than ${ENTRIES_MAXIMUM} entries.`);
    entries.add(entry.hex, entry.name === null ? NO_NAME : place(entry.name));
  }
  if (entries.count === 0 && first_bad !== undefined)
    throw new BadHashList(`Line ${first_bad} of the list has no SHA-256 in hex.`);
  return { entries, names: Buffer.concat(names), left_out };
}

/**
 * Converts a text file (one SHA-256 in hex per line, optionally followed by a name, or columns of CSV; `#`, `;` and `//` begin a comment) into the file
 * that `openHashList` reads. Returns what it left out.
 * @throws BadHashList for a list without an entry.
 */
export async function buildHashList(source: string, target: string, rules: ListRules): Promise<ListLeftOut> {
  const { entries, names, left_out } = await readEntries(source, rules);
  const order = entries
    .sorted()
    .filter((index, at, all) => at === 0 || !entries.sum(index).equals(entries.sum(all[at - 1] ?? 0)));
  if (order.length === 0) throw new BadHashList('The list holds no SHA-256.');
  const head = Buffer.alloc(SUMS_START);
  MAGIC.copy(head);
  head.writeUInt32LE(order.length, MAGIC.length);
  const sums = Buffer.allocUnsafe(order.length * SUM_BYTES);
  const refs = Buffer.allocUnsafe(order.length * 4);
  let filled = 0;
  for (const [at, index] of order.entries()) {
    const sum = entries.sum(index);
    for (const prefix = sum.readUInt16BE(0); filled <= prefix; filled++) head.writeUInt32LE(at, FANOUT_START + filled * 4);
    sum.copy(sums, at * SUM_BYTES);
    refs.writeUInt32LE(entries.refs[index] ?? NO_NAME, at * 4);
  }
  for (; filled <= FANOUT; filled++) head.writeUInt32LE(order.length, FANOUT_START + filled * 4);
  const file = await open(target, 'wx', 0o600);
  try {
    for (const part of [head, sums, refs, names]) await file.writeFile(part);
  } finally {
    await file.close();
  }
  return left_out;
}

/**
 * Opens a list for searching. A search takes few short reads of the file.
 * @throws when the file was not written by `buildHashList`.
 */
export function openHashList(path: string): HashList {
  const file = openSync(path, 'r');
  const read = (position: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafe(length);
    if (readSync(file, bytes, 0, length, position) < length) throw new Error('The hash list is shorter than it says.');
    return bytes;
  };
  try {
    const head = read(0, SUMS_START);
    if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('The file is not a hash list.');
    const count = head.readUInt32LE(MAGIC.length);
    const refs_start = SUMS_START + count * SUM_BYTES;
    const names_start = refs_start + count * 4;
    return {
      count,
      find(sha256) {
        const sum = Buffer.from(sha256, 'hex');
        if (sum.length !== SUM_BYTES) throw new Error('Asked for what is not a SHA-256.');
        const prefix = sum.readUInt16BE(0);
        let first = head.readUInt32LE(FANOUT_START + prefix * 4);
        let after = head.readUInt32LE(FANOUT_START + (prefix + 1) * 4);
        // Sums are evenly distributed: of a million, 16 have the same first two bytes. A larger bucket is narrowed by binary search.
        while (after - first > BUCKET_MAXIMUM) {
          const middle = Math.floor((first + after) / 2);
          if (read(SUMS_START + middle * SUM_BYTES, SUM_BYTES).compare(sum) <= 0) first = middle;
          else after = middle;
        }
        if (after === first) return undefined;
        const bucket = read(SUMS_START + first * SUM_BYTES, (after - first) * SUM_BYTES);
        for (let at = 0; at < bucket.length; at += SUM_BYTES) {
          if (!bucket.subarray(at, at + SUM_BYTES).equals(sum)) continue;
          const ref = read(refs_start + (first + at / SUM_BYTES) * 4, 4).readUInt32LE();
          if (ref === NO_NAME) return { name: null };
          const length = read(names_start + ref, 2).readUInt16LE();
          return { name: read(names_start + ref + 2, length).toString('utf8') };
        }
        return undefined;
      },
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The threat of an entry without a name. */
const UNNAMED_THREAT = 'Known-Malware';

/** The threat that the first list with this sum names; undefined if no list has it. */
export function findHash(lists: readonly HashList[], sha256: string): string | undefined {
  for (const list of lists) {
    const found = list.find(sha256);
    if (found !== undefined) return found.name ?? UNNAMED_THREAT;
  }
  return undefined;
}
