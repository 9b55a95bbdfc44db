// proves: asvs-5.2.3, asvs-16.5.3
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listScans } from '@palisade/contract/antivirus';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import { pdf } from '@palisade/scanner/test/containers';
import { EICAR, LARGE_PIECES, nestedGzip, noise, PDF, tar, zip, zipBomb } from '@palisade/scanner/test/files';
import { processorTime } from '@palisade/scanner/test/processor-time';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { describe, expect, test, vi } from 'vitest';
import { problemOf, replyOf, startScanningApp } from '#test/harness.ts';
import { openUpload, scanned, upload } from '#test/upload.ts';

const MIB = 1024 ** 2;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const ZIP_BOMB = zipBomb();

describe('a verdict', async () => {
  const app = await startScanningApp({ surroundings: { signatures_folder: SIGNATURES_FOLDER } });
  const { token } = await app.signIn();
  const scan = (name: string, content: Buffer) => scanned(app, token, name, content);

  test('the EICAR test file is infected, under its name, by the engine that says so', async () => {
    const record = await scan('eicar.com', EICAR);
    expect(record).toMatchObject({
      scan_status: 'infected',
      threat_detected: 'EICAR-Test-File',
      threat_member: null,
      status_detail: null,
      size: 68,
    });
    expect(record.file_hash).toBe(sha256(EICAR));
    expect(record.engines).toMatchObject([{ name: 'YARA-X', verdict: 'infected', threat: 'EICAR-Test-File' }]);
    expect(record.engines[0]?.signatures_version).toMatch(/^[0-9a-f]{12}$/);
  });

  test('a file that was read whole and matches nothing is clean', async () => {
    expect(await scan('paper.pdf', PDF)).toMatchObject({
      scan_status: 'clean',
      status_detail: null,
      coverage: { members_total: 0, bytes_scanned: PDF.length, whole_file_conditions: true },
    });
  });

  test('zero bytes are clean, and no engine is asked', async () => {
    expect(await scan('empty', Buffer.alloc(0))).toMatchObject({
      scan_status: 'clean',
      size: 0,
      engines: [],
      file_hash: sha256(Buffer.alloc(0)),
    });
  });

  test('archives are read at every level, and the member is named', async () => {
    const inner = zip([
      { name: 'a/readme.txt', content: Buffer.from('hello') },
      { name: 'a/eicar.com', content: EICAR },
    ]);
    expect(await scan('outer.zip', zip([{ name: 'deep/inner.zip', content: inner }]))).toMatchObject({
      scan_status: 'infected',
      threat_detected: 'EICAR-Test-File',
      threat_member: 'inner.zip / eicar.com',
      coverage: { members_total: 3, members_scanned: 3 },
    });
    expect(await scan('eicar.com.gz', gzipSync(EICAR))).toMatchObject({ scan_status: 'infected', threat_member: 'eicar.com' });
    const packed = await tar([
      { name: 'notes.txt', content: Buffer.from('n') },
      { name: 'x/eicar.com', content: EICAR },
    ]);
    expect(await scan('a.tar', packed)).toMatchObject({
      scan_status: 'infected',
      threat_member: 'eicar.com',
      coverage: { members_total: 2, members_scanned: 2 },
    });
    expect(await scan('a.tgz', gzipSync(packed))).toMatchObject({ scan_status: 'infected', threat_member: 'a.tar / eicar.com' });
  });

  test('an archive of harmless members is clean, and says how much was read', async () => {
    const content = zip(
      Array.from({ length: 12 }, (_, index) => ({ name: `${index}.txt`, content: Buffer.from(`text ${index}`) })),
    );
    expect(await scan('many.zip', content)).toMatchObject({
      scan_status: 'clean',
      coverage: { members_total: 12, members_scanned: 12 },
    });
  });

  test.each([
    ['an encrypted member', 'encrypted', zip([{ name: 'secret.txt', content: noise(64), flags: 1 }])],
    ['an unknown compression', 'unsupported', zip([{ name: 'a.wav', content: noise(64), method: 97 }])],
    ['an LZ4 archive', 'unsupported', Buffer.concat([Buffer.from('04224d18', 'hex'), noise(100)])],
    ['a 7z archive that is none', 'damaged', Buffer.concat([Buffer.from('377abcaf271c0004', 'hex'), noise(100)])],
    ['a zip cut short', 'damaged', zip([{ name: 'a.txt', content: noise(4000) }]).subarray(0, 2000)],
    ['a gzip cut short', 'damaged', gzipSync(noise(4000)).subarray(0, 2000)],
    ['nesting of 17', 'depth', nestedGzip(Buffer.from('bottom'), 17)],
    ['a bomb', 'bomb', ZIP_BOMB],
  ])('%s is pending (%s), never clean', async (_, status_detail, content) => {
    expect(await scan('unread', content)).toMatchObject({ scan_status: 'pending', status_detail, threat_detected: null });
  });

  test.runIf(process.platform === 'linux').each([
    ['zip', ZIP_BOMB],
    ['PDF', pdf(Buffer.alloc(300 * MIB))],
    ['tar in gzip', gzipSync(await tar([{ name: 'zeros', content: Buffer.alloc(300 * MIB) }]), LARGE_PIECES)],
  ])('a bomb (%s) takes less than 2 s and 100 MB of its engine', async (_, content) => {
    await scan('warm-up', randomBytes(100));
    const [pid = 0] = app.app.engine.pids();
    const memory = (field: string) =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
    const before = memory('VmRSS');
    // The peak begins anew (proc(5), clear_refs).
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const began = processorTime(pid);
    const record = await scan('bomb', Buffer.concat([content, randomBytes(16)]));
    expect(record).toMatchObject({ scan_status: 'pending', status_detail: 'bomb' });
    // Beside other work on the machine it takes longer than its seconds of a processor.
    expect(processorTime(pid) - began).toBeLessThan(2);
    expect(memory('VmHWM') - before).toBeLessThan(100 * MIB);
    expect(app.app.engine.pids()).toContain(pid);
  });

  test('nesting of 16 is read', async () => {
    expect(await scan('deep.gz', nestedGzip(EICAR, 16))).toMatchObject({ scan_status: 'infected' });
  });

  test('a hit in what could be read wins over what could not', async () => {
    const half = zip([
      { name: 'eicar.com', content: EICAR },
      { name: 'secret', content: noise(64), flags: 1 },
    ]);
    expect(await scan('half.zip', half)).toMatchObject({
      scan_status: 'infected',
      status_detail: 'encrypted',
      coverage: { encrypted: 1, members_scanned: 1 },
    });
    const recovered = gzipSync(Buffer.concat([EICAR, Buffer.from('\n')])).subarray(0, -8);
    expect(await scan('cut.gz', recovered)).toMatchObject({ scan_status: 'infected', status_detail: 'damaged' });
  });
});

