import { crc32 } from 'node:zlib';
import { decompressed } from '#scanner/decompression/decompress.ts';
import { bzip2Streams } from '#scanner/formats/compression/bzip2.ts';
import { gathered } from '#scanner/formats/compression/unpacked-streams.ts';
import { type Content, streamOf } from '#scanner/reading/content.ts';
import { type Budget, LimitReached } from '#scanner/reading/limits.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { passwordForms } from '#scanner/text/code-pages.ts';
import { decrypted } from './zip-crypto.ts';
import { type Entry, FLAG, METHOD } from './zip-directory.ts';

// Decrypts and unpacks the members of a zip archive.

function packedOf(content: Content, entry: Entry): AsyncGenerator<Buffer> {
  return streamOf(content, entry.start, Math.min(content.size, entry.start + entry.packed));
}

/** Inflates the data. If it is damaged, the part before the damage is given. */
function inflated(packed: AsyncIterable<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  return decompressed('deflate', packed, budget);
}

/** Unpacks bzip2. Bytes between the end of the streams and the end of the member count as damage. */
function* unpackedByBzip2(reader: Reader, entry: Entry): Generator<Buffer> {
  const packed = Math.max(0, Math.min(reader.size - entry.start, entry.packed));
  let end = 0;
  yield* bzip2Streams(
    (at, bytes) => reader.at(entry.start + at, Math.max(0, Math.min(bytes, packed - at))),
    reader.budget,
    (at) => {
      end = at;
    },
  );
  if (!entry.open_end && end < packed) throw new Unreadable('damaged');
}

export function unpacked(content: Content, reader: Reader, entry: Entry): AsyncGenerator<Buffer> {
  if (entry.method === METHOD.bzip2) return gathered(unpackedByBzip2(reader, entry));
  const packed = packedOf(content, entry);
  return entry.method === METHOD.stored ? packed : inflated(packed, reader.budget);
}

/** Decrypts a member with one password. With the old cipher, a later failure or wrong checksum also means a wrong password. */
async function* unlockedWith(content: Content, entry: Entry, password: Buffer, budget: Budget): AsyncGenerator<Buffer> {
  const { flags, aes, packed } = entry;
  // APPNOTE 6.1.6: the highest byte of the checksum, or of the time if the checksum is in a data descriptor.
  const check = (flags & FLAG.descriptor) === 0 ? entry.crc >>> 24 : entry.time >>> 8;
  const compressed = decrypted(packedOf(content, entry), { aes, check, packed }, password);
  const chunks = methodOf(entry) === METHOD.stored ? compressed : inflated(compressed, budget);
  if (aes !== undefined) {
    yield* chunks;
    return;
  }
  let crc = 0;
  try {
    for await (const chunk of chunks) {
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof LimitReached ? error : new Unreadable('encrypted');
  }
  if (!entry.open_end && crc !== entry.crc) throw new Unreadable('encrypted');
}

/**
 * Decrypts a member with the first form of the password that opens it. A wrong form usually fails before any output; 1 in 256 passes the check of the old
 * cipher, 1 in 65,536 that of AES. The output of a form is therefore held back until it ends without an error, exceeds `HELD_BYTES_MAXIMUM`, or comes from the
 * last form.
 */
export async function* unlocked(content: Content, entry: Entry, password: string, budget: Budget): AsyncGenerator<Buffer> {
  const known = opened.get(budget) ?? { form: undefined, misses: 0 };
  opened.set(budget, known);
  const first = known.form ?? Buffer.from(password);
  const forms =
    known.misses < MISSES_MAXIMUM ? [first, ...passwordForms(password).filter((form) => !form.equals(first))] : [first];
  for (const [index, form] of forms.entries()) {
    const is_last = index === forms.length - 1;
    const held: Buffer[] = [];
    let bytes = 0;
    let is_sure = is_last;
    budget.spend(FORM_COST);
    try {
      for await (const chunk of unlockedWith(content, entry, form, budget)) {
        if (is_sure) {
          yield chunk;
          continue;
        }
        held.push(chunk);
        bytes += chunk.length;
        is_sure = bytes > HELD_BYTES_MAXIMUM;
        if (is_sure) yield* held;
      }
      if (!is_sure) yield* held;
      known.form = form;
      return;
    } catch (error) {
      // Output that was given cannot be withdrawn, and damage does not mean a wrong password.
      const is_locked = error instanceof Unreadable && error.detail === 'encrypted';
      if (is_locked && is_last) known.misses += 1;
      if (is_sure || !is_locked) throw error;
    }
  }
}

/**
 * For each scan: the form that opened a member, and the number of members that no form opened. After `MISSES_MAXIMUM` of those, only the first form is tried.
 */
const opened = new WeakMap<Budget, { form: Buffer | undefined; misses: number }>();
const MISSES_MAXIMUM = 16;

/** Budget cost of deriving a key. Bytes. */
const FORM_COST = 256 * 1024;
/** Output held back per attempt. Inflating the output of a wrong password fails earlier. Bytes. */
const HELD_BYTES_MAXIMUM = 1024 ** 2;

/** The compression method of the decrypted data. */
export function methodOf({ method, aes }: Entry): number {
  return method === METHOD.aes ? (aes?.method ?? method) : method;
}
