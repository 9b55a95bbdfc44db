import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

// The main file of a process that decodes pictures: they are hostile bytes for a program in WebAssembly. The parent gives it time and ends it when that is over.

/** Codes of one picture; more are not read. */
const CODES_MAXIMUM = 20;

// The package would fetch the program from elsewhere; it is read from the package itself.
const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
prepareZXingModule({ overrides: { wasmBinary: Uint8Array.from(wasm).buffer } });

export interface PictureRequest {
  id: number;
  picture: Uint8Array;
}
export interface PictureReply {
  id: number;
  /** Undefined where the picture could not be decoded. */
  codes: { format: string; text: string }[] | undefined;
}

const isRequest = (message: unknown): message is PictureRequest =>
  typeof message === 'object' &&
  message !== null &&
  'id' in message &&
  'picture' in message &&
  message.picture instanceof Uint8Array;

/** The package says so of a picture that it cannot decode. */
const UNREADABLE = 'Failed to load image from memory';

async function read(picture: Uint8Array): Promise<PictureReply['codes']> {
  const options = {
    tryHarder: true,
    tryInvert: true,
    tryRotate: true,
    tryDownscale: true,
    maxNumberOfSymbols: CODES_MAXIMUM,
  } as const;
  // Noise and low contrast: once more with a filter, then with another threshold. Each costs as much again.
  const tries = [options, { ...options, tryDenoise: true }, { ...options, binarizer: 'GlobalHistogram' }] as const;
  for (const one of tries) {
    const found = await readBarcodes(picture, one);
    if (found.some(({ error }) => error === UNREADABLE)) return undefined;
    const codes = found.filter(({ isValid }) => isValid).map(({ format, text }) => ({ format, text }));
    if (codes.length > 0) return codes;
  }
  return [];
}

process.on('message', (message) => {
  if (!isRequest(message)) return;
  const { id, picture } = message;
  read(picture).then(
    (codes) => process.send?.({ id, codes } satisfies PictureReply),
    () => process.send?.({ id, codes: undefined } satisfies PictureReply),
  );
});
process.on('disconnect', () => process.exit(0));
