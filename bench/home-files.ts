// Generates files like those in a home folder.
import { pngOf } from '@palisade/scam/test/pictures';
import { zip } from './files.ts';

const WORDS = 'the of letter window garden invoice summer report table function return value house street number music'.split(
  ' ',
);

/** xorshift32, so that the same seed gives the same files. */
function createRandom(from: number): () => number {
  let state = from >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** Returns a function that generates the next file at each call: mostly small texts and settings, some pictures, few large files and archives. */
export function createHomeFiles(seed: number): () => { ending: string; content: Buffer } {
  const random = createRandom(seed);
  const below = (most: number) => Math.floor(random() * most);

  function textOf(bytes: number): Buffer {
    const words: string[] = [];
    for (let length = 0; length < bytes; length += words.at(-1)?.length ?? 0) words.push(`${WORDS[below(WORDS.length)]} `);
    return Buffer.from(words.join(''));
  }
  function noiseOf(bytes: number): Buffer {
    const noise = Buffer.alloc(bytes);
    for (let at = 0; at + 4 <= bytes; at += 4) noise.writeUInt32LE(below(2 ** 32), at);
    return noise;
  }
  const pictureOf = (rows: number) => Buffer.from(pngOf(noiseOf(64 * rows), 64, rows));

  return () => {
    const kind = random();
    if (kind < 0.55) return { ending: 'txt', content: textOf(200 + below(4_000)) };
    if (kind < 0.75)
      return { ending: 'json', content: Buffer.from(JSON.stringify({ id: below(1e9), text: textOf(below(2_000)).toString() })) };
    if (kind < 0.9) return { ending: 'png', content: pictureOf(32 + below(320)) };
    if (kind < 0.99) return { ending: 'bin', content: noiseOf(1_000 + below(30_000)) };
    if (kind < 0.998)
      return {
        ending: 'zip',
        content: zip(Array.from({ length: 5 }, (_, index) => ({ name: `${index}.txt`, content: textOf(3_000) }))),
      };
    return { ending: 'iso.bin', content: noiseOf(1_000_000 + below(1_000_000)) };
  };
}
