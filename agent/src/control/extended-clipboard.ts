import { deflateSync, inflateSync, constants as ZLIB } from 'node:zlib';

// Extended clipboard of RFB (rfbproto, "Extended Clipboard Pseudo-Encoding"): its text is UTF-8. The text of plain clipboard messages is Latin-1.

export const EXTENDED_CLIPBOARD = 0xc0a1e5ce | 0;

const TEXT = 1;
const FORMATS = 0xffff;
const CAPABILITIES = 1 << 24;
const REQUEST = 1 << 25;
const PEEK = 1 << 26;
const NOTIFY = 1 << 27;
const PROVIDE = 1 << 28;
const ACTIONS = CAPABILITIES | REQUEST | PEEK | NOTIFY | PROVIDE;

function u32(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number >>> 0, index * 4);
  return bytes;
}

/** Decompresses the text of a "provide" message; undefined for damaged data and for more than `longest` decompressed bytes. */
function providedText(packed: Buffer, longest: number): Buffer | undefined {
  try {
    // Both sides end the stream with a sync flush and no final block. Text is the first format in the data.
    const bytes = inflateSync(packed, { maxOutputLength: longest + 4, finishFlush: ZLIB.Z_SYNC_FLUSH });
    const text = bytes.subarray(4);
    return bytes.readUInt32BE(0) === text.length ? Buffer.from(text.toString('utf8')) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the body of an extended message with text as its only format; undefined if it must not pass. Capabilities carry no content: they pass without the grant of
 * the clipboard, because each side sends them once.
 */
export function passableClipboard(
  body: Buffer,
  { isGranted, longest }: { isGranted: boolean; longest: number },
): Buffer | undefined {
  if (body.length < 4) return undefined;
  const flags = body.readInt32BE(0);
  const action = flags & ACTIONS;
  const text = flags & TEXT;
  if ((action & CAPABILITIES) !== 0) {
    let formats = 0;
    for (let bit = 1; bit <= FORMATS; bit <<= 1) if ((flags & bit) !== 0) formats += 1;
    if (body.length !== 4 + 4 * formats) return undefined;
    return text === 0 ? u32(action) : u32(action | TEXT, Math.min(body.readUInt32BE(4), longest));
  }
  if (!isGranted) return undefined;
  if (action === REQUEST || action === PEEK || action === NOTIFY) return body.length === 4 ? u32(action | text) : undefined;
  if (action !== PROVIDE || text === 0) return undefined;
  const provided = providedText(body.subarray(4), longest);
  return provided && Buffer.concat([u32(action | TEXT), deflateSync(Buffer.concat([u32(provided.length), provided]))]);
}
