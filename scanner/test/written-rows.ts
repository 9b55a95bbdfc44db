import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { z } from 'zod';

const files = z
  .record(z.string(), z.base64())
  .parse(JSON.parse(readFileSync(new URL('written-rows.json', import.meta.url), 'utf8')));

const MASK = 0x5a;

/**
 * Files around EICAR, alone or in a zip, by what they are: by curl 7.88, gdb 13, tcpdump 4.99, tshark 4.0, hexdump, od, xxd, redis 7.0, cpio 2.13, bsdcpio 3.6, lz4-java 1.8, python-lz4 4.0, python-snappy 0.5 and Python's lzma;
 * drawings, logs, dumps of databases, listings of Windows, CBOR (which cbor2 5.4 reads) and bundles of Unity after what is published of them. Each byte masked, so that no scanner takes the repository for malware.
 */
export const WRITTEN_ROWS: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(files).map(([name, masked]) => [name, inflateSync(Buffer.from(masked, 'base64').map((byte) => byte ^ MASK))]),
);
