// Pictures of QR codes for tests.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { prepareZXingModule, writeBarcode } from 'zxing-wasm/writer';
import { pngOf } from './pictures.ts';

const wasm = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/writer/zxing_writer.wasm'));
prepareZXingModule({ overrides: { wasmBinary: Uint8Array.from(wasm).buffer } });

const SCALE = 3;
const MARGIN = 12;

/** A picture with a QR code of each text beside each other, in rows of five. */
export async function picturesOfCodes(texts: readonly string[]): Promise<Uint8Array> {
  const symbols = await Promise.all(
    texts.map(async (text) => (await writeBarcode(text, { format: 'QRCode', withQuietZones: false })).symbol),
  );
  const cell = Math.max(...symbols.map(({ width }) => width)) * SCALE + 2 * MARGIN;
  const [columns, rows] = [Math.min(5, texts.length), Math.ceil(texts.length / 5)];
  const [width, height] = [columns * cell, rows * cell];
  const pixels = new Uint8Array(width * height).fill(255);
  for (const [index, symbol] of symbols.entries())
    for (let y = 0; y < symbol.height * SCALE; y += 1)
      for (let x = 0; x < symbol.width * SCALE; x += 1) {
        const module = symbol.data[Math.floor(y / SCALE) * symbol.width + Math.floor(x / SCALE)] ?? 255;
        const [left, top] = [(index % 5) * cell + MARGIN, Math.floor(index / 5) * cell + MARGIN];
        pixels[(top + y) * width + left + x] = module;
      }
  return pngOf(pixels, width, height);
}
