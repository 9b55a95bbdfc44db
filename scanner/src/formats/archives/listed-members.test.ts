import { crc32 } from 'node:zlib';
import { type ScanPhrase, scanEnglish } from '@palisade/contract/scan-phrases';
import { expect, test } from 'vitest';
import { examine } from '#scanner/walk/examine.ts';
import { Budget, SCAN_LIMITS } from '#scanner/walk/limits.ts';
import { openReader } from '#scanner/walk/reader.ts';
import { samplesOf } from '#test/format-samples.ts';
import { PACKED_ARCHIVES } from '#test/packed-archives.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { areOthers, listOfCab, listOfRar4, listOfRar5, listOfXz, type ReadList } from './listed-members.ts';
import { sevenZipFormat } from './seven-zip-format.ts';

const readerOf = (bytes: Buffer) => openReader({ bytes, size: bytes.length }, new Budget(SCAN_LIMITS, bytes.length));

/** RAR 5.0 without compression (technote): the main header, a file each, the end. */
function rar5Of(files: ReadonlyMap<string, Buffer>): Buffer {
  const number = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)]);
  const u32 = (value: number) => [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
  const block = (body: number[]) => {
    const sized = Buffer.from([...number(body.length), ...body]);
    return Buffer.concat([Buffer.from(u32(crc32(sized))), sized]);
  };
  const parts = [...files].flatMap(([name, bytes]) => [
    block([
      2,
      2,
      ...number(bytes.length),
      4,
      ...number(bytes.length),
      0x20,
      ...u32(crc32(bytes)),
      0,
      0,
      name.length,
      ...Buffer.from(name),
    ]),
    bytes,
  ]);
  return Buffer.concat([Buffer.from('526172211a070100', 'hex'), block([1, 0, 0]), ...parts, block([5, 0, 0])]);
}

/** RAR 2.0 without compression (unrar, headers.hpp). */
function rar4Of(files: ReadonlyMap<string, Buffer>): Buffer {
  const block = (type: number, flags: number, rest: Buffer) => {
    const head = Buffer.alloc(7 + rest.length);
    head[2] = type;
    head.writeUInt16LE(flags, 3);
    head.writeUInt16LE(head.length, 5);
    rest.copy(head, 7);
    head.writeUInt16LE(crc32(head.subarray(2)) & 0xffff, 0);
    return head;
  };
  const parts = [...files].flatMap(([name, bytes]) => {
    const rest = Buffer.alloc(25 + name.length);
    rest.writeUInt32LE(bytes.length, 0);
    rest.writeUInt32LE(bytes.length, 4);
    rest.writeUInt32LE(crc32(bytes), 9);
    rest[17] = 20;
    rest[18] = 0x30;
    rest.writeUInt16LE(name.length, 19);
    rest.writeUInt32LE(0x20, 21);
    rest.write(name, 25, 'latin1');
    return [block(0x74, 0x8000, rest), bytes];
  });
  return Buffer.concat([
    Buffer.from('526172211a0700', 'hex'),
    block(0x73, 0, Buffer.alloc(6)),
    ...parts,
    block(0x7b, 0x4000, Buffer.alloc(0)),
  ]);
}

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

async function readArchive(bytes: Buffer) {
  const { unread, coverage, notes } = await examine(
    { bytes, size: bytes.length, name: 'file' },
    { match: () => [], limits: SCAN_LIMITS, folder: '/nonexistent' },
  );
  return { unread, members: coverage.members_scanned, notes: notes.map(({ phrase }) => scanEnglish(phrase)) };
}

test.each(RARS)('lists what 7-Zip gives of %s', async (_id, bytes, list) => {
  expect(list(readerOf(bytes))).toEqual(LISTED);
  expect(await readArchive(bytes)).toMatchObject({ unread: [], notes: [] });
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
  ['rar', '526172211a0700', listOfRar4],
  ['rar5', '526172211a0701', listOfRar5],
  ['cab', '4d53434600000000', listOfCab],
  ['xz', 'fd377a585a00', listOfXz],
];

const SAMPLES = [
  ...KINDS.flatMap(([id]) => samplesOf(id).map(({ bytes }) => bytes)),
  ...PACKED_ARCHIVES.values(),
  ...PACKED_EICAR.values(),
  ...RARS.map(([, bytes]) => bytes),
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

test.each(KINDS)('gives no list for %s that is cut or has other bytes', (_id, sign, list) => {
  for (const bytes of SAMPLES.filter((one) => one.toString('hex', 0, sign.length / 2) === sign))
    for (const size of [0, 7, 12, Math.floor(bytes.length / 2)])
      expect(() => list(readerOf(bytes.subarray(0, size)))).not.toThrow();
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
