import { z } from 'zod';
import { OwnProcess, processFile } from './own-process.ts';
import { checkPictureSize, pictureSize } from './picture-header.ts';
import type { NotCheckedCode } from './sentences.ts';

export type CodeReading = { codes: { format: string; text: string }[] } | { code: NotCheckedCode };

/** Time limit for one picture, in ms. A phone's photograph takes 0.3 s on an idle core. */
const DEADLINE_MS = 8_000;
/** Formats that the decoder supports. */
const DECODED = new Set(['png', 'jpeg', 'gif', 'bmp', 'webp']);
const codesSchema = z.array(z.object({ format: z.string(), text: z.string() }));

/** Reads codes in pictures in a child process. */
export class PictureReader {
  readonly #process = new OwnProcess(processFile('picture-process'), {
    deadlineMs: DEADLINE_MS,
    heapMib: 128,
    webAssemblyMib: 176,
  });

  /** Reads the codes of a picture. The size is checked in the header first, so that a picture of 30,000 x 30,000 is not decoded. */
  async read(picture: Uint8Array): Promise<CodeReading> {
    const format = pictureSize(picture)?.format ?? '';
    if (format === 'heic') return { code: 'heic' };
    if (!DECODED.has(format)) return { code: 'picture_format' };
    const refused = checkPictureSize(picture);
    if (refused !== undefined) return { code: refused };
    const answer = await this.#process.ask(picture);
    if (answer === 'late') return { code: 'took_too_long' };
    if (answer === 'large') return { code: 'too_large' };
    return answer === 'failed' ? { code: 'picture_broken' } : { codes: codesSchema.parse(answer.value) };
  }

  /** Ends the process. */
  close(): void {
    this.#process.close();
  }
}
