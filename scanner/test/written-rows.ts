import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { z } from 'zod';

const MASK = 0x5a;
const filesSchema = z.record(z.string(), z.base64());

/** Files of a list beside this one, by what they are. Each byte is masked there, so that no scanner takes the repository for malware. */
export function maskedFiles(list: string): ReadonlyMap<string, Buffer> {
  const files = filesSchema.parse(JSON.parse(readFileSync(new URL(list, import.meta.url), 'utf8')));
  return new Map(
    Object.entries(files).map(([name, masked]) => [name, inflateSync(Buffer.from(masked, 'base64').map((byte) => byte ^ MASK))]),
  );
}

/**
 * Files around EICAR, alone or in a zip, by what they are: by curl 7.88, gdb 13, tshark 4.0, hexdump, od, xxd, redis 7.0, cpio 2.13, bsdcpio 3.6, lz4-java 1.8, python-lz4 4.0, python-snappy 0.5 and Python's lzma;
 * drawings, logs, dumps of databases, listings of Windows and CBOR (which cbor2 5.4 reads) after what is published of them.
 */
export const WRITTEN_ROWS = maskedFiles('written-rows.json');
