import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { z } from 'zod';

const files = z
  .object({
    found: z.record(z.string(), z.base64()),
    closed: z.record(z.string(), z.object({ detail: z.string(), bytes: z.base64() })),
  })
  .parse(JSON.parse(readFileSync(new URL('ordinary-files.json', import.meta.url), 'utf8')));

const MASK = 0x5a;
const unmasked = (masked: string) => inflateSync(Buffer.from(masked, 'base64').map((byte) => byte ^ MASK));

/** Files around EICAR or a text that a rule finds, by the programs that their names tell, or by the definition of their format; each byte masked, so that no scanner takes the repository for malware. */
export const ORDINARY_FILES: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(files.found).map(([name, masked]) => [name, unmasked(masked)]),
);

/** Files that nothing here reads, and why not. */
export const CLOSED_FILES: readonly { name: string; detail: string; bytes: Buffer }[] = Object.entries(files.closed).map(
  ([name, { detail, bytes }]) => ({ name, detail, bytes: unmasked(bytes) }),
);
