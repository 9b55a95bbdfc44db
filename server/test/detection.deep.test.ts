import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasClamd, startClamd } from '@palisade/scanner/test/clamd';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, PDF } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { containersOf } from '@palisade/scanner/test/samples/index';
import { afterAll, expect, test } from 'vitest';
import { startScanningApp } from './harness.ts';
import { scanned } from './upload.ts';

/** Of the package clamav-testfiles: one program in 44 kinds of archives, installers, documents and packers. */
const FOLDER = '/usr/share/clamav-testfiles';
const files = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
if (files.length === 0) process.stdout.write('skipped: the package clamav-testfiles is not installed\n');

const PROTECTED = /encrypted|aes|zipcrypto/;
const containers = new Map([...PACKED_EICAR, ...containersOf(EICAR)].filter(([name]) => !PROTECTED.test(name)));

needing('clamd', hasClamd && files.length > 0).describe('with clamd and the embedded engine', async () => {
  const clamd = await startClamd({}, afterAll);
  const app = await startScanningApp({ environment: { SCANNER_URL: clamd.url } });
  const { token } = await app.signIn();
  await eventually(async () => expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean' }));

  test('every test file of ClamAV is infected', async () => {
    const missed: string[] = [];
    for (const name of files) {
      const { scan_status } = await scanned(app, token, name, readFileSync(join(FOLDER, name)));
      if (scan_status !== 'infected') missed.push(name);
    }
    expect(files).toHaveLength(44);
    expect(missed).toEqual([]);
  });

  test.each([...containers])('EICAR in %s is infected', async (name, content) => {
    expect(await scanned(app, token, name, content)).toMatchObject({
      scan_status: 'infected',
      threat_detected: 'EICAR-Test-File',
    });
  });
});
