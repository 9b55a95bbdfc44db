// proves: asvs-5.2.3
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { listScans, scanFile } from '@palisade/contract/antivirus';
import { EICAR, noise, PDF, zip } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startScanningApp, startTestApp } from '#test/harness.ts';
import { scanned, upload } from '#test/upload.ts';

const MIB = 1024 ** 2;

describe('a record of what the engine read', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();

  test('names a finding in an archive, its engine and its coverage', async () => {
    const inner = zip([
      { name: 'a/readme.txt', content: Buffer.from('hello') },
      { name: 'a/eicar.com', content: EICAR },
    ]);
    const record = await scanned(app, token, 'outer.zip', zip([{ name: 'in\u200bner.zip', content: inner }]));
    expect(record).toMatchObject({
      ...{ scan_status: 'infected', threat_detected: 'EICAR-Test-File', status_detail: null, media_type: 'application/zip' },
      ...{ threat_member: 'in\ufffdner.zip / eicar.com', coverage: { members_total: 3, members_scanned: 3 } },
    });
    expect(record.engines).toMatchObject([{ name: 'YARA-X', verdict: 'infected', threat: 'EICAR-Test-File' }]);
    expect(record.engines[0]?.signatures_version).toMatch(/^[0-9a-f]{12}$/);
  });

  test('is pending where something could not be read, also beside a finding, which wins', async () => {
    const locked = { name: 'secret.txt', content: noise(64), flags: 1 };
    expect(await scanned(app, token, 'unread.zip', zip([locked]))).toMatchObject({
      ...{ scan_status: 'pending', status_detail: 'encrypted', threat_detected: null },
    });
    expect(await scanned(app, token, 'half.zip', zip([{ name: 'eicar.com', content: EICAR }, locked]))).toMatchObject({
      ...{ scan_status: 'infected', status_detail: 'encrypted', coverage: { encrypted: 1, members_scanned: 1 } },
    });
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean', status_detail: null });
  });
});

describe('the route of uploads', async () => {
  const app = await startTestApp({ surroundings: { upload_limits: { maximum: MIB } } });
  const { token } = await app.signIn();
  const send = (body: FormData | string, headers: Record<string, string> = {}) =>
    app.fetch(`/api${scanFile.path}`, { method: 'POST', body, headers: { authorization: `Bearer ${token}`, ...headers } });
  const nothingIsKept = async () => {
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
    expect(replyOf(await app.call(listScans, { token }))).toEqual([]);
  };

  test('refuses a body of another type, one without the file, and one that is too large, and keeps nothing', async () => {
    expect((await send('hello', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send('{}', { 'content-type': 'application/json' })).status).toBe(415);
    const answer = await send(new FormData());
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: 'invalid_field', errors: [{ field: 'file' }] });
    const problem = problemOf(await upload(app, token, { name: 'big', content: noise(8 * MIB) }));
    expect(problem).toMatchObject({ status: 413, code: 'too_large' });
    await nothingIsKept();
  });

  test('takes zero bytes, for which no engine is asked, and a name of 4 KB, which it shows in 255 bytes', async () => {
    expect(await scanned(app, token, 'empty', Buffer.alloc(0))).toMatchObject({ scan_status: 'clean', size: 0, engines: [] });
    const record = await scanned(app, token, `${'é'.repeat(2048)}.pdf`, PDF);
    expect(Buffer.byteLength(record.filename)).toBeLessThanOrEqual(255);
    expect(record.filename).toMatch(/^é+….pdf$/);
  });
});
