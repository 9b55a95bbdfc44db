import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import decode, { init as initWebp } from '@jsquash/webp/decode.js';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { LIMITS } from './limits.ts';
import { serveParent } from './own-process.ts';
import { pictureSize } from './picture-header.ts';

// The main file of a process that reads codes in pictures: they are hostile bytes for a program in WebAssembly. The parent gives
// it time and ends it when that is over.

/** Also pictures of so few pixels a side are tried at a smaller size. */
const SMALLER_FROM = 100;
/** Larger pictures are read once. */
const RETRIED_PIXELS = 6_000_000;

// The package would fetch the program from elsewhere; it is read from the package itself.
const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
prepareZXingModule({ overrides: { wasmBinary: Uint8Array.from(wasm).buffer } });

const webp = readFileSync(createRequire(import.meta.url).resolve('@jsquash/webp/codec/dec/webp_dec.wasm'));
let opened: Promise<void> | undefined;

/** Pixels of a picture in WebP, of which the reader of codes knows nothing. */
async function decodeWebp(picture: Uint8Array): Promise<ImageData> {
  // The decoder makes its answer of this, which browsers have and Node has not.
  globalThis.ImageData ??= class {
    readonly colorSpace = 'srgb';
    readonly data: Uint8ClampedArray;
    readonly width: number;
    readonly height: number;

    constructor(data: Uint8ClampedArray, width: number, height: number) {
      this.data = data;
      this.width = width;
      this.height = height;
    }
  };
  opened ??= initWebp(new WebAssembly.Module(Uint8Array.from(webp)));
  await opened;
  return await decode(Uint8Array.from(picture).buffer);
}

serveParent(async (picture) => {
  const options = {
    tryHarder: true,
    tryInvert: true,
    tryRotate: true,
    tryDownscale: true,
    // One more shows that there are more.
    maxNumberOfSymbols: LIMITS.codes + 1,
  } as const;
  // Noise and low contrast: smaller, where noise is evened out, then with a filter and with another threshold. Each costs as much again.
  const tries = [
    options,
    { ...options, downscaleThreshold: SMALLER_FROM, downscaleFactor: 2 },
    { ...options, downscaleThreshold: SMALLER_FROM, downscaleFactor: 3, binarizer: 'GlobalHistogram' },
    { ...options, tryDenoise: true },
  ] as const;
  const { format, width = 0, height = 0 } = pictureSize(picture) ?? {};
  const input = format === 'webp' ? await decodeWebp(picture) : picture;
  for (const one of width * height > RETRIED_PIXELS ? tries.slice(0, 1) : tries) {
    const found = await readBarcodes(input, one);
    // Damaged codes are not asked for: an error is of the program, such as a picture that it can't decode or memory that it lacks.
    const failure = found.find(({ error, isValid }) => error !== '' && !isValid);
    if (failure !== undefined) throw new Error(failure.error);
    const codes = found.filter(({ isValid }) => isValid).map(({ format, text }) => ({ format, text }));
    if (codes.length > 0) return codes;
  }
  return [];
});
