import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { docx, mail, ole } from '#test/containers.ts';
import { examined } from '#test/examined.ts';
import { noise, PDF, tar, zip } from '#test/files.ts';
import { containerOf, containersBeside } from './recognition.ts';

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

  test('is none for files of noise that would stay pending', () => {
    const left: string[] = [];
    for (let index = 1; index <= 20_000; index += 1) {
      const bytes = noise(4096, Math.imul(index, 0x9e3779b1));
      const reader = openReader({ size: bytes.length, bytes }, budget);
      const first = containerOf(bytes, budget);
      const found = [...(first === undefined ? [] : [first]), ...containersBeside(reader, bytes, first, 'file')];
      for (const { format, is_guess } of found) if (!is_guess) left.push(format.id);
    }
    expect(left).toEqual([]);
  });

  test('is none for noise whose signed sum is a digit where tar has its checksum', () => {
    const bytes = noise(512, 7);
    bytes.write('3\xff', 148, 'latin1');
    const sum = () => bytes.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : (byte << 24) >> 24), 0);
    for (let at = 0; sum() !== 3; at += 1)
      bytes[at] = Math.max(-128, Math.min(127, (((bytes[at] ?? 0) << 24) >> 24) + 3 - sum())) & 0xff;
    expect(containerOf(bytes, budget)).toBe(undefined);
  });

  test('is ARC where its first file ends at another, or the end of the archive', () => {
    const head = (name: string, packed: number, size: number) => {
      const bytes = Buffer.alloc(29);
      bytes.set([0x1a, 8]);
      bytes.write(name, 2, 'latin1');
      bytes.writeUInt32LE(packed, 15);
      bytes.writeUInt16LE((46 << 9) | (11 << 5) | 26, 19);
      bytes.writeUInt16LE((14 << 11) | (30 << 5) | 4, 21);
      bytes.writeUInt32LE(size, 25);
      return bytes;
    };
    const kindOf = (...parts: Buffer[]) => containerOf(Buffer.concat(parts), budget)?.format.id;
    const end = Buffer.from([0x1a, 0]);
    expect(kindOf(head('A.TXT', 40, 90), noise(40), end)).toBe('arc');
    expect(kindOf(head('A.TXT', 50_000, 90_000), noise(50_000), end)).toBe('arc');
    expect(kindOf(head('A.TXT', 40, 90), noise(41), end)).toBe(undefined);
    expect(kindOf(head('A.TXT', 90, 40), noise(90), end)).toBe(undefined);
    // Noise of which the first bytes are a mark, a method and a name of one letter.
    const by_chance = Buffer.from('1a06270068fb62fc0ff7fac24279701fae1c5e1baba9bdc10f8e96e5a4f0b9beb22e0b955ccd7feb', 'hex');
    expect(kindOf(by_chance, noise(4056))).toBe(undefined);
  });

  test('is none for noise behind the magic of compress, which has two bytes', () => {
    const bytes = noise(600 * 4_000, 77);
    const files = Array.from({ length: 4_000 }, (_, index) =>
      Buffer.concat([Buffer.from('1f9d90', 'hex'), bytes.subarray(index * 600, (index + 1) * 600)]),
    );
    expect(files.filter((file) => containerOf(file, budget) !== undefined).length).toBeLessThan(3);
  });
});

const zipOf = (name: string, content: string) => zip([{ name, content: Buffer.from(content), method: 0 }]);

// By the first bytes alone: an examined file has no name.
test.each([
  ['application/pdf', PDF],
  ['application/zip', zipOf('a.txt', 'a text')],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', docx('image.png', Buffer.from('x'))],
  ['application/vnd.oasis.opendocument', zipOf('mimetype', 'application/vnd.oasis.opendocument.text')],
  ['application/vnd.android.package-archive', zipOf('AndroidManifest.xml', 'x')],
  ['application/java-archive', zipOf('META-INF/MANIFEST.MF', 'x')],
  ['application/x-ole-storage', ole([{ name: 'Package', content: PDF }])],
  ['application/x-tar', await tar([{ name: 'a', content: PDF }])],
  ['application/gzip', gzipSync(PDF)],
  ['message/rfc822', mail('a.txt', 'hello', '7bit')],
  ['image/png', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), noise(100)])],
  ['application/vnd.microsoft.portable-executable', Buffer.concat([Buffer.from('MZ'), noise(200)])],
  ['text/x-script', Buffer.from('#!/bin/sh\necho hello\n')],
  ['text/html', Buffer.from('\n<!DOCTYPE html><p>hello')],
  ['image/svg+xml', Buffer.from('<?xml version="1.0"?>\n<svg xmlns="x"/>')],
  ['application/xml', Buffer.from('<?xml version="1.0"?>\n<a/>')],
  ['text/plain', Buffer.from('Grüße aus Köln')],
  ['application/octet-stream', noise(500)],
])('the media type %s is told by the bytes', async (media_type, content) => {
  expect(await examined(content)).toMatchObject({ media_type });
});
