import { zlibIn } from '#scanner/decompression/zlib-within.ts';
import { HEAD_BYTES } from '#scanner/formats/format.ts';
import { isFileWhole } from '#scanner/formats/recognition.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { beginsAsDump } from '#scanner/text/sql-strings.ts';
import { hasLeafMembers, leafMembers } from './leaves.ts';
import type { Walk } from './match-content.ts';

/** Whether a picture or an audio file has embedded data. */
function carriesMembers(walk: Walk, bytes: Buffer): boolean {
  using reader = openReader({ size: bytes.length, bytes }, walk.context.budget);
  return !leafMembers(reader).next().done;
}

/**
 * Whether bytes that were found inside other content are or contain a file that may have been hidden: a container, a program, a picture with embedded data, a dump of a
 * database with binary values, a zlib stream, or a container at some offset. Decides for all bytes extracted from texts, pictures and unknown formats: if false, they are
 * only matched. Fewer than `least` bytes are not searched for containers at an offset.
 */
export function isOrHoldsFile(walk: Walk, bytes: Buffer, least = 0): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (isFileWhole(bytes, walk.context.budget) || beginsAsDump(bytes) || (hasLeafMembers(head) && carriesMembers(walk, bytes)))
    return true;
  if (!zlibIn(bytes, walk.context.budget).next().done) return true;
  if (bytes.length < least) return false;
  walk.context.budget.spend(bytes.length);
  let holds = false;
  walk.match(bytes, (_carved, offsets) => {
    holds ||= offsets.length > 0;
  });
  return holds;
}
