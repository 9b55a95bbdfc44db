import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, pngOf, screenshotOf } from '#test/pictures.ts';
import { installedLanguages, openTextReader } from './picture-text.ts';
import { ScamCheck } from './scam-check.ts';

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

/** The text that was read; undefined where it was not. */
async function textOf(picture: Uint8Array): Promise<string | undefined> {
  const reading = await reader?.read(picture);
  return reading !== undefined && 'text' in reading ? reading.text : undefined;
}

/** A black picture. */
const emptyPicture = (width: number, height: number) => pngOf(new Uint8Array(width * height), width, height);

describe.runIf(missing === undefined)('the text of a picture', () => {
  test.each(MESSAGES)(
    'is read and judged: %s',
    async (language, message, expected) => {
      if (!languages.has(language)) {
        process.stdout.write(`skipped: the data of ${language} is not installed\n`);
        return;
      }
      const picture = screenshotOf(`<p>${message}</p>`, [1080, 700]);
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
      const picture = screenshotOf('<p>Hello from the seaside</p>', [1080, 700]);
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
