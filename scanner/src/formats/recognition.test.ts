import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/walk/limits.ts';
import { noise, tar, zip } from '#test/files.ts';
import { containerOf } from './recognition.ts';

const hex = (digits: string) => Buffer.concat([Buffer.from(digits, 'hex'), Buffer.alloc(64)]);

const budget = new Budget({ ...SCAN_LIMITS, time_ms: Number.POSITIVE_INFINITY }, 1024 ** 3);

describe('the kind of a container', async () => {
  test.each([
    ['zip', zip([{ name: 'a', content: Buffer.from('a') }])],
    ['zip', zip([])],
    ['gzip', gzipSync(Buffer.from('a'))],
    ['tar', await tar([{ name: 'a', content: Buffer.from('a') }])],
    ['7z', hex('377abcaf271c')],
    ['rar5', hex('526172211a070100')],
    ['xz', hex('fd377a585a00')],
    ['bzip2', hex('425a683931415926535900')],
    ['zstd', hex('28b52ffd')],
    ['cab', hex('4d53434600000000')],
    ['ar', Buffer.from('!<arch>\ndebian-binary')],
    ['arj', hex('60ea2900221602000002022a')],
    ['Z', hex('1f9d9061c400')],
    ['lz4', hex('04224d18')],
    ['lzip', Buffer.from('LZIP\x01')],
    ['lzop', hex('894c5a4f000d0a1a0a')],
    ['zlib', deflateSync(Buffer.from('a text'))],
    ['zstd', hex('502a4d180000000028b52ffd')],
    ['bzip2', hex('425a683917724538509000000000')],
    ['lzma', hex('5d00008000ffffffffffffffff00')],
    ['lzma', hex('5d00000600440000000000000000')],
    ['lzma, guessed', hex('5d00000500440000000000000000')],
    [undefined, hex('5d00008000ffffffffffffff7f00')],
    ['lrzip, unsupported', Buffer.from('LRZI\0\x06')],
    ['LUKS, encrypted', hex('4c554b53babe')],
    ['ACE, unsupported', Buffer.from('archive**ACE**')],
    ['ole', hex('d0cf11e0a1b11ae1')],
    ['pdf', Buffer.from('\xef\xbb\xbf\r\n%PDF-1.4', 'latin1')],
    ['pdf-within', Buffer.from('garbage before %PDF-1.4')],
    ['mail', Buffer.from('Received: from a by b\r\nSubject: hello\r\n\r\nhello')],
    ['mail', Buffer.from('\r\nContent-Type: text/plain\r\n\r\nhello')],
    ['mailbox', Buffer.from('From anna@example.com Fri Nov 20 11:00:00 2026\nSubject: hello\n\nhello')],
    [undefined, Buffer.from('From: a note that begins like a mail')],
    [undefined, Buffer.from('From the beginning\nit was a poem')],
    [undefined, Buffer.alloc(0)],
    [undefined, Buffer.from('P')],
    [undefined, Buffer.alloc(600)],
    [undefined, Buffer.from('BZh is how a bzip2 file starts')],
    [undefined, hex('60eaffff')],
    [undefined, hex('1f9dff')],
    // The first code is not that of a byte.
    [undefined, hex('1f9d90ff03ff03')],
  ])('is %s, by its bytes', (kind, bytes) => {
    const found = containerOf(bytes, budget);
    const { id, title, closed } = found?.format ?? {};
    const told = closed === undefined ? id : `${title}, ${closed}`;
    expect(found?.is_guess === true ? `${told}, guessed` : told).toBe(kind);
  });

  test('is none for bytes without meaning', () => {
    const bytes = noise(600 * 20_000);
    const kinds = new Set(
      Array.from({ length: 20_000 }, (_, index) => containerOf(bytes.subarray(index * 600, (index + 1) * 600), budget)),
    );
    expect([...kinds]).toEqual([undefined]);
  });

  test('is none for noise behind the magic of compress, which has two bytes', () => {
    const bytes = noise(600 * 4_000, 77);
    const files = Array.from({ length: 4_000 }, (_, index) =>
      Buffer.concat([Buffer.from('1f9d90', 'hex'), bytes.subarray(index * 600, (index + 1) * 600)]),
    );
    expect(files.filter((file) => containerOf(file, budget) !== undefined).length).toBeLessThan(3);
  });
});
