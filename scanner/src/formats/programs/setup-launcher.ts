import { closedFormat, format, patternOf, spelled } from '#scanner/formats/format.ts';
import { type Content, openSource, streamOf } from '#scanner/reading/content.ts';
import { decodeName, type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Data after InstallShield launchers (setup.exe around an .msi): a header, then for each file a record and its content, compressed with zlib and obfuscated
// with its name. The format is unpublished; the records follow ClamAV (ismsi) and ISx, and were tested with the files of clamav-testfiles.

const MAGIC = Buffer.from('InstallShield\0');
const HEAD = struct('little', { magic: MAGIC.length, files: 'u16', kind: 'u32', unknown: 26 });
const RECORD = struct('little', { name: 260, flags: 'u32', unknown: 4, size: 'u32', rest: 40 });
/** Maximum number of files; real setups have fewer. */
const FILES_MAXIMUM = 10_000;
/** The key is the file name XORed with these bytes. */
const KEY = [0xec, 0xca, 0x79, 0xf8] as const;
const FLAG = { hidden: 2, in_blocks: 4 } as const;
/** The key restarts with each block of this size. Bytes. */
const BLOCK_BYTES = 1024;
const READ_BYTES = 64 * BLOCK_BYTES;

/** Whether a setup begins here: a valid number of files, a zero `kind`, and a first record with a name. */
function isSetup(reader: Reader, at = 0): boolean {
  const bytes = reader.at(at, HEAD.bytes + RECORD.bytes);
  const head = HEAD.read(bytes);
  const first = RECORD.read(bytes, HEAD.bytes);
  if (head === undefined || first === undefined || !head.magic.equals(MAGIC)) return false;
  return head.files > 0 && head.files <= FILES_MAXIMUM && head.kind === 0 && (first.name[0] ?? 0) >= 0x20;
}

/** The deobfuscated bytes of a file. */
async function* plainOf(content: Content, start: number, size: number, key: Buffer, in_blocks: boolean): AsyncGenerator<Buffer> {
  using source = openSource(content);
  for (let from = 0; from < size; from += READ_BYTES) {
    const packed = source.read(start + from, Math.min(READ_BYTES, size - from));
    const plain = Buffer.allocUnsafe(packed.length);
    for (let at = 0; at < packed.length; at += 1) {
      const byte = packed[at] ?? 0;
      const place = in_blocks ? at % BLOCK_BYTES : from + at;
      plain[at] = (((byte << 4) | (byte >> 4)) ^ (key[place % key.length] ?? 0)) & 0xff;
    }
    yield plain;
  }
}

/** The files, most of which are zlib streams. @throws Unreadable `damaged` if a record is invalid or a file is truncated */
async function* setupMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const count = HEAD.read(reader.at(0, HEAD.bytes))?.files ?? 0;
  claim(0, HEAD.bytes);
  for (let file = 0, at = HEAD.bytes; file < count; file += 1) {
    // A copy, because the reader reuses its buffer while members are read.
    const record = RECORD.read(Buffer.from(reader.at(at, RECORD.bytes)));
    const name_end = record?.name.indexOf(0) ?? -1;
    if (record === undefined || name_end <= 0) throw new Unreadable('damaged');
    const start = at + RECORD.bytes;
    const size = Math.min(record.size, Math.max(0, reader.size - start));
    const { flags } = record;
    const raw = record.name.subarray(0, name_end);
    const key = Buffer.from(raw.map((letter, index) => letter ^ (KEY[index % KEY.length] ?? 0)));
    const in_blocks = (flags & FLAG.in_blocks) !== 0;
    claim(at, start + size);
    const stream = () =>
      (flags & FLAG.hidden) === 0 ? streamOf(content, start, start + size) : plainOf(content, start, size, key, in_blocks);
    yield { name: decodeName(raw), read: () => ({ stream: stream(), packed_bytes: size }) };
    at = start + size;
    if (size < record.size) throw new Unreadable('damaged');
  }
}

export const setupLauncher = format({
  id: 'setup',
  media_type: 'application/x-packed',
  carve: [{ pattern: `${patternOf({ at: 0, bytes: MAGIC })} ?? ?? 00 00 00 00`, proves: isSetup, is_own: true }],
  limits: null,
  open: setupMembers,
});

/** Newer launchers have records in another form, which is not read. */
export const setupStream = closedFormat({
  id: 'setup-stream',
  title: 'InstallShield',
  carve: [
    {
      title: 'setup stream',
      pattern: `${spelled('ISSetupStream')} 00 ?? ?? (00|01|02|03|04) 00 00 00`,
      proves: (reader, at) => reader.at(at + 14, 2).some((byte) => byte !== 0),
    },
  ],
});

/** The identification of Inno Setup data: 64 bytes, padded with zeros (innoextract, setup/version.cpp). The program before it also contains the name. */
export const innoSetup = closedFormat({
  id: 'inno',
  title: 'Inno Setup',
  carve: [
    {
      pattern: spelled('Inno Setup Setup Data ('),
      proves: (reader, at) =>
        /^Inno Setup Setup Data \(\d[\d.]{2,12}\)[^\0]{0,40}\0+$/.test(reader.at(at, 64).toString('latin1')),
    },
  ],
});
