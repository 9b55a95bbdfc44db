import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import decode, { init as initWebp } from '@jsquash/webp/decode.js';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { LIMITS } from './limits.ts';
import { serveParent } from './own-process.ts';
import { pictureSize } from './picture-header.ts';

// Main file of the process that reads codes in pictures with WebAssembly. Pictures are untrusted, so the parent limits
// its time.

/** Pictures with at least this many pixels per side are also tried at a smaller size. */
const SMALLER_FROM = 100;
/** Pictures with more pixels are tried only once. */
const RETRIED_PIXELS = 6_000_000;

// Loaded from the package, because the package would download the WebAssembly module by default.
const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
prepareZXingModule({ overrides: { wasmBinary: Uint8Array.from(wasm).buffer } });

const webp = readFileSync(createRequire(import.meta.url).resolve('@jsquash/webp/codec/dec/webp_dec.wasm'));
let opened: Promise<void> | undefined;

/** Decodes a WebP picture, a format that the code reader does not support. */
async function decodeWebp(picture: Uint8Array): Promise<ImageData> {
  // The decoder needs the browser's class ImageData, which Node lacks.
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
    // One more than the limit, to detect that there are more.
    maxNumberOfSymbols: LIMITS.codes + 1,
  } as const;
  // Attempts for noise and low contrast: at a smaller size, which reduces noise, then with a filter, and with another threshold. Each takes the same time again.
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
    // Damaged codes are not requested, so an error means a failure of the reader, such as an undecodable picture or too little memory.
    const failure = found.find(({ error, isValid }) => error !== '' && !isValid);
    if (failure !== undefined) throw new Error(failure.error);
    const codes = found.filter(({ isValid }) => isValid).map(({ format, text }) => ({ format, text }));
    if (codes.length > 0) return codes;
  }
  return [];
});
