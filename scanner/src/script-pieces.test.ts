import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { scriptSamples, TABLES } from '#test/script-samples.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { examine } from './examine.ts';
import { Budget, SCAN_LIMITS } from './limits.ts';
import { compileRules } from './rules.ts';
import { scriptPieces } from './script-pieces.ts';

const rules = await compileRules(join(SIGNATURES_FOLDER, 'rules'));
const folder = mkdtempSync(join(tmpdir(), 'palisade-scripts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of a language's samples every fifth is tried here, and all of them in script-pieces.deep.test.ts. */
const STEP = 5;
const SEED = 269;

async function threatOf(bytes: Buffer): Promise<string | null> {
  const parts = { match: rules.match, limits: SCAN_LIMITS, folder: join(folder, 'unpacked') };
  return (await examine({ bytes, size: bytes.length, name: 'file' }, parts)).threat;
}

describe.each(Object.keys(TABLES))('%s that hides what it runs', (language) => {
  test('is found, and its harmless neighbours are not', async () => {
    const wrong: string[] = [];
    for (const [index, { note, harmful, bytes }] of scriptSamples(language, SEED).entries())
      if (index % STEP === 0 && ((await threatOf(bytes)) !== null) !== harmful) wrong.push(note);
    expect(wrong).toEqual([]);
  });
});

describe('a piece of a script', () => {
  const piecesOf = (text: string) =>
    [...scriptPieces(Buffer.from(text, 'latin1'), new Budget(SCAN_LIMITS, 1024 ** 2))].map(String);
  const coded = (text: string) => Buffer.from(text, 'latin1').toString('base64');

  test('of PHP is a page of PHP', () => {
    expect(piecesOf(`<?php eval(base64_decode('${coded('echo 1 + 1; // two')}'));`)).toContain('<?php echo 1 + 1; // two');
  });

  test('that has its own mark keeps it', () => {
    expect(piecesOf(`<?php eval('?>' . base64_decode('${coded('<?php echo 1 + 1;')}'));`)).toContain('<?php echo 1 + 1;');
  });

  test('stands in its script in place of the calls that decode it', () => {
    expect(piecesOf(`Shell Decode(StrReverse("${[...coded('notepad.exe a b c')].reverse().join('')}")), 0`)).toContain(
      'Shell "notepad.exe a b c", 0',
    );
  });

  test('is not looked for in a text that neither decodes nor runs anything', () => {
    expect(piecesOf(`The picture: ${coded('these are only some words')}`)).toEqual([]);
  });

  test('costs no more than its budget where literals are many and long', () => {
    const text = `<?php eval(strrev(str_rot13(base64_decode('${'QUJD'.repeat(200)}')))); ${`'${'b'.repeat(900)}'.`.repeat(270)}`;
    const budget = new Budget(SCAN_LIMITS, text.length);
    const began = process.cpuUsage();
    expect([...scriptPieces(Buffer.from(text), budget)].length).toBeLessThan(3000);
    expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
  });
});