// proves: security-35
describe('limits', async () => {
  const app = await startScanningApp({
    surroundings: {
      scan_limits: { ...SCAN_LIMITS, members: 10, unpacked_bytes: 4 * MIB, time_ms: 60_000 },
      upload_limits: { maximum: MIB },
    },
  });
  const { token } = await app.signIn();
  const spool = join(app.data_dir, 'spool');

  test('more members than the limit are pending too_many_members', async () => {
    const content = zip(Array.from({ length: 11 }, (_, index) => ({ name: `${index}`, content: Buffer.from('x') })));
    expect(await scanned(app, token, 'many.zip', content)).toMatchObject({
      scan_status: 'pending',
      status_detail: 'too_many_members',
      coverage: { members_scanned: 10 },
    });
  });

  test('more unpacked bytes than the limit are pending too_large', async () => {
    const content = Buffer.alloc(5 * MIB, Buffer.from('many words, '.repeat(10)));
    expect(await scanned(app, token, 'big.gz', gzipSync(content))).toMatchObject({
      scan_status: 'pending',
      status_detail: 'too_large',
    });
  });

  // proves: asvs-5.2.1
  test('an upload over the limit is 413 in its middle, and is removed', async () => {
    const problem = problemOf(await upload(app, token, { name: 'big', content: noise(8 * MIB) }));
    expect(problem).toMatchObject({ status: 413, code: 'too_large' });
    expect(readdirSync(spool)).toEqual([]);
    expect(await scanned(app, token, 'fits', noise(MIB))).toMatchObject({ scan_status: 'clean' });
  });
});

describe('an upload', async () => {
  const app = await startScanningApp({ surroundings: { upload_limits: { stall_ms: 300 } } });
  const { token } = await app.signIn();

  test('that stalls is 408, and is removed', async () => {
    const slow = openUpload(app, token);
    await slow.write(noise(1000));
    expect(await slow.answer).toMatchObject({ status: 408 });
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
    slow.cut();
  });
});

