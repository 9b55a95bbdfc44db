import { Unreadable } from '#scanner/reading/member.ts';

// Macros of Word 6 and 95: WordBasic in an undocumented compiled form, within the main stream of the document. They are listed in the command table (fcCmds of
// the Word 6 FIB; MS-DOC 2.9.324 describes its successor). The bytes of protected macros are XORed with a key of one byte.

const WORD_6 = 0xa5dc;
const COMMANDS_AT = 0x118;
const TABLE = { begin: 0xff, macros: 0x01, end: 0x40 } as const;
const ENTRY_BYTES = 24;
/** Maximum total size of the macros, as a multiple of the stream size. Macros do not share bytes. */
const SHARED_MAXIMUM = 2;

/** The compiled macros of a document. @throws Unreadable if the table is damaged or of an unknown form */
export function* wordMacros(stream: Buffer): Generator<Buffer> {
  if (stream.length < COMMANDS_AT + 8 || stream.readUInt16LE(0) !== WORD_6) return;
  const at = stream.readUInt32LE(COMMANDS_AT);
  const size = stream.readUInt32LE(COMMANDS_AT + 4);
  const table = stream.subarray(at, at + size);
  if (size < 2 || (table[0] === TABLE.begin && table[1] === TABLE.end)) return;
  if (table.length < 4 || table[0] !== TABLE.begin || table[1] !== TABLE.macros) throw new Unreadable('unsupported');
  const count = table.readUInt16LE(2);
  let room = SHARED_MAXIMUM * stream.length;
  for (let index = 0; index < count; index += 1) {
    const entry = table.subarray(4 + index * ENTRY_BYTES, 4 + (index + 1) * ENTRY_BYTES);
    if (entry.length < ENTRY_BYTES) throw new Unreadable('damaged');
    const key = entry[1] ?? 0;
    const start = entry.readUInt32LE(20);
    const macro = Buffer.from(stream.subarray(start, start + entry.readUInt32LE(12)));
    room -= macro.length;
    if (room < 0) throw new Unreadable('damaged');
    for (let byte = 0; byte < macro.length; byte += 1) macro[byte] = (macro[byte] ?? 0) ^ key;
    yield macro;
  }
}
