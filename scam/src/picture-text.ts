import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OwnProcess, processFile } from './own-process.ts';
import { checkPictureSize } from './picture-header.ts';
import type { TextReading } from './surroundings.ts';

/** The program, as an operator installs it: `npm install tesseract.js-core@7.0.0 @tesseract.js-data/eng@1.0.0`. */
export const CORE = 'tesseract.js-core/tesseract-core-simd-lstm';
/** The languages of the word lists, as tesseract names them. */
export const TEXT_LANGUAGES = ['eng', 'deu', 'spa', 'fra', 'ita', 'por', 'nld', 'pol'] as const;
/** A screenshot of 1080 x 2400 takes 1 to 2 s and 140 MiB. */
const DEADLINE_MS = 9_000;
const readingSchema = z.object({ text: z.string(), languages: z.array(z.string()) });
const require = createRequire(import.meta.url);

/** The smaller models of each installed language, with the folder that they lie in. */
export function installedLanguages(): { language: string; folder: string }[] {
  return TEXT_LANGUAGES.flatMap((language) => {
    try {
      return [{ language, folder: join(dirname(require.resolve(`@tesseract.js-data/${language}`)), '4.0.0_best_int') }];
    } catch {
      return [];
    }
  });
}

function isCoreInstalled(): boolean {
  try {
    return require.resolve(CORE) !== '';
  } catch {
    return false;
  }
}

/** Reads the text of pictures in a process of its own that starts with the first picture; undefined where the program or its data is not installed. */
export function openTextReader():
  | { read: (picture: Uint8Array) => Promise<TextReading | undefined>; close: () => void }
  | undefined {
  if (!isCoreInstalled() || installedLanguages().length === 0) return undefined;
  const child = new OwnProcess(processFile('picture-text-process'), { deadlineMs: DEADLINE_MS, heapMib: 128 });
  return {
    read: async (picture) => {
      if (checkPictureSize(picture) !== undefined) return undefined;
      const answer = await child.ask(picture);
      return typeof answer === 'string' ? undefined : readingSchema.parse(answer.value);
    },
    close: () => child.close(),
  };
}
