import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { provesBinaryCpio } from '#scanner/formats/archives/cpio-proof.ts';
import { extentOfLz4, isSizedBlocks, need } from '#scanner/formats/compression/block-streams.ts';
import { brokenStringsOf } from '#scanner/formats/data/broken-strings.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { WRITTEN_ROWS } from '#test/written-rows.ts';
import { hexRowsOf, letterRowsOf } from './hex-rows.ts';
import { sqlStringsOf } from './sql-strings.ts';

// Bytes in columns of digits, in pieces, with escapes as databases dump them, and in blocks that libraries frame in their own way.

const MIB = 1024 ** 2;
const latin = (text: string) => Buffer.from(text, 'latin1');
const readerOf = (bytes: Buffer) => openReader({ size: bytes.length, bytes }, new Budget(SCAN_LIMITS, bytes.length));

describe('output of programs, or of published samples,', () => {
  test.each([...WRITTEN_ROWS])('is read: %s', async (_, bytes) => {
    expect((await examined(bytes)).threat).toBe('EICAR-Test-File');
  });
});

test('rows of a log of 9 MB are read to the last one', async () => {
  const bytes = zip([
    { name: 'noise.bin', content: noise(2_800_000, 7) },
    { name: 'eicar.com', content: EICAR },
  ]);
  const rows = Array.from({ length: Math.ceil(bytes.length / 20) }, (_, row) => {
    const digits = bytes
      .subarray(row * 20, row * 20 + 20)
      .toString('hex')
      .replaceAll(/(..)(?!$)/g, '$1 ');
    return `12:00:00.${row % 1000} DEBUG io: rx ${digits}\n`;
  });
  const text = latin(rows.join(''));
  expect(text.length).toBeGreaterThan(9 * MIB);
  expect((await examined(text)).threat).toBe('EICAR-Test-File');
});

describe('harmless files that look alike are clean, and cost no members:', () => {
  const table = Array.from(
    { length: 400 },
    (_, row) => `${row} ${2000 + row} ${(row * 7919) % 100} 10 20 30 40 50 60 70 80 ${row % 10}0`,
  );
  const drawing = Array.from(
    { length: 400 },
    (_, row) => `  5\n${(row + 64).toString(16).toUpperCase()}\n330\n1F\n100\nAcDbLine\n 10\n${row}.5`,
  );
  const sums = Array.from({ length: 400 }, (_, row) => `${noise(16, row + 1).toString('hex')}  file-${row}.txt`);
  const dump = Array.from(
    { length: 200 },
    (_, row) => `INSERT INTO \`t\` VALUES (${row},'It\\'s a name of somebody, and long enough \\n to be looked at');`,
  );
  test.each<[string, Buffer]>([
    ['a table of numbers', latin(table.join('\n'))],
    ['a drawing', latin(drawing.join('\n'))],
    ['a list of checksums', latin(sums.join('\n'))],
    ['a dump of a database', latin(dump.join('\n'))],
    ['a trace of noise', latin([...hexLines(noise(3000))].join('\n'))],
    ['a zip in a drawing', latin(drawingOf(zip([{ name: 'a.txt', content: latin('Harmless words. '.repeat(20)) }])))],
  ])('%s', async (_, bytes) => {
    const { threat, unread, coverage } = await examined(bytes);
    expect({ threat, unread, few: coverage.members_total < 6 }).toEqual({ threat: null, unread: [], few: true });
  });
});

function* hexLines(bytes: Buffer): Generator<string> {
  yield '<= Recv data, 3000 bytes (0xbb8)';
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const digits = (row.toString('hex').match(/../g) ?? []).join(' ');
    yield `${at.toString(16).padStart(4, '0')}: ${digits.padEnd(48)}${row.toString('latin1').replaceAll(/[^ -~]/g, '.')}`;
  }
}

function drawingOf(bytes: Buffer): string {
  const rows = bytes.toString('hex').match(/.{1,64}/g) ?? [];
  return `  0\nSECTION\n  2\nTHUMBNAILIMAGE\n 90\n${bytes.length}\n${rows.map((row) => `310\n${row}\n`).join('')}  0\nENDSEC\n  0\nEOF\n`;
}

