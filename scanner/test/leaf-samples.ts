import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { z } from 'zod';

const samplesSchema = z.record(z.string(), z.base64());

/** Small files of formats that hold nothing but themselves, as ImageMagick, FFmpeg, GNU binutils, javac and SQLite wrote them (packed with zlib, in base64). */
export const LEAF_SAMPLES: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(samplesSchema.parse(JSON.parse(readFileSync(new URL('./leaf-samples.json', import.meta.url), 'utf8')))).map(
    ([name, packed]) => [name, inflateSync(Buffer.from(packed, 'base64'))],
  ),
);
