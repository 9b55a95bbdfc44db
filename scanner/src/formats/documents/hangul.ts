import type { StatusDetail } from '@palisade/contract/antivirus';
import { decompress } from '#scanner/decompression/decompress.ts';
import { type Budget, LimitReached } from '#scanner/reading/limits.ts';

// Documents of Hangul ("Hwp Document File Formats 5.0", Hancom, 3.2): OLE files whose streams are compressed with raw deflate.

const MARK = Buffer.from('HWP Document File\0');
const FLAGS_AT = 36;
const FLAGS = { packed: 1, encrypted: 2, for_distribution: 4, locked: 0x10, certified: 0x100, drm: 0x400 } as const;
/** Streams with the text of the document, which are always compressed; others may be stored. */
const ALWAYS_PACKED = /^(?:docinfo|section\d+)$/i;

/** Properties of the document, from its stream `FileHeader`. */
export interface HangulFile {
  is_packed: boolean;
  /** Reason why the text cannot be read: the document is encrypted or in distribution form. Undefined if it can be read. */
  closed: StatusDetail | undefined;
}

/** Parses the stream `FileHeader`; undefined for another format. */
export function hangulFileOf(header: Buffer): HangulFile | undefined {
  if (header.length < FLAGS_AT + 4 || !header.subarray(0, MARK.length).equals(MARK)) return undefined;
  const flags = header.readUInt32LE(FLAGS_AT);
  const is_locked = (flags & (FLAGS.encrypted | FLAGS.locked | FLAGS.certified | FLAGS.drm)) !== 0;
  const closed = is_locked ? 'encrypted' : (flags & FLAGS.for_distribution) !== 0 ? 'unsupported' : undefined;
  return { is_packed: (flags & FLAGS.packed) !== 0, closed };
}

/** Unpacks a stream. Returns `damaged` if it cannot be unpacked but must be compressed, undefined if it may be stored. */
export function unpackedStream(name: string, bytes: Buffer, budget: Budget): Buffer | 'damaged' | undefined {
  const answer = decompress('deflate', bytes, budget, { most: budget.memberMaximum(bytes.length) });
  if (answer.kind === 'large') throw new LimitReached('bomb');
  if (answer.kind !== 'whole') return ALWAYS_PACKED.test(name) ? 'damaged' : undefined;
  budget.addUnpacked(answer.plain.length, answer.plain.length, bytes.length);
  return answer.plain;
}
