import { scanSchema } from '@palisade/contract/antivirus';
import { describe, expect, test } from 'vitest';
import { attachmentHeader } from '#platform/file-name.ts';
import { startTestApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';

describe('the name of an upload', async () => {
  const app = await startTestApp();
  const { token } = await app.signIn('maria');

  test.each([
    ['quarterly "final".pdf', 'quarterly "final".pdf'],
    ['100%25 sure.txt', '100%25 sure.txt'],
    ['a%20b%2Fc.txt', 'a%20b%2Fc.txt'],
    ['two\r\nlines.txt', 'two\ufffd\ufffdlines.txt'],
    ['back\\slash.txt', 'back\\slash.txt'],
    ['two\\\\and one\\', 'two\\\\and one\\'],
    ['C:\\Users\\maria\\report.pdf', 'report.pdf'],
    ['Übersicht ＋ 日本.txt', 'Übersicht ＋ 日本.txt'],
    ["it's; a=b.txt", "it's; a=b.txt"],
    ['می\u200cخواهم.pdf', 'می\u200cخواهم.pdf'],
    ['👩\u200d🔬.png', '👩\u200d🔬.png'],
  ])('%j that a browser sends is %j', async (name, shown) => {
    expect((await scanned(app, token, name, Buffer.from(`text of ${name}`))).filename).toBe(shown);
  });

  test.each([
    [String.raw`filename="quoted \"name\".txt"`, 'quoted "name".txt'],
    [`filename="plain.txt"; filename*=UTF-8''na%C3%AFve%20%e2%82%ac.txt`, 'naïve €.txt'],
    [`filename*=UTF-8''100%2522.txt; filename="plain.txt"`, '100%22.txt'],
    ['filename=bare.txt', 'bare.txt'],
  ])('%s that a program sends is %j', async (parameter, shown) => {
    const boundary = 'x1234567890';
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; ${parameter}\r\nContent-Type: text/plain\r\n\r\n${parameter}\r\n--${boundary}--\r\n`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${boundary}` };
    const answer = await fetch(`${app.url}/api/antivirus/scan`, { method: 'POST', body, headers });
    const { filename } = scanSchema.parse(await answer.json());
    expect(filename).toBe(shown);
  });
});

test.each(['quarterly "final".pdf', 'back\\slash.txt', "it's (1) *.txt", '日本 €.txt', 'a;b,c.txt', '100%25.txt'])(
  'a download gives %j back',
  (name) => {
    const header = attachmentHeader(name);
    // RFC 8187, section 3.2.1: attr-char and percent escapes alone.
    const [, full] = /filename\*=UTF-8''([!#$&+.^_`|~\w%-]+)$/u.exec(header) ?? [];
    expect(decodeURIComponent(full ?? '')).toBe(name);
    expect(header).toMatch(/^attachment; filename="[^"\\%]*"; /u);
  },
);
