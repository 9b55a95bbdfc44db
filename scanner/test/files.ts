import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** The EICAR test file (eicar.org): put together here, so that no file of the project is one. */
export const EICAR = Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join(''));

/** The smallest PDF with a page and text. */
export const PDF = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n' +
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R>>endobj\n4 0 obj<</Length 21>>stream\nBT (A clean page) Tj ET\nendstream endobj\n' +
    'trailer<</Root 1 0 R>>\n%%EOF\n',
);

/** Large outputs are put together in pieces of this size, in bytes: with zlib's own (16 KB), packing zeros takes four times as long. */
export const LARGE_PIECES = { chunkSize: 64 * 1024 };

export interface ZipEntry {
  name: string;
  content: Buffer;
  /** General purpose flags; bit 0 says encrypted. */
  flags?: number;
  /** Overrides the compression method that the headers name. */
  method?: number;
  /** Overrides the unpacked size that the headers name. */
  claims?: number;
}

/** A zip by the APPNOTE, with deflated members, made by hand so that tests can bend each field. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  // The members of a bomb are one and the same content.
  const done = new Map<Buffer, { deflated: Buffer; crc: number }>();
  let offset = 0;
  for (const { name, content, flags = 0, method = 8, claims = content.length } of entries) {
    const { deflated, crc } = done.get(content) ?? { deflated: deflateRawSync(content, LARGE_PIECES), crc: crc32(content) };
    done.set(content, { deflated, crc });
    const packed = method === 8 ? deflated : content;
    const nameBytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags | 0x800, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claims, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), common, nameBytes, packed);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    centrals.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, nameBytes);
    offset += 30 + nameBytes.length + packed.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}

/** 1.1 GB of zeros in a zip. */
export function zipBomb(): Buffer {
  const content = Buffer.alloc(100 * 1024 ** 2);
  return zip(Array.from({ length: 11 }, (_, index) => ({ name: `${index}`, content })));
}

/** A tar with these files. */
export async function tar(entries: readonly { name: string; content: Buffer }[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, content } of entries) archive.entry({ name }, content);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Wraps content in `depth` gzip layers. */
export function nestedGzip(content: Buffer, depth: number): Buffer {
  let packed = content;
  for (let level = 0; level < depth; level++) packed = gzipSync(packed, { level: 1 });
  return packed;
}

/** Reproducible bytes that do not compress (xorshift32). */
export function noise(length: number, seed = 0x9e3779b9): Buffer {
  const bytes = Buffer.allocUnsafe(length - (length % 4) + 4);
  let state = seed;
  for (let offset = 0; offset < bytes.length; offset += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state | 0, offset);
  }
  return bytes.subarray(0, length);
}
