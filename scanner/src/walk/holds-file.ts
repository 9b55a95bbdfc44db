import { zlibIn } from '#scanner/decompression/zlib-within.ts';
import { HEAD_BYTES } from '#scanner/formats/format.ts';
import { isFileWhole } from '#scanner/formats/recognition.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { beginsAsDump } from '#scanner/text/sql-strings.ts';
import { hasLeafMembers, leafMembers } from './leaves.ts';
import type { Walk } from './match-content.ts';

/** Whether a picture or a sound carries data beside its own. */
function carriesMembers(walk: Walk, bytes: Buffer): boolean {
  using reader = openReader({ size: bytes.length, bytes }, walk.context.budget);
  return !leafMembers(reader).next().done;
}

/**
 * Whether bytes that were found within something else are a file that an author would hide, or hold one: a container, a program, a picture that carries something, a dump of a database with bytes in
 * it, a stream of zlib, or a container that begins somewhere in them. The one question for all bytes taken out of texts, pictures and unknown formats: others are only matched. Fewer bytes than
 * `least` are not searched for a container behind something else.
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
