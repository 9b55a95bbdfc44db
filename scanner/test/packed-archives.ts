import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

/**
 * A file, and beside it the EICAR file or `eicar.gz`, in archives, compressed streams and images of disks by other programs (`made_with` says by which).
 * They are packed here because images are mostly zeros, and each byte is masked, so that no scanner takes the repository for malware.
 */
const fixtureSchema = z.record(z.string(), z.object({ made_with: z.string(), masked: z.base64() }));
const MASK = 0x5a;

export const PACKED_ARCHIVES: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(fixtureSchema.parse(JSON.parse(readFileSync(new URL('./packed-archives.json', import.meta.url), 'utf8')))).map(
    ([name, { masked }]) => [name, gunzipSync(Buffer.from(masked, 'base64').map((byte) => byte ^ MASK))],
  ),
);
