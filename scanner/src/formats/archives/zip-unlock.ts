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

// The bytes of a member of a zip, decrypted and unpacked.

function packedOf(content: Content, entry: Entry): AsyncGenerator<Buffer> {
  return streamOf(content, entry.start, Math.min(content.size, entry.start + entry.packed));
}

/** Inflates what there is, the good part of damaged data too. */
function inflated(packed: AsyncIterable<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  return decompressed('deflate', packed, budget);
}

/** Unpacks bzip2. Bytes behind its end, up to that of the member, are damage. */
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

/** The content of an encrypted member. A wrong result in spite of the encryption's own check means a wrong password. */
async function* unlockedWith(content: Content, entry: Entry, password: Buffer, budget: Budget): AsyncGenerator<Buffer> {
  const { flags, aes, packed } = entry;
  // APPNOTE 6.1.6: the checksum's highest byte, or the time's where the checksum was not known yet.
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
 * The content of an encrypted member by the first form of the password that opens it. A wrong one is refused before it gives anything, but for one in 256 of the old cipher, or one in 65,536 of AES: what such a one
 * gives is kept until a form is right to the end, and only while it is small.
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
      // Bytes given out cannot be taken back, and damage is no sign of a wrong password.
      const is_locked = error instanceof Unreadable && error.detail === 'encrypted';
      if (is_locked && is_last) known.misses += 1;
      if (is_sure || !is_locked) throw error;
    }
  }
}

/** The form that opened a member of the same file, and how many members no form opened: after some of them only that one is tried. */
const opened = new WeakMap<Budget, { form: Buffer | undefined; misses: number }>();
const MISSES_MAXIMUM = 16;

/** Deriving a key costs as much as looking at so many bytes. */
const FORM_COST = 256 * 1024;
/** Deflate of a wrong password ends sooner than here. Bytes. */
const HELD_BYTES_MAXIMUM = 1024 ** 2;

/** The compression beneath the encryption. */
export function methodOf({ method, aes }: Entry): number {
  return method === METHOD.aes ? (aes?.method ?? method) : method;
}
