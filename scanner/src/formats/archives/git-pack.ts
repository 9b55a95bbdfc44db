import { createHash } from 'node:crypto';
import { decompress } from '#scanner/decompression/decompress.ts';
import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// Packs of git (gitformat-pack), and bundles, which are a pack after a list of names. Objects are compressed with zlib; many are stored as a delta against
// another object.

const PACK = Buffer.from('PACK');
const BUNDLE = /^# v[23] git bundle\n/;
const BUNDLE_HEAD_BYTES_MAXIMUM = 1024 ** 2;
const HEAD_BYTES = 12;
const TRAILER_BYTES = 20;
const KINDS: Readonly<Record<number, string>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const BY_PLACE = 6;
const BY_NAME = 7;
/** Maximum size of an object. Each object is unpacked in memory, together with its base. Bytes. */
const OBJECT_BYTES_MAXIMUM = 16 * 1024 ** 2;
/** Maximum total size of the cached objects, and of the deltas of one chain. Bytes. */
const KEPT_BYTES_MAXIMUM = 48 * 1024 ** 2;
/**
 * Maximum length of a delta chain. git makes shorter ones (pack.depth is 50, gc asks for 250 at most). Objects that are not in the cache are unpacked again.
 */
const CHAIN_MAXIMUM = 4096;
const OPEN_MAXIMUM = 10_000;
/** Bytes charged to the budget for each object. */
const OBJECT_COST = 512;

function isGitPack(head: Buffer): boolean {
  return (
    (head.length >= HEAD_BYTES && head.subarray(0, 4).equals(PACK) && [2, 3].includes(head.readUInt32BE(4))) ||
    BUNDLE.test(head.toString('latin1', 0, 20))
  );
}

interface Entry {
  kind: number;
  size: number;
  /** Position of the base object, for a delta by offset. `base_name` is its hash, for a delta by name. */
  base_at: number | undefined;
  base_name: string | undefined;
  data_at: number;
}

interface Whole {
  kind: number;
  bytes: Buffer;
}

/** The objects of a pack that begins at `start`. */
class Pack {
  private readonly reader: Reader;
  private readonly budget: Budget;
  private readonly kept = new Map<number, Whole>();
  private kept_bytes = 0;
  readonly places = new Map<string, number>();

  constructor(reader: Reader, budget: Budget) {
    this.reader = reader;
    this.budget = budget;
  }

  /** Reads the header of an object. @throws Unreadable if it is invalid. */
  entryAt(at: number): Entry {
    const head = this.reader.at(at, 48);
    let next = 0;
    const byte = () => {
      const value = head[next];
      if (value === undefined) throw new Unreadable('damaged');
      next += 1;
      return value;
    };
    let last = byte();
    const kind = (last >> 4) & 7;
    let size = last & 15;
    for (let factor = 16; last >= 128; factor *= 128) {
      last = byte();
      size += (last & 127) * factor;
    }
    if (size > OBJECT_BYTES_MAXIMUM) throw new Unreadable('too_large');
    let base_at: number | undefined;
    let base_name: string | undefined;
    if (kind === BY_PLACE) {
      last = byte();
      let back = last & 127;
      while (last >= 128) {
        last = byte();
        back = (back + 1) * 128 + (last & 127);
      }
      if (back === 0 || back >= at) throw new Unreadable('damaged');
      base_at = at - back;
    } else if (kind === BY_NAME) {
      base_name = head.toString('hex', next, next + 20);
      next += 20;
    } else if (KINDS[kind] === undefined) throw new Unreadable('damaged');
    return { kind, size, base_at, base_name, data_at: at + next };
  }

  /** Unpacks the bytes of an object or of a delta. `end` is the position after the packed bytes. */
  unpack({ data_at, size }: Entry): { bytes: Buffer; end: number } {
    this.budget.spend(OBJECT_COST + size);
    // Packed bytes may be slightly longer than the unpacked ones.
    const packed = this.reader.at(data_at, size + (size >> 3) + 1024);
    const answer = decompress('zlib', packed, this.budget, { most: size });
    if (answer.kind !== 'whole' || answer.plain.length !== size) throw new Unreadable('damaged');
    return { bytes: answer.plain, end: data_at + answer.read };
  }

  /** The object at `at` with all deltas applied; undefined if a base is not in the pack. `first` is the entry at `at`, if it was unpacked already. */
  wholeAt(at: number, first?: { entry: Entry; bytes: Buffer }): Whole | undefined {
    const differences: { at: number; bytes: Buffer }[] = [];
    let whole = this.kept.get(at);
    let held = 0;
    for (let place = at; whole === undefined; ) {
      const entry = place === at && first !== undefined ? first.entry : this.entryAt(place);
      const { bytes } = place === at && first !== undefined ? first : this.unpack(entry);
      if (KINDS[entry.kind] !== undefined) {
        whole = { kind: entry.kind, bytes };
        this.keep(place, whole);
        break;
      }
      differences.push({ at: place, bytes });
      held += bytes.length;
      if (differences.length > CHAIN_MAXIMUM || held > KEPT_BYTES_MAXIMUM) throw new Unreadable('too_large');
      const base = entry.base_at ?? this.places.get(entry.base_name ?? '');
      if (base === undefined) return undefined;
      place = base;
      whole = this.kept.get(place);
    }
    for (const { at: place, bytes } of differences.reverse()) {
      whole = { kind: whole.kind, bytes: this.changed(whole.bytes, bytes) };
      this.keep(place, whole);
    }
    return whole;
  }

