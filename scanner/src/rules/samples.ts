import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** One sample of the rule pack: see signatures/README.md. `¦` splits text, so that the file on disk is not itself detected. */
const sampleSchema = z
  .object({
    rule: z.string(),
    kind: z.enum(['hit', 'near_miss']),
    note: z.string().min(1),
    text: z.string().optional(),
    hex: z.string().optional(),
    base64: z.string().optional(),
  })
  .transform(({ text, hex, base64, ...sample }) => ({
    ...sample,
    bytes:
      text !== undefined
        ? Buffer.from(text.replaceAll('¦', ''))
        : hex !== undefined
          ? Buffer.from(hex.replaceAll(/[\s¦]/g, ''), 'hex')
          : Buffer.from((base64 ?? '').replaceAll('¦', ''), 'base64'),
  }));
type Sample = z.infer<typeof sampleSchema>;

/** The samples of a folder, in name order. */
export async function readSamples(folder: string): Promise<Sample[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return files.flatMap((text) => z.array(sampleSchema).parse(JSON.parse(text)));
}
