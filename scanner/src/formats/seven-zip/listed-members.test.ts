import { crc32 } from 'node:zlib';
import { type ScanPhrase, scanEnglish } from '@palisade/contract/scan-phrases';
import { expect, test } from 'vitest';
import { listOf7z } from '#scanner/formats/archives/listed-7z.ts';
import { listOfWim } from '#scanner/formats/archives/listed-wim.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { examined } from '#test/examined.ts';
import { EICAR } from '#test/files.ts';
import { samplesOf } from '#test/format-samples.ts';
import { PACKED_ARCHIVES } from '#test/packed-archives.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { lzhOf, rar4Of, rar5Of, szddOf } from '#test/stored-archives.ts';
import {
  areOthers,
  listOfAr,
  listOfArj,
  listOfCab,
  listOfCpio,
  listOfLzh,
  listOfOne,
  listOfRar4,
  listOfRar5,
  listOfXz,
  type ReadList,
} from './listed-members.ts';
import { sevenZipFormat } from './seven-zip-format.ts';

const readerOf = (bytes: Buffer) => openReader({ bytes, size: bytes.length }, new Budget(SCAN_LIMITS, bytes.length));

const FILES = new Map([
  ['one.txt', Buffer.from('harmless words of one')],
  ['two.txt', Buffer.alloc(300, 'harmless words of two ')],
  ['nothing.txt', Buffer.alloc(0)],
]);
const LISTED = [...FILES.values()].filter(({ length }) => length > 0).map((bytes) => ({ size: bytes.length, crc: crc32(bytes) }));
const RARS = [
  ['rar', rar4Of(FILES), listOfRar4],
  ['rar5', rar5Of(FILES), listOfRar5],
] as const;
/** Its checksums are of another kind. */
const LZH = lzhOf(FILES);

async function readArchive(bytes: Buffer) {
  const { unread, coverage, notes } = await examined(bytes, { match: () => [] });
  return { unread, members: coverage.members_scanned, notes: notes.map(({ phrase }) => scanEnglish(phrase)) };
}

test.each(RARS)('lists what 7-Zip gives of %s', async (_id, bytes, list) => {
  expect(list(readerOf(bytes))).toMatchObject(LISTED);
  expect(await readArchive(bytes)).toMatchObject({ unread: [], notes: [] });
});

test('lists what 7-Zip gives of lzh', async () => {
  expect(listOfLzh(readerOf(LZH))).toEqual(LISTED.map(({ size }) => ({ size, crc: undefined })));
  expect(await readArchive(LZH)).toMatchObject({ unread: [], members: LISTED.length, notes: [] });
});

test('an archive whose headers list other bytes than 7-Zip gives is pending, with a note', async () => {
  const [sample] = samplesOf('xz');
  if (sample === undefined) throw new Error('There is no sample of xz.');
  const members = sevenZipFormat({
    id: 'planted',
    type: 'xz',
    list: () => [{ size: 1, crc: undefined }],
    recognise: () => 0,
  });
  const notes: string[] = [];
  const budget = new Budget(SCAN_LIMITS, sample.bytes.length);
  const read = async () => {
    const content = { bytes: sample.bytes, size: sample.bytes.length };
    const context = {
      budget,
      password: undefined,
      path: () => '/nonexistent',
      claim: () => {},
      note: (said: ScanPhrase) => void notes.push(scanEnglish(said)),
      name: 'file',
      is_guess: false,
      isFile: () => false,
      isFileHead: () => false,
      isContainerHead: () => false,
    };
    for await (const member of members.open?.(content, context) ?? []) await member.read();
  };
  await expect(read()).rejects.toMatchObject({ detail: 'damaged' });
  expect(notes).toEqual(['Its headers list other contents than were unpacked.']);
});

const KINDS: readonly [string, string, ReadList][] = [
  ['7z', '377abcaf271c', listOf7z],
  ['wim', '4d5357494d000000', listOfWim],
  ['rar', '526172211a0700', listOfRar4],
  ['rar5', '526172211a0701', listOfRar5],
  ['cab', '4d53434600000000', listOfCab],
  ['xz', 'fd377a585a00', listOfXz],
  ['ar', '213c617263683e0a', listOfAr],
  ['arj', '60ea', listOfArj],
  ['cpio', '3037303730', listOfCpio],
  ['mslz', '535a4444', listOfOne(10, 4)],
  ['swf', '435753', listOfOne(4, 4)],
];

const SAMPLES = [
  ...KINDS.flatMap(([id]) => samplesOf(id).map(({ bytes }) => bytes)),
  ...PACKED_ARCHIVES.values(),
  ...PACKED_EICAR.values(),
  ...RARS.map(([, bytes]) => bytes),
  szddOf(Buffer.from('harmless words')),
];