  /** Applies a delta to `base`. Each instruction copies a range of `base` or inserts bytes from the delta. */
  private changed(base: Buffer, instructions: Buffer): Buffer {
    let at = 0;
    const byte = () => {
      const value = instructions[at];
      if (value === undefined) throw new Unreadable('damaged');
      at += 1;
      return value;
    };
    const number = () => {
      let value = 0;
      for (let factor = 1, last = 128; last >= 128; factor *= 128) {
        last = byte();
        value += (last & 127) * factor;
      }
      return value;
    };
    if (number() !== base.length) throw new Unreadable('damaged');
    const size = number();
    if (size > OBJECT_BYTES_MAXIMUM) throw new Unreadable('too_large');
    this.budget.spend(size);
    const target = Buffer.alloc(size);
    let length = 0;
    while (at < instructions.length) {
      const code = byte();
      if (code === 0) throw new Unreadable('damaged');
      let from = at;
      let count = code;
      let source = instructions;
      if (code >= 128) {
        from = 0;
        count = 0;
        for (let bit = 0; bit < 4; bit += 1) if ((code & (1 << bit)) !== 0) from += byte() * 256 ** bit;
        for (let bit = 0; bit < 3; bit += 1) if ((code & (16 << bit)) !== 0) count += byte() * 256 ** bit;
        if (count === 0) count = 0x10000;
        source = base;
      } else at += count;
      if (from + count > source.length || length + count > size) throw new Unreadable('damaged');
      source.copy(target, length, from, from + count);
      length += count;
    }
    if (length !== size) throw new Unreadable('damaged');
    return target;
  }

  private keep(at: number, whole: Whole): void {
    if (this.kept.has(at)) return;
    this.kept.set(at, whole);
    this.kept_bytes += whole.bytes.length + OBJECT_COST;
    for (const [oldest, { bytes }] of this.kept) {
      if (this.kept_bytes <= KEPT_BYTES_MAXIMUM || oldest === at) break;
      this.kept.delete(oldest);
      this.kept_bytes -= bytes.length + OBJECT_COST;
    }
  }
}

const nameOf = ({ kind, bytes }: Whole) =>
  createHash('sha1').update(`${KINDS[kind]} ${bytes.length}\0`).update(bytes).digest('hex');

/** Position of the pack in the file: 0, or after the list of names of a bundle. */
function packStart(reader: Reader): number {
  if (reader.at(0, 4).equals(PACK)) return 0;
  const end = reader.find(Buffer.from('\n\n'), 0, BUNDLE_HEAD_BYTES_MAXIMUM);
  if (end < 0 || !reader.at(end + 2, 4).equals(PACK)) throw new Unreadable('damaged');
  return end + 2;
}

const TREE = 2;

/** The objects of a pack. Trees are matched by rules but not opened as files. @throws Unreadable, at the end, if the base of a delta is not in the pack. */
async function* gitPackMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const start = packStart(reader);
  const count = reader.at(start + 8, 4).readUInt32BE(0);
  claim(0, start + HEAD_BYTES);
  budget.announce(count);
  const pack = new Pack(reader, budget);
  const memberOf = (number: number, whole: Whole): Member => {
    const { kind, bytes } = whole;
    budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    const own = { name: `${KINDS[kind]} ${number}`, read: () => ({ content: { size: bytes.length, bytes } }) };
    return kind === TREE ? { ...own, kind: 'view' } : own;
  };
  /** Deltas whose base comes later in the pack or is missing. */
  let open: { number: number; at: number }[] = [];
  let at = start + HEAD_BYTES;
  for (let number = 1; number <= count; number += 1) {
    const entry = pack.entryAt(at);
    const { bytes, end } = pack.unpack(entry);
    const whole = pack.wholeAt(at, { entry, bytes });
    claim(at, end);
    if (whole === undefined) open.push({ number, at });
    else {
      pack.places.set(nameOf(whole), at);
      if (whole.bytes.length > 0) yield memberOf(number, whole);
    }
    if (open.length > OPEN_MAXIMUM) throw new Unreadable('too_many_members');
    at = end;
  }
  claim(at, at + TRAILER_BYTES);
  for (let is_more = true; is_more && open.length > 0; ) {
    const left: typeof open = [];
    for (const one of open) {
      const whole = pack.wholeAt(one.at);
      if (whole === undefined) left.push(one);
      else {
        pack.places.set(nameOf(whole), one.at);
        if (whole.bytes.length > 0) yield memberOf(one.number, whole);
      }
    }
    is_more = left.length < open.length;
    open = left;
  }
  // A bundle may omit bases that its recipient already has.
  if (open.length > 0) throw new Unreadable('unsupported');
}

export const gitPack = format({
  id: 'git-pack',
  media_type: 'application/x-packed',
  recognise: withBits(64, isGitPack),
  limits: 'Objects that differ from one in another pack are not read.',
  open: gitPackMembers,
});