describe('columns of digits', () => {
  const bytesOf = (text: string) => [...hexRowsOf(latin(text))].map(({ bytes }) => bytes.toString('hex'));
  const row = '00112233445566778899aabbccddeeff';
  const pairs = (digits: string) => (digits.match(/../g) ?? []).join(' ');

  test('are as long as their offsets say: the text behind them may look like digits', () => {
    const line = (at: string, letters: string) => `${at}: ${pairs(row)} ${letters}\n`;
    const text = `words\n${line('0000', 'ab cd ef 01 23 45')}${line('0010', 'aa bb')}${line('0020', 'zz')}`;
    expect(bytesOf(text)).toContain(row.repeat(3));
  });

  test('of which the last has few belong to those above it', () => {
    expect(bytesOf(`12:00:01 rx ${pairs(row)}\n12:00:02 rx ${pairs(row)}\n12:00:03 rx 00\n`)).toEqual([`${row.repeat(2)}00`]);
  });

  test('that stand behind other words are others', () => {
    const text = [1, 2, 3].map((one) => `12:00:0${one} rx ${pairs(row)}\n12:00:0${one} tx ${pairs('42'.repeat(16))}\n`).join('');
    expect(bytesOf(text)).toEqual(expect.arrayContaining([row.repeat(3), '42'.repeat(48)]));
  });

  test('do not begin in the middle of a time', () => {
    expect(bytesOf(`12:34:56 ${pairs(row)}\n12:34:57 ${pairs(row)}\n12:34:58 ${pairs(row)}\n`)).toEqual([row.repeat(3)]);
  });

  test('with a code between each two are one', () => {
    expect(bytesOf(drawingOf(Buffer.from(row.repeat(9), 'hex')))).toContain(row.repeat(9));
  });

  test('of letters are put together, with the ends of lines that their numbers leave out', () => {
    const text = `<= Recv data\n0000: ${'a'.repeat(64)}\n0040: ${'b'.repeat(10)}\n004c: c\n`;
    expect([...letterRowsOf(latin(text))].map(({ bytes }) => bytes.toString())).toEqual([
      `${'a'.repeat(64)}${'b'.repeat(10)}\r\nc`,
    ]);
  });
});