test.each(KINDS)('reads the headers of %s', (_id, sign, list) => {
  const lists = SAMPLES.filter((bytes) => bytes.toString('hex', 0, sign.length / 2) === sign).flatMap(
    (bytes) => list(readerOf(bytes)) ?? [],
  );
  expect(lists.length).toBeGreaterThan(0);
  for (const { size, crc } of lists) {
    expect(size).toBeGreaterThan(0);
    expect(crc === undefined || crc <= 0xffffffff).toBe(true);
  }
});

test('lists files of 7z in four streams, of which three are bound to the decoder of jumps (BCJ2)', () => {
  const listed = listOf7z(readerOf(PACKED_ARCHIVES.get('7z-bcj2') ?? Buffer.alloc(0)));
  expect(listed).toMatchObject([{ size: EICAR.length, crc: crc32(EICAR) }, { size: 600 }]);
});

test.each(KINDS)('gives no list for %s that is cut or has other bytes', (_id, sign, list) => {
  for (const bytes of SAMPLES.filter((one) => one.toString('hex', 0, sign.length / 2) === sign))
    for (const size of [0, 7, 12, Math.floor(bytes.length / 2)])
      expect(() => list(readerOf(bytes.subarray(0, size)))).not.toThrow();
});

test.each([
  ['7z-links', listOf7z],
  ['cpio-links', listOfCpio],
] as const)('of %s the links need not be given', (name, list) => {
  const listed = list(readerOf(PACKED_ARCHIVES.get(name) ?? Buffer.alloc(0))) ?? [];
  const links = listed.filter(({ may_be_absent }) => may_be_absent === true);
  const targets = ['../../../up', '/etc/passwd', 'one.txt'];
  expect(links.map(({ size }) => size).sort()).toEqual(targets.map(({ length }) => length));
  expect(listed.length - links.length).toBe(3);
});

test('a header of 7z with any byte changed, and right checksums, lists something or nothing', () => {
  const whole = PACKED_ARCHIVES.get('7z-plain-header') ?? Buffer.alloc(0);
  const header_at = 32 + Number(whole.readBigUInt64LE(12));
  const outcomes = new Set<string>();
  for (let at = header_at; at < whole.length; at += 1)
    for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
      const bytes = Buffer.from(whole);
      bytes[at] = value;
      bytes.writeUInt32LE(crc32(bytes.subarray(header_at)), 28);
      bytes.writeUInt32LE(crc32(bytes.subarray(12, 32)), 8);
      outcomes.add(typeof listOf7z(readerOf(bytes)));
    }
  expect([...outcomes].sort()).toEqual(['object', 'undefined']);
});

test('an LZMA file has a size in its header, or is of an unknown one', () => {
  const head = Buffer.alloc(18);
  head.writeBigUInt64LE(70_000n, 5);
  expect(listOfOne(5, 8)(readerOf(head))).toEqual([{ size: 70_000, crc: undefined }]);
  head.fill(0xff, 5, 13);
  expect(listOfOne(5, 8)(readerOf(head))).toBe(undefined);
});

test('a link may be left out, and a content with several names is given for each', () => {
  const link = { size: 3, crc: crc32('abc'), may_be_absent: true };
  const often = { size: 4, crc: undefined, sha1: 'aa', may_repeat: true };
  const given = { size: 4, crc: crc32('abcd'), sha1: 'aa' };
  expect(areOthers([link, often], [given, given])).toBe(false);
  expect(areOthers([link, often], [given, { size: 3, crc: crc32('abc') }])).toBe(false);
  expect(areOthers([link, often], [{ size: 3, crc: crc32('abc') }])).toBe(true);
  expect(areOthers([link, often], [given, { ...given, sha1: 'ab' }])).toBe(true);
});

test('members differ in number, in size and in their bytes, and not in their order', () => {
  const one = { size: 3, crc: crc32('abc') };
  const two = { size: 4, crc: crc32('abcd') };
  expect(areOthers([one, two], [two, one])).toBe(false);
  expect(areOthers([one, { ...two, crc: undefined }], [two, one])).toBe(false);
  expect(areOthers([one], [one, { size: 0, crc: 0 }])).toBe(false);
  expect(areOthers([one, two], [one])).toBe(true);
  expect(areOthers([one], [one, two])).toBe(true);
  expect(areOthers([one], [{ ...one, crc: crc32('abd') }])).toBe(true);
  expect(areOthers([one], [{ ...one, size: 2 }])).toBe(true);
});
