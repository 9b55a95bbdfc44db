import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installedLanguages, openTextReader } from './picture-text.ts';
import { ScamCheck } from './scam-check.ts';

const CHROMIUM = '/usr/bin/chromium';
/** Of a busy machine. The deadline of the product is not the subject. ms. */
const PATIENCE_MS = 120_000;
/** Messages as a telephone shows them, in the languages whose data may be installed. */
const MESSAGES = [
  ['eng', 'Your parcel is held at customs. Pay the fee of 1.99 EUR today: dhl-customs-fee.top', /parcel is held at customs/u],
  [
    'deu',
    'Ihr Konto wurde gesperrt. Bestätigen Sie Ihre Daten sofort: sparkasse-prüfung.top',
    /Konto wurde gesperrt.*Bestätigen/su,
  ],
  ['pol', 'Twoja przesyłka została wstrzymana. Dopłać 1,99 zł: inpost-doplata.top', /przesyłka została wstrzymana/u],
] as const;

const reader = openTextReader({ deadlineMs: PATIENCE_MS });
const languages = new Set<string>(installedLanguages().map(({ language }) => language));
const hasChromium = spawnSync(CHROMIUM, ['--version']).error === undefined;
const missing =
  reader === undefined
    ? 'not installed: npm install --no-save tesseract.js-core@7.0.0 @tesseract.js-data/{eng,deu,pol}@1.0.0'
    : hasChromium
      ? undefined
      : 'no Chromium';
if (missing !== undefined) process.stdout.write(`skipped, because pictures with text are made and read here: ${missing}\n`);

const folder = mkdtempSync(join(tmpdir(), 'palisade-picture-text-'));
const check = new ScamCheck(reader === undefined ? {} : { readPictureText: reader.read });
afterAll(() => {
  reader?.close();
  check.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A picture of a page, by Chromium. */
function pictureOf(body: string, size: readonly [number, number] = [1080, 700]): Uint8Array {
  const [page, picture] = [join(folder, 'page.html'), join(folder, 'picture.png')];
  writeFileSync(page, `<meta charset="utf-8"><body style="margin:40px;font:40px sans-serif">${body}`);
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    `--user-data-dir=${join(folder, 'profile')}`,
  ];
  const run = spawnSync(
    CHROMIUM,
    [...flags, `--window-size=${size.join(',')}`, `--screenshot=${picture}`, pathToFileURL(page).href],
    { timeout: PATIENCE_MS },
  );
  if (run.status !== 0) throw new Error(`no picture was made: ${run.stderr.toString().slice(-500)}`);
  return new Uint8Array(readFileSync(picture));
}

/** The text that was read; undefined where it was not. */
async function textOf(picture: Uint8Array): Promise<string | undefined> {
  const reading = await reader?.read(picture);
  return reading !== undefined && 'text' in reading ? reading.text : undefined;
}

/** A gray picture of one color. */
function emptyPicture(width: number, height: number): Uint8Array {
  const chunk = (name: string, content: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const rows = deflateSync(Buffer.alloc(height * (width + 1)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', new Uint8Array()),
  ]);
}

describe.runIf(missing === undefined)('the text of a picture', () => {
  test.each(MESSAGES)(
    'is read and judged: %s',
    async (language, message, expected) => {
      if (!languages.has(language)) {
        process.stdout.write(`skipped: the data of ${language} is not installed\n`);
        return;
      }
      const picture = pictureOf(`<p>${message}</p>`);
      expect(await textOf(picture)).toMatch(expected);
      const { verdict, reasons, checked } = await check.checkFile('message.png', picture);
      expect(verdict).toBe('dangerous');
      expect(reasons.some(({ span }) => span?.source === 'picture')).toBe(true);
      expect(checked.find(({ part }) => part === 'picture_text')?.state).toBe(languages.size === 8 ? 'checked' : 'not_checked');
    },
    PATIENCE_MS * 2,
  );

  test(
    'is empty where there is none',
    async () => {
      expect((await textOf(emptyPicture(1_080, 700)))?.trim()).toBe('');
      expect((await check.checkFile('a.png', emptyPicture(1_080, 700))).verdict).toBe('nothing_found');
    },
    PATIENCE_MS,
  );

  test('is not read where the picture is too large or of another format', async () => {
    const picture = emptyPicture(5_000, 4_000);
    expect(await reader?.read(picture)).toEqual({ code: 'too_large' });
    const { checked } = await check.checkFile('a.png', picture);
    expect(checked.find(({ part }) => part === 'picture_text')).toMatchObject({ state: 'not_checked', code: 'too_large' });
    expect(checked.find(({ part }) => part === 'codes')).toMatchObject({ state: 'checked' });
    const gif = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex');
    expect(await reader?.read(gif)).toEqual({ code: 'picture_format' });
  }, 60_000);

  test(
    'is read of the picture after a damaged one',
    async () => {
      const picture = pictureOf('<p>Hello from the seaside</p>');
      expect(await reader?.read(picture.slice(0, 200))).toEqual({ code: 'picture_broken' });
      expect(await textOf(picture)).toContain('Hello from the seaside');
    },
    PATIENCE_MS,
  );
});

describe('without the packages', () => {
  beforeAll(() => writeFileSync(join(folder, 'elsewhere.js'), ''));
  test('there is no reader', () => {
    const from = pathToFileURL(join(folder, 'elsewhere.js')).href;
    expect(installedLanguages(from)).toEqual([]);
    expect(openTextReader({ from })).toBeUndefined();
  });
  test('the answer says so', async () => {
    const without = new ScamCheck();
    const { checked } = await without.checkFile('a.png', emptyPicture(30, 30));
    without.close();
    expect(checked.find(({ part }) => part === 'picture_text')).toMatchObject({ state: 'not_checked', code: 'no_text_reader' });
  }, 60_000);
});
