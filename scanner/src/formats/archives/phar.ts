import { decompressed } from '#scanner/decompression/decompress.ts';
import { format, spelled } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { decodeName, type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// phar, the archive format of PHP (PHP manual, "Phar file format"): a PHP script (the stub), then a manifest and the contents of the files.

const STUB = /^__HALT_COMPILER\(\);(?: ?\?>)?\r?\n?/;
const STUB_BYTES = 40;
const MANIFEST_BYTES_MAXIMUM = 64 * 1024 ** 2;
const ENTRY_BYTES = 24;
const FLAG = { deflated: 0x1000, bzip2: 0x2000 } as const;
/** A signature ends with its type (4 bytes) and this magic. */
const SIGNED = Buffer.from('GBMB');
const SIGNATURE_BYTES: ReadonlyMap<number, number> = new Map([
  [1, 16],
  [2, 20],
  [3, 32],
  [4, 64],
]);

const LENGTH = struct('little', { bytes: 'u32' });
/** The first fields of the manifest, after its length. */
const MANIFEST = struct('little', { count: 'u32', version: 2, flags: 'u32' });
/** Fields of a file entry, between its name and its metadata. */
const ENTRY = struct('little', { unpacked: 'u32', time: 'u32', packed: 'u32', crc: 'u32', flags: 'u32' });

/**
 * Lists the files of a phar; the content begins with the end of the stub. @throws Unreadable `damaged` if the manifest is invalid or names bytes after the end
 * of the file.
 */
async function* pharMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const stub = STUB.exec(reader.at(0, STUB_BYTES).toString('latin1'))?.[0].length ?? 0;
  const length = LENGTH.read(reader.at(stub, LENGTH.bytes))?.bytes ?? 0;
  if (stub === 0 || length < 14) throw new Unreadable('damaged');
  if (length > MANIFEST_BYTES_MAXIMUM) throw new Unreadable('too_large');
  const manifest = reader.at(stub + 4, length);
  if (manifest.length < length) throw new Unreadable('damaged');
  claim(0, stub + 4 + length);
  // Skips the alias and the metadata.
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
    // bzip2 data is given as it is; the scanner recognises and opens it as a file.
    const stream = (flags & FLAG.deflated) === 0 ? pieces() : decompressed('deflate', pieces(), budget);
    yield { name, read: () => ({ stream, packed_bytes: to - from }) };
  }
  const tail = reader.at(body, 4096);
  const end = tail.indexOf(SIGNED);
  const made = end < 4 ? 0 : tail.readUInt32LE(end - 4);
  // Types above 4 are signed with a public key and store their length.
  if (end >= 4 && (SIGNATURE_BYTES.get(made) === end - 4 || made > 4)) claim(body, body + end + SIGNED.length);
  if (is_damaged) throw new Unreadable('damaged');
}

const STUB_END = '__HALT_COMPILER();';

/** Whether a valid manifest follows the stub (PHP manual, "Phar file format"): its length, the number of files, and the version, which begins with 0x11. */
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
