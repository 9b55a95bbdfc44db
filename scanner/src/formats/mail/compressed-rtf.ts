import type { Budget } from '#scanner/reading/limits.ts';

// Compressed RTF of Outlook messages (MS-OXRTFCP 2.1 and 3.1).

const HEADER_BYTES = 16;
const COMPRESSED = 'LZFu';
const PLAIN = 'MELA';
const DICTIONARY = Buffer.concat(
  [
    Buffer.from(
      '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
      'latin1',
    ),
  ],
  4096,
);
const DICTIONARY_FILLED = 207;
/** Maximum number of bytes that a two-byte reference copies. */
const COPIED_MAXIMUM = 17;

export function isCompressedRtf(bytes: Buffer): boolean {
  const magic = bytes.toString('latin1', 8, 12);
  return bytes.length > HEADER_BYTES && (magic === COMPRESSED || magic === PLAIN);
}

/** Unpacks the RTF; undefined if the bytes are not compressed RTF. If it is damaged, the bytes before the damage are returned. */
export function lzfuText(bytes: Buffer, budget: Budget): Buffer | undefined {
  if (!isCompressedRtf(bytes)) return undefined;
  const packed = bytes.subarray(HEADER_BYTES);
  if (bytes.toString('latin1', 8, 12) === PLAIN) return packed;
  budget.spend(packed.length);
  const dictionary = Buffer.from(DICTIONARY);
  const target = Buffer.allocUnsafe(Math.ceil(packed.length / 17) * 8 * COPIED_MAXIMUM + COPIED_MAXIMUM * 8);
  let written = DICTIONARY_FILLED;
  let length = 0;
  const put = (byte: number) => {
    target[length++] = byte;
    dictionary[written] = byte;
    written = (written + 1) % dictionary.length;
  };
  for (let at = 0; at < packed.length; ) {
    const flags = packed[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < packed.length; bit += 1) {
      if ((flags & (1 << bit)) === 0) {
        put(packed[at++] ?? 0);
        continue;
      }
      if (at + 2 > packed.length) {
        at = packed.length;
        break;
      }
      const reference = packed.readUInt16BE(at);
      at += 2;
      const from = reference >>> 4;
      // A reference to the write position ends the data.
      if (from === written) {
        at = packed.length;
        break;
      }
      for (let copied = 0; copied < (reference & 15) + 2; copied += 1) put(dictionary[(from + copied) % dictionary.length] ?? 0);
    }
  }
  budget.addUnpacked(length, length, packed.length);
  return target.subarray(0, length);
}
