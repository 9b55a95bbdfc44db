import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OwnProcess, processFile } from './own-process.ts';
import { checkPictureSize, pictureSize } from './picture-header.ts';
import type { TextReading } from './surroundings.ts';

/** Module name of the program. Operators install it with `npm install tesseract.js-core@7.0.0 @tesseract.js-data/eng@1.0.0`. */
export const CORE = 'tesseract.js-core/tesseract-core-simd-lstm';
/** The languages of the word lists, by tesseract's codes. */
export const TEXT_LANGUAGES = ['eng', 'deu', 'spa', 'fra', 'ita', 'por', 'nld', 'pol'] as const;
/** Time limit for one picture, in ms. A screenshot of 1080 x 2400 takes 1 to 2 s. */
const DEADLINE_MS = 9_000;
const readingSchema = z.object({ text: z.string(), languages: z.array(z.string()) });

/** The installed languages, with the folders of their small models. `from`: the file from which the packages are resolved. */
export function installedLanguages(from: string = import.meta.url): { language: string; folder: string }[] {
  const require = createRequire(from);
  return TEXT_LANGUAGES.flatMap((language) => {
    try {
      return [{ language, folder: join(dirname(require.resolve(`@tesseract.js-data/${language}`)), '4.0.0_best_int') }];
    } catch {
      return [];
    }
  });
}

function isCoreInstalled(from: string): boolean {
  try {
    return createRequire(from).resolve(CORE) !== '';
  } catch {
    return false;
  }
}

/** Formats that the package's build of leptonica supports. */
const READ = new Set(['png', 'jpeg', 'webp', 'bmp']);
const NOT_READ = { late: 'took_too_long', large: 'too_large', failed: 'picture_broken' } as const;

/**
 * Recognizes text in pictures in a child process, which starts with the first picture; undefined if the program or its data
 * is not installed.
 */
export function openTextReader({
  from = import.meta.url,
  deadlineMs = DEADLINE_MS,
} = {}): { read: (picture: Uint8Array) => Promise<TextReading>; close: () => void } | undefined {
  if (!isCoreInstalled(from) || installedLanguages(from).length === 0) return undefined;
  const child = new OwnProcess(processFile('picture-text-process'), { deadlineMs, heapMib: 128, webAssemblyMib: 160 });
  return {
    read: async (picture) => {
      const refused = checkPictureSize(picture, 'text');
      if (refused !== undefined) return { code: refused };
      if (!READ.has(pictureSize(picture)?.format ?? '')) return { code: 'picture_format' };
      const answer = await child.ask(picture);
      return typeof answer === 'string' ? { code: NOT_READ[answer] } : readingSchema.parse(answer.value);
    },
    close: () => child.close(),
  };
}
