// proves: asvs-16.5.3
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { displayName } from '@palisade/scanner/filename';
import { noise } from '@palisade/scanner/test/files';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { attachmentHeader } from '#platform/file-name.ts';
import { receiveUpload } from '#platform/upload.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-receive-'));
afterEach(() => void vi.useRealTimers());

const LIMITS = { maximum: 1_000_000, stall_ms: 300, slow: { window_ms: 1_000, bytes: 1_000 }, total_ms: 5_000 };
const partOf = (parameters: string, content: string | Buffer = 'hello') =>
  Buffer.concat([
    Buffer.from(`--x\r\nContent-Disposition: form-data; ${parameters}\r\nContent-Type: text/plain\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const FILE = 'name="file"; filename="a"';
const END = Buffer.from('--x--\r\n');

/** A request whose body the test writes. */
function open(content_type = 'multipart/form-data; boundary=x', memory_bytes = 1_000) {
  const raw = Object.assign(new PassThrough(), { complete: false });
  raw.once('end', () => (raw.complete = true));
  const cancel = new AbortController();
  const received = receiveUpload(
    { raw, headers: { 'content-type': content_type } },
    { field: 'file', path: join(folder, 'file'), memory_bytes, take: () => {}, signal: cancel.signal, ...LIMITS },
  );
  received.catch(() => {});
  return { raw, received, cancel };
}
const receive = (body: Buffer, content_type?: string) => {
  const { raw, received } = open(content_type);
  raw.end(body);
  return received;
};

test.each([5, 1_000, 1_001, 300_000])('a file of %i bytes is in memory or in its file, whole and hashed', async (size) => {
  const content = noise(size);
  const { bytes, ...stored } = await receive(Buffer.concat([partOf(FILE, content), END]));
  expect(stored).toMatchObject({ size, filename: 'a' });
  expect(stored.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect([bytes !== undefined, readdirSync(folder)]).toEqual(size <= 1_000 ? [true, []] : [false, ['file']]);
  rmSync(join(folder, 'file'), { force: true });
});

// proves: asvs-5.2.1
test.each([
  ['no field', END, { code: 'invalid_field' }],
  ['another field', Buffer.concat([partOf('name="other"; filename="a"'), END]), { code: 'invalid_field' }],
  ['a field of text', Buffer.concat([partOf('name="file"'), END]), { code: 'invalid_field' }],
  ['two files', Buffer.concat([partOf(FILE), partOf(FILE), END]), { code: 'invalid_field' }],
  ['another file first', Buffer.concat([partOf('name="b"; filename="b"'), partOf(FILE), END]), { code: 'invalid_field' }],
  ['another file after it', Buffer.concat([partOf(FILE), partOf('name="b"; filename="b"'), END]), { code: 'invalid_field' }],
  ['no parts', Buffer.from('no parts here'), { code: 'malformed' }],
  ['half a file', partOf(FILE).subarray(0, -10), { code: 'malformed' }],
  ['more bytes than it may have', Buffer.concat([partOf(FILE, noise(1_000_001)), END]), { code: 'too_large' }],
])('a body with %s is refused, and leaves no file', async (_, body, problem) => {
  await expect(receive(body)).rejects.toMatchObject(problem);
  expect(readdirSync(folder)).toEqual([]);
});

test('a multipart body without a boundary is refused', async () => {
  await expect(receive(END, 'multipart/form-data')).rejects.toMatchObject({ code: 'malformed' });
});

// proves: attack-C.15-1
test.each([
  ['of which nothing comes', 0, 1_000, undefined],
  ['that comes too slowly', 50, 100, 'The upload was too slow and stopped. Upload the file again over a faster connection.'],
  ['that never ends', 300, 100, 'The upload took too long and stopped. Upload the file again over a faster connection.'],
])('an upload %s is dropped', async (_, bytes, every_ms, message) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  // In memory: no disk delays a byte.
  const { raw, received } = open(undefined, 1_000_000);
  raw.write(partOf(FILE, noise(2_000)).subarray(0, -10));
  const dripping = setInterval(() => bytes > 0 && raw.writable && raw.write(noise(bytes)), every_ms);
  for (let step = 0; step < 60; step += 1) {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  clearInterval(dripping);
  await expect(received).rejects.toMatchObject({ code: 'upload_stalled', ...(message !== undefined && { message }) });
  vi.useRealTimers();
  await vi.waitFor(() => expect(readdirSync(folder)).toEqual([]));
});

describe('the name of an upload', () => {
  test.each([
    ['filename="quarterly %22final%22.pdf"', 'quarterly "final".pdf'],
    ['filename="100%25 sure.txt"', '100%25 sure.txt'],
    ['filename="two%0D%0Alines.txt"', 'two\ufffd\ufffdlines.txt'],
    [String.raw`filename="back\slash.txt"`, String.raw`back\slash.txt`],
    [String.raw`filename="..\..\boot.ini"`, String.raw`..\..\boot.ini`],
    [String.raw`filename="C:\Users\maria\report.pdf"`, 'report.pdf'],
    ['filename="../../etc/passwd"', 'passwd'],
    ['filename=".."', 'unnamed file'],
    ['filename="a\u0000b\u0007.txt"', 'a\ufffdb\ufffd.txt'],
    ['filename="invoice\u202efdp.exe"', 'invoice\ufffdfdp.exe'],
    ['filename="Übersicht ＋ 日本.txt"', 'Übersicht ＋ 日本.txt'],
    [`filename="it's; a=b.txt"`, "it's; a=b.txt"],
    ['filename="☃️ 👩‍👩‍👧 photo.jpg"', '☃️ 👩‍👩‍👧 photo.jpg'],
    [String.raw`filename="quoted \"name\".txt"`, 'quoted "name".txt'],
    [`filename="plain.txt"; filename*=UTF-8''na%C3%AFve%20%e2%82%ac.txt`, 'naïve €.txt'],
    [`filename*=UTF-8''100%2522.txt; filename="plain.txt"`, '100%22.txt'],
    ['filename=bare.txt', 'bare.txt'],
  ])('sent as %s is shown as %j', async (parameter, shown) => {
    const { filename } = await receive(Buffer.concat([partOf(`name="file"; ${parameter}`), END]));
    expect(displayName(filename)).toBe(shown);
  });

  test.each(['quarterly "final".pdf', 'back\\slash.txt', "it's (1) *.txt", '日本 €.txt', 'a;b,c.txt', '100%25.txt'])(
    'is %j again in a download',
    (name) => {
      const header = attachmentHeader(name);
      // RFC 8187, section 3.2.1: attr-char and percent escapes alone.
      const [, full] = /filename\*=UTF-8''([!#$&+.^_`|~\w%-]+)$/u.exec(header) ?? [];
      expect(decodeURIComponent(full ?? '')).toBe(name);
      expect(header).toMatch(/^attachment; filename="[^"\\%]*"; /u);
    },
  );
});
