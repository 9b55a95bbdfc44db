import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

// The part of POSIX's ustar (IEEE Std 1003.1, pax, "ustar Interchange Format") that our own archives need, so that any tar can open them: regular files with short names.
// Sizes from 8 GiB are written in base 256, as GNU tar and all others do.

/** A file of an archive. Read its content once, before asking for the next file. */
interface TarEntry {
  name: string;
  /** Bytes. */
  size: number;
  content: AsyncIterable<Buffer>;
}

/** An archive that is incomplete, or of another format. `message` is a part of a sentence about its fault. */
export class TarError extends Error {
  override name = 'TarError';
}

const BLOCK_BYTES = 512;
const READ_BYTES = 256 * 1024;
const NAME_BYTES = 100;
const OCTAL_MOST = 8 ** 11 - 1;
const BASE_256 = 0x80;
const FIELDS = { mode: 100, uid: 108, gid: 116, size: 124, mtime: 136, checksum: 148, type: 156, magic: 257 } as const;
const MAGIC = Buffer.from('ustar\x0000', 'latin1');
const PLAIN_FILE = 0x30;

const isZero = (byte: number) => byte === 0;
const padding = (size: number) => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;

function checksumOf(header: Buffer): number {
  let sum = 0;
  // The checksum field itself counts as blanks.
  for (const [index, byte] of header.entries()) sum += index >= FIELDS.checksum && index < FIELDS.type ? 0x20 : byte;
  return sum;
}

function headerOf(name: string, size: number, mtime_s: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  if (Buffer.byteLength(name) > NAME_BYTES) throw new Error(`The name ${name} is too long for the archive.`);
  header.write(name);
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  octal(0o600, FIELDS.mode, 7);
  octal(0, FIELDS.uid, 7);
  octal(0, FIELDS.gid, 7);
  if (size <= OCTAL_MOST) octal(size, FIELDS.size, 11);
  else {
    header[FIELDS.size] = BASE_256;
    header.writeBigUInt64BE(BigInt(size), FIELDS.size + 4);
  }
  octal(mtime_s, FIELDS.mtime, 11);
  header[FIELDS.type] = PLAIN_FILE;
  MAGIC.copy(header, FIELDS.magic);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, FIELDS.checksum, 'latin1');
  return header;
}

/** Writes an archive to an open file. */
export function createTarWriter(target: FileHandle, now_ms: number) {
  const mtime_s = Math.floor(now_ms / 1_000);
  return {
    /** Adds a file, and returns the SHA-256 of its content, in hex. @throws when the content is not `size` bytes long. */
    async add(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<string> {
      const hash = createHash('sha256');
      await target.writeFile(headerOf(name, size, mtime_s));
      let left = size;
      for await (const bytes of content) {
        left -= bytes.length;
        if (left < 0) break;
        hash.update(bytes);
        await target.writeFile(bytes);
      }
      if (left !== 0) throw new Error(`${name} changed while we copied it.`);
      await target.writeFile(Buffer.alloc(padding(size)));
      return hash.digest('hex');
    },
    async finish(): Promise<void> {
      await target.writeFile(Buffer.alloc(2 * BLOCK_BYTES));
    },
  };
}

function parseHeader(header: Buffer): { name: string; size: number } {
  const text = (at: number, length: number) => header.toString('latin1', at, at + length).replace(/[\0 ].*$/s, '');
  const isOurs = header.subarray(FIELDS.magic, FIELDS.magic + MAGIC.length).equals(MAGIC) && header[FIELDS.type] === PLAIN_FILE;
  if (!isOurs || Number.parseInt(text(FIELDS.checksum, 8), 8) !== checksumOf(header))
    throw new TarError('has data where a file header should be');
  const size =
    header[FIELDS.size] === BASE_256
      ? Number(header.readBigUInt64BE(FIELDS.size + 4))
      : Number.parseInt(text(FIELDS.size, 12), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new TarError('has a file without a size');
  return { name: header.toString('utf8', 0, NAME_BYTES).replace(/\0.*$/s, ''), size };
}

/** Reads the files of an archive in their order. @throws TarError */
export async function* readTar(source: FileHandle): AsyncGenerator<TarEntry> {
  let position = 0;

  async function exactly(length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await source.read(buffer, filled, length - filled, position);
      if (bytesRead === 0) throw new TarError('ends too early');
      filled += bytesRead;
      position += bytesRead;
    }
    return buffer;
  }

  for (;;) {
    const header = await exactly(BLOCK_BYTES);
    // Two blocks of zeros end an archive.
    if (header.every(isZero)) {
      if (!(await exactly(BLOCK_BYTES)).every(isZero)) throw new TarError('has data after its end');
      return;
    }
    const { name, size } = parseHeader(header);
    const end = position + size;
    async function* read() {
      while (position < end) yield await exactly(Math.min(READ_BYTES, end - position));
    }
    yield { name, size, content: read() };
    position = end;
    if (!(await exactly(padding(size))).every(isZero)) throw new TarError(`has data after ${name}`);
  }
}
