import { decompress } from '#scanner/decompression/decompress.ts';
import { HEAD_BYTES, type LeafMember } from '#scanner/formats/format.ts';
import { containerOf, isFileWhole } from '#scanner/formats/recognition.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { beginsAsDump, sqlStringsOf } from '#scanner/text/sql-strings.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';
import { type Run, runsOf } from '#scanner/text/text-runs.ts';

// Data embedded in content of an unknown format, or in a format without members (a leaf).

export function isTextOrFile(bytes: Buffer, budget: Budget): boolean {
  if (textFormOf(bytes.subarray(0, LOOK_BYTES))?.encoding === 'utf-8') return true;
  const container = containerOf(bytes.subarray(0, HEAD_BYTES), budget);
  return container === undefined ? isFileWhole(bytes, budget) : container.format.traits.is_weak !== true;
}

/** Data that is encoded among other bytes: as text (such as base64 or hex), or in a dump of a database. */
export function* writtenIn(bytes: Buffer): Generator<Run> {
  yield* runsOf(bytes);
  if (beginsAsDump(bytes)) yield* sqlStringsOf(bytes);
}

/** Maximum size of a member of a picture (a comment or description); a larger one is matched only with the picture. Bytes. */
const MEMBER_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** The unpacked bytes of a member; undefined if it is too large or cannot be unpacked. */
export function bytesOfMember(reader: Reader, { start, end, packed, more = [] }: LeafMember, budget: Budget): Buffer | undefined {
  const ranges = [{ start, end }, ...more];
  const size = ranges.reduce((sum, range) => sum + range.end - range.start, 0);
  if (size > MEMBER_BYTES_MAXIMUM) return undefined;
  const bytes = Buffer.concat(ranges.map((range) => reader.at(range.start, range.end - range.start)));
  if (packed !== true) return bytes;
  const most = Math.min(MEMBER_BYTES_MAXIMUM, budget.memberMaximum(bytes.length));
  const answer = decompress('zlib', bytes, budget, { most });
  if (answer.kind !== 'whole') return undefined;
  budget.addUnpacked(answer.plain.length, answer.plain.length, bytes.length);
  return answer.plain;
}
