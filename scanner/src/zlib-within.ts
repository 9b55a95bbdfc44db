import { inflateSync, type ZlibOptions } from 'node:zlib';
import { z } from 'zod';
import { type Budget, LimitReached } from './limits.ts';

// Streams of zlib amid other bytes, as programs, databases and saved objects have them. Their head is two bytes, so that one counts only where it unpacks to its end and its checksum is right.

const FIRST = 0x78;
/** What follows the first byte at each of the four levels. */
const SECOND: ReadonlySet<number> = new Set([0x01, 0x5e, 0x9c, 0xda]);
/** What unpacks to less holds nothing that a rule looks for. Bytes. */
const LEAST = 33;
/** A quick look at what may be one. Bytes. */
const LOOK = { bytes: 1024, most: 64 * 1024 } as const;
const UNPACKED_MAXIMUM = 16 * 1024 ** 2;
/** What it costs that something turns out to be no stream, at the first look or at its end. Bytes. */
const FAILED = { look: 64 * 1024, whole: 1024 ** 2 } as const;

/** What node:zlib answers where it is asked how much it has read. */
const answerSchema = z.object({ buffer: z.instanceof(Buffer), engine: z.object({ bytesWritten: z.number() }) });

/** Unpacks what begins with the first byte, and tells how many bytes that was. @throws what `inflate` throws */
export function unpackedOf(
  inflate: (bytes: Buffer, options: ZlibOptions) => unknown,
  bytes: Buffer,
  most: number,
): { plain: Buffer; read: number } {
  const { buffer, engine } = answerSchema.parse(inflate(bytes, { maxOutputLength: most, info: true }));
  return { plain: buffer, read: engine.bytesWritten };
}

/** `end`: where it ends among the bytes. */
export interface Stream {
  start: number;
  end: number;
  plain: Buffer;
}

/** Whether what begins here unpacks as far as is looked at: random bytes do so for a few. */
function looksWell(bytes: Buffer): boolean {
  try {
    // Without its end there is no error as long as what is there is right.
    return inflateSync(bytes.subarray(0, LOOK.bytes), { maxOutputLength: LOOK.most, finishFlush: 2 }).length > 0;
  } catch (error) {
    return error instanceof RangeError;
  }
}

/** The streams in order; what one is packed in is not looked at for others. */
export function* zlibIn(bytes: Buffer, budget: Budget): Generator<Stream> {
  for (let at = bytes.indexOf(FIRST); at >= 0 && at + 8 <= bytes.length; at = bytes.indexOf(FIRST, at + 1)) {
    if (!SECOND.has(bytes[at + 1] ?? 0)) continue;
    // Blocks of the kind 3 there are none, and what is stored has its length twice.
    const kind = ((bytes[at + 2] ?? 0) >> 1) & 3;
    const is_stored = kind === 0 && (bytes.readUInt16LE(at + 3) ^ bytes.readUInt16LE(at + 5)) === 0xffff;
    if (kind === 3 || (kind === 0 && !is_stored)) continue;
    if (!looksWell(bytes.subarray(at))) {
      budget.spend(FAILED.look);
      continue;
    }
    try {
      const most = Math.min(UNPACKED_MAXIMUM, budget.memberMaximum(bytes.length - at));
      const { plain, read } = unpackedOf(inflateSync, bytes.subarray(at), most);
      budget.addUnpacked(plain.length, plain.length, read);
      if (plain.length < LEAST) continue;
      const end = at + read;
      yield { start: at, end, plain };
      at = end - 1;
    } catch (error) {
      if (error instanceof LimitReached) throw error;
      budget.spend(FAILED.whole);
    }
  }
}
