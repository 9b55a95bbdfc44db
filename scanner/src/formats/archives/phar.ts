import { decompressed } from '#scanner/decompression/decompress.ts';
import { format, spelled } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { decodeName, type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// phar, the archive of PHP (PHP manual, "Phar file format"): behind the end of a script a manifest, and the files one behind the other.

const STUB = /^__HALT_COMPILER\(\);(?: ?\?>)?\r?\n?/;
const STUB_BYTES = 40;
const MANIFEST_BYTES_MAXIMUM = 64 * 1024 ** 2;
const ENTRY_BYTES = 24;
const FLAG = { deflated: 0x1000, bzip2: 0x2000 } as const;
/** The signature ends with how it was made (4) and this. */
const SIGNED = Buffer.from('GBMB');
const SIGNATURE_BYTES: ReadonlyMap<number, number> = new Map([
  [1, 16],
  [2, 20],
  [3, 32],
  [4, 64],
]);

const LENGTH = struct('little', { bytes: 'u32' });
/** The beginning of the manifest, after its length. */
const MANIFEST = struct('little', { count: 'u32', version: 2, flags: 'u32' });
/** Of one file, between its name and its metadata. */
const ENTRY = struct('little', { unpacked: 'u32', time: 'u32', packed: 'u32', crc: 'u32', flags: 'u32' });

/** The files of a phar whose stub ends at the first byte. @throws Unreadable `damaged` where the manifest is none, or names what is not there. */
async function* pharMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const stub = STUB.exec(reader.at(0, STUB_BYTES).toString('latin1'))?.[0].length ?? 0;
  const length = LENGTH.read(reader.at(stub, LENGTH.bytes))?.bytes ?? 0;
  if (stub === 0 || length < 14) throw new Unreadable('damaged');
  if (length > MANIFEST_BYTES_MAXIMUM) throw new Unreadable('too_large');
  const manifest = reader.at(stub + 4, length);
  if (manifest.length < length) throw new Unreadable('damaged');
  claim(0, stub + 4 + length);
  // An alias and metadata follow.
  let at = MANIFEST.bytes;
  const skip = () => {
    const skipped = LENGTH.read(manifest, at);
    if (skipped === undefined) throw new Unreadable('damaged');
    at += LENGTH.bytes + skipped.bytes;
  };
  skip();
  skip();
  let body = stub + 4 + length;
  let is_damaged = false;
  const count = MANIFEST.read(manifest)?.count ?? 0;
  budget.announce(count);
  for (let index = 0; index < count; index += 1) {
    const name_at = at + 4;
    skip();
    const entry = at + ENTRY_BYTES > length ? undefined : ENTRY.read(manifest, at);
    if (entry === undefined) throw new Unreadable('damaged');
    const name = decodeName(manifest.subarray(name_at, at));
    const { packed: size, flags } = entry;
    at += ENTRY_BYTES - 4;
    skip();
    const [from, to] = [body, Math.min(body + size, reader.size)];
    body += size;
    is_damaged ||= body > reader.size;
    claim(from, to);
    if (from >= to) continue;
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* reader.chunks(from, to);
    }
    // Bytes of bzip2 are opened as such.
    const stream = (flags & FLAG.deflated) === 0 ? pieces() : decompressed('deflate', pieces(), budget);
    yield { name, read: () => ({ stream, packed_bytes: to - from }) };
  }
  const tail = reader.at(body, 4096);
  const end = tail.indexOf(SIGNED);
  const made = end < 4 ? 0 : tail.readUInt32LE(end - 4);
  // Those with a public key say their length themselves.
  if (end >= 4 && (SIGNATURE_BYTES.get(made) === end - 4 || made > 4)) claim(body, body + end + SIGNED.length);
  if (is_damaged) throw new Unreadable('damaged');
}

const STUB_END = '__HALT_COMPILER();';

/** The manifest (PHP manual, "Phar file format"): its length, how many files, and a version of which the first digit is 1. */
function provesPhar(reader: Reader, at: number): boolean {
  const head = reader.at(at, 40);
  const manifest = /^__HALT_COMPILER\(\);( ?\?>)?\r?\n?/.exec(head.toString('latin1'))?.[0].length ?? 0;
  if (head.length < manifest + LENGTH.bytes + MANIFEST.bytes) return false;
  const length = LENGTH.read(head, manifest)?.bytes ?? 0;
  const fields = MANIFEST.read(head, manifest + LENGTH.bytes);
  return length > 14 && length < reader.size && fields !== undefined && fields.count < length && fields.version[0] === 0x11;
}

export const phar = format({
  id: 'phar',
  carve: [{ pattern: spelled(STUB_END), proves: provesPhar, is_own: true }],
  traits: { holds_whole_files: true },
  limits: null,
  open: pharMembers,
});