describe('a bad upload', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();
  const spool = join(app.data_dir, 'spool');
  const send = (body: FormData | string, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/api/antivirus/scan`, { method: 'POST', body, headers: { authorization: `Bearer ${token}`, ...headers } });

  test('that is cut off in its middle leaves no file after a second, and no record', async () => {
    const cut = openUpload(app, token);
    await cut.write(noise(3 * MIB));
    await vi.waitFor(() => expect(readdirSync(spool)).toHaveLength(1));
    cut.cut();
    await vi.waitFor(() => expect(readdirSync(spool)).toEqual([]), { timeout: 1000, interval: 20 });
    expect(replyOf(await app.call(listScans, { token }))).toEqual([]);
  });

  test('without a token is 401', async () => {
    expect(problemOf(await upload(app, undefined, { name: 'a', content: PDF }))).toMatchObject({ status: 401 });
  });

  test('without the file field is 422 and names the missing field', async () => {
    const other = new FormData();
    other.append('attachment', new Blob(['x']), 'a.txt');
    const text = new FormData();
    text.append('file', 'just text');
    for (const form of [new FormData(), other, text]) {
      const answer = await send(form);
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ code: 'invalid_field', errors: [{ field: 'file' }] });
    }
  });

  test.each([[['file', 'file']], [['file', 'other']], [['other', 'file']]])(
    'with two files is 422: none is left out without a word (%j)',
    async (fields) => {
      const form = new FormData();
      for (const [index, field] of fields.entries()) form.append(field, new Blob([EICAR]), `${index}.txt`);
      expect((await send(form)).status).toBe(422);
      expect(readdirSync(spool)).toEqual([]);
      expect(replyOf(await app.call(listScans, { token }))).toEqual([]);
    },
  );

  test('that is not multipart is 415', async () => {
    expect((await send('hello', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send('{}', { 'content-type': 'application/json' })).status).toBe(415);
  });

  test('with a multipart body that is none is 400', async () => {
    expect((await send('no parts here', { 'content-type': 'multipart/form-data; boundary=x' })).status).toBe(400);
    expect((await send('no boundary', { 'content-type': 'multipart/form-data' })).status).toBe(400);
    const truncated = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf a file';
    expect((await send(truncated, { 'content-type': 'multipart/form-data; boundary=x' })).status).toBe(400);
    expect(readdirSync(spool)).toEqual([]);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    // A backslash is a letter of a name, except on Windows.
    ['..\\..\\boot.ini', '..\\..\\boot.ini'],
    ['a\u0000b\u0007.txt', 'a\ufffdb\ufffd.txt'],
    ['invoice\u202efdp.exe', 'invoice\ufffdfdp.exe'],
    ['☃️ 👩‍👩‍👧 photo.jpg', '☃️ 👩‍👩‍👧 photo.jpg'],
    ['..', 'unnamed file'],
  ])('named %j is taken, and shown as %j', async (name, shown) => {
    const form = `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\nhello\r\n--x--\r\n`;
    const answer = await send(form, { 'content-type': 'multipart/form-data; boundary=x' });
    expect(await answer.json()).toMatchObject({ filename: shown, scan_status: 'clean' });
    expect(readdirSync(spool)).toEqual([]);
  });

  test('with a name of 4 KB is taken, and shown in 255 bytes with its extension', async () => {
    const record = await scanned(app, token, `${'é'.repeat(2048)}.pdf`, PDF);
    expect(Buffer.byteLength(record.filename)).toBeLessThanOrEqual(255);
    expect(record.filename).toMatch(/^é+….pdf$/);
  });
});

describe('the list', async () => {
  const app = await startScanningApp();
  const { token } = await app.signIn();
  const { token: stranger } = await app.signIn();

  test('is one’s own, newest first, in pages', async () => {
    for (const name of ['one', 'two', 'three']) await scanned(app, token, name, Buffer.from(name));
    const all = replyOf(await app.call(listScans, { token }));
    expect(all.map((scan) => scan.filename)).toEqual(['three', 'two', 'one']);
    expect(replyOf(await app.call(listScans, { token: stranger }))).toEqual([]);

    const first = await app.call(listScans, { token, query: '?limit=2' });
    expect(replyOf(first).map((scan) => scan.filename)).toEqual(['three', 'two']);
    const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await app.call(listScans, { token, query: next.slice(next.indexOf('?')) });
    expect(replyOf(second).map((scan) => scan.filename)).toEqual(['one']);
    expect(second.headers.get('link')).toBeNull();
  });
});

describe('a time limit', async () => {
  const app = await startScanningApp({ surroundings: { scan_limits: { ...SCAN_LIMITS, time_ms: 0 } } });
  const { token } = await app.signIn();
  test('that is passed leaves the file pending, never clean', async () => {
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'pending', status_detail: 'time_limit' });
  });
});
