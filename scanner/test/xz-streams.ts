import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { examinedTexts } from './examined.ts';
import { noise } from './files.ts';

// Streams of xz for tests.

/** Streams that xz 5.4.1 made of the content below, with the options that the names tell. */
export const STREAMS = z
  .record(z.string(), z.base64())
  .parse(JSON.parse(readFileSync(new URL('./xz-streams.json', import.meta.url), 'utf8')));
export const streamOf = (name: string) => Buffer.from(STREAMS[name] ?? '', 'base64');
export const CONTENT = Buffer.concat([
  Buffer.from(Array.from({ length: 200 }, (_, index) => `line ${index * index} of the file\n`).join('')),
  noise(200, 5),
]);

/** Reads a file of xz, and answers what was unread, and what came out. */
export async function read(bytes: Buffer) {
  const { unread, coverage, texts } = await examinedTexts(bytes, { name: 'file.xz', match: () => [] });
  return { unread, content: Buffer.from(texts[1] ?? '', 'latin1'), members: coverage.members_total };
}