describe('strings in pieces', () => {
  const pieces = (bytes: Buffer, size: number) => {
    const all: Buffer[] = [Buffer.from([0x5f])];
    for (let at = 0; at < bytes.length; at += size)
      all.push(Buffer.from([0x58, Math.min(size, bytes.length - at)]), bytes.subarray(at, at + size));
    return Buffer.concat([...all, Buffer.from([0xff])]);
  };

  const stringsOf = (bytes: Buffer) => brokenStringsOf(bytes, () => false);

  test('are put together', () => {
    const bytes = noise(500);
    const found = [...stringsOf(Buffer.concat([noise(64, 5), pieces(bytes, 100), noise(64, 6)]))];
    expect(found.some((one) => one.bytes.equals(bytes))).toBe(true);
  });

  test.each<[string, Buffer]>([
    [
      'a mail',
      latin(
        `From: a@b\nSubject: a\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\n${zip([{ name: 'a', content: EICAR }]).toString('base64')}\n`,
      ),
    ],
    ['a PDF', Buffer.concat([noise(20), latin('%PDF-1.4\n1 0 obj\n<<>>\nendobj\n'), zip([{ name: 'a', content: EICAR }])])],
  ])('are read as a whole, for any look of their pieces: %s', async (_, bytes) => {
    expect((await examined(Buffer.concat([latin('\xbf\x64data'), pieces(bytes, 40), Buffer.from([0xff])]))).threat).toBe(
      'EICAR-Test-File',
    );
  });

  test('of two pieces count where they are a text or a file', () => {
    const text = latin('rm -rf / --no-preserve-root and more words');
    expect([...stringsOf(pieces(text, 30))].map(({ bytes }) => bytes)).toEqual([text]);
    const opaque = noise(48, 7);
    expect([...stringsOf(pieces(opaque, 30))]).toEqual([]);
    expect([...brokenStringsOf(pieces(opaque, 30), (bytes) => bytes.equals(opaque))]).toHaveLength(1);
  });

  test('are not seen in noise', () => {
    expect([...stringsOf(noise(32 * MIB, 11))]).toEqual([]);
  });

  test('without an end are none', () => {
    expect([...stringsOf(pieces(noise(500), 100).subarray(0, -1))]).toEqual([]);
  });

  test('of one byte, each of which begins another string, take one look each', () => {
    const hostile = Buffer.alloc(8 * MIB);
    for (let at = 0; at < hostile.length; at += 2) hostile.set([0x41, 0x5f], at);
    const before = process.memoryUsage().rss;
    expect([...stringsOf(hostile)]).toEqual([]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });
});

describe('values of a dump', () => {
  test('in a text with an apostrophe before them are found', () => {
    const found = [...sqlStringsOf(latin(`-- anna's\nINSERT INTO a VALUES (1,_binary 'PK\\0\\'${'x'.repeat(40)}\\\\');\n`))];
    expect(found.map(({ bytes }) => bytes.toString('latin1'))).toContain(`PK\0'${'x'.repeat(40)}\\`);
  });

  test('that nothing closes end with the text', () => {
    expect([...sqlStringsOf(latin(`INSERT INTO a VALUES (1,'${"\\'".repeat(100)}`))]).toHaveLength(1);
  });
});

describe('blocks of LZ4', () => {
  const block = (bytes: Buffer) => Buffer.concat([Buffer.from([0xf0, bytes.length - 15]), bytes]);

  test('unpack to as much as their tokens say', () => {
    expect(extentOfLz4(block(EICAR), 1000)?.size).toBe(EICAR.length);
    expect(extentOfLz4(Buffer.concat([block(EICAR), Buffer.from([1, 0])]), 1000)).toBeUndefined();
  });

  test('are not read before it is known that they are not too long', () => {
    const reader = { ...readerOf(Buffer.alloc(0)), size: 2 ** 31, at: () => expect.fail('it was read') };
    expect(() => need(reader, 0, 2 ** 30)).toThrow('too_large');
    expect(() => need(reader, 2 ** 31 - 4, 2 ** 30)).toThrow('damaged');
  });

  test('are none in noise', () => {
    for (let seed = 1; seed < 2000; seed += 1) {
      const bytes = Buffer.from(noise(300, seed));
      bytes.writeUInt32LE(290 + (seed % 400));
      expect(isSizedBlocks(readerOf(bytes))).toBe(false);
    }
  });

  test('that claim more than they have take no memory, and are damaged', async () => {
    const head = Buffer.concat([latin('LZ4Block'), Buffer.from([0x2f]), Buffer.from('ffffff7fffffff0100000000', 'hex')]);
    const before = process.memoryUsage().rss;
    expect((await examined(Buffer.concat([head, noise(100)]))).unread).toEqual(['damaged']);
    const large = Buffer.concat([
      latin('LZ4Block'),
      Buffer.from([0x2f]),
      Buffer.from('64000000000000020000000000', 'hex'),
      noise(100),
    ]);
    expect((await examined(large)).unread).toContain('damaged');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
  });
});

describe('an archive of binary cpio', () => {
  test('is proved by the head behind its first file', () => {
    const cpio = WRITTEN_ROWS.get('cpio bin behind noise, e.com') ?? Buffer.alloc(0);
    const at = cpio.indexOf(Buffer.from('c771', 'hex'));
    expect(provesBinaryCpio(readerOf(cpio), at)).toBe(true);
    const cut = Buffer.from(cpio);
    cut.fill(0, at + 100);
    expect(provesBinaryCpio(readerOf(cut), at)).toBe(false);
  });
});

test('invalid LZMA, in zlib between bytes, raises nothing', async () => {
  const false_head = Buffer.concat([Buffer.from('12000001000001000000000000', 'hex'), Buffer.from([0]), noise(200)]);
  expect(await examined(Buffer.concat([noise(64), deflateSync(false_head), noise(64, 3)]))).toMatchObject({
    threat: null,
    unread: [],
  });
});
