import { createReadStream } from 'node:fs';

const READ_BYTES = 256 * 1024;

/**
 * The bytes of a file, opened when the first of them is read. A stream opens immediately: a reader that fails before it listens would leave the file open, and an error on
 * opening would end the process.
 */
export async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: READ_BYTES });
}
