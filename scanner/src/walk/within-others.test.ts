import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { examined } from '#test/examined.ts';
import { EICAR } from '#test/files.ts';
import { maskedFiles } from '#test/written-rows.ts';
import { hitsOf } from './carving.ts';

// A file within a file within a file: the verdict of the middle one must not hide the one around it, nor the one in it.

const uuencoded = (text: string) =>
  `begin 644 hello.txt\n${String.fromCharCode(32 + text.length)}${[...Buffer.from(text)]
    .reduce((bits, byte) => bits + byte.toString(2).padStart(8, '0'), '')
    .replaceAll(/.{6}/g, (six) => String.fromCharCode((Number.parseInt(six, 2) || 64) + 32))}\n\`\nend\n`;

describe('three deep', () => {
  // Of the seeds 11 to 20 of test/grammar: silently clean before, and opened by other programs.
  test.each([...maskedFiles('within-others.json')])('is read: %s', async (_, bytes) => {
    expect((await examined(bytes)).threat).not.toBeNull();
  });
});

test('a comment of 100 bytes is searched, not only at its first ones', async () => {
  const comment = Buffer.concat([Buffer.from('\x01\x02\x03\x04'), gzipSync(EICAR)]);
  expect(comment.length).toBeLessThan(128);
  const picture = [
    Buffer.from('GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x21\xfe', 'latin1'),
    Buffer.from([comment.length]),
    comment,
    Buffer.from('\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b', 'latin1'),
  ];
  expect((await examined(Buffer.concat(picture), { name: 'picture.gif' })).threat).toBe('EICAR-Test-File');
});

describe('lines of an encoded file', () => {
  test('claim themselves, and not the bytes behind them', async () => {
    const { threat } = await examined(Buffer.concat([Buffer.from(uuencoded('hello, this is harmless')), gzipSync(EICAR)]));
    expect(threat).toBe('EICAR-Test-File');
  });

  test('are taken out once', async () => {
    const { coverage, unread } = await examined(Buffer.from(`A letter.\n\n${uuencoded('hello, this is harmless')}`));
    expect([coverage.members_total, coverage.members_scanned, unread]).toEqual([1, 1, []]);
  });
});

describe('a PDF behind something else', () => {
  test('is taken out once', async () => {
    const pdf = '%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n';
    const { unread, coverage } = await examined(Buffer.from(`A few words before it.\n${pdf}`));
    expect([unread, coverage.members_total]).toEqual([[], 0]);
  });
});

describe('the magic of compress', () => {
  test('is nothing in random bytes', () => {
    const bytes = randomBytes(4 * 1024 ** 2);
    for (let at = 0; at < bytes.length - 3; at += 512) bytes.write('1f9d90', at, 'hex');
    expect(hitsOf(openReader({ size: bytes.length, bytes }, new Budget(SCAN_LIMITS, bytes.length)), new Map())).toEqual([]);
  });

  test('is found behind any number of places that only look like it', async () => {
    // The text of a test file packed by ncompress 5.0.
    const packed = Buffer.from(
      '1f9d90586a3c0901a504902050b6d0e002454b401a28a078497163c8108a7d481449322488941653a8047142c423911623a924b192444a95292da81409d9c248122645429040b202890a',
      'hex',
    );
    const decoys = Buffer.alloc(3 * 1024 ** 2 + 1, '1f9d', 'hex');
    expect((await examined(Buffer.concat([decoys, packed]))).threat).toBe('EICAR-Test-File');
  });
});
