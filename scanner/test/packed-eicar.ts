import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The EICAR file packed by other programs (`made_with` says how), each byte masked, so that no scanner takes the repository for malware. */
const fixtureSchema = z.record(z.string(), z.object({ made_with: z.string(), masked: z.base64() }));
const MASK = 0x5a;

export const PACKED_EICAR: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(fixtureSchema.parse(JSON.parse(readFileSync(new URL('./packed-eicar.json', import.meta.url), 'utf8')))).map(
    ([name, { masked }]) => [name, Buffer.from(Buffer.from(masked, 'base64').map((byte) => byte ^ MASK))],
  ),
);
