import { crc32, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CARVED } from '#scanner/formats/index.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { compileSource } from '#scanner/rules/rules.ts';
import { type Examination, examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { LEAF_SAMPLES } from '#test/leaf-samples.ts';
import { packRules } from '#test/pack-rules.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { containersOf } from '#test/samples/index.ts';
import { bitsOf, carvedBy, carvingSource, regExpOf } from './carving.ts';

const MIB = 1024 ** 2;
const read = (...pieces: readonly Buffer[]) => examined(Buffer.concat(pieces), { on_disk: true });

const PNG = LEAF_SAMPLES.get('PNG') ?? Buffer.alloc(0);
const PROGRAM = LEAF_SAMPLES.get('PE') ?? Buffer.alloc(0);
const TEXT = Buffer.from('A line of a letter that nobody needs to read.\n'.repeat(40));

describe('a file that holds nothing but itself', () => {
  test.each([...LEAF_SAMPLES])('is claimed to its end: %s', async (_, sample) => {
    expect(await read(sample)).toMatchObject({
      threat: null,
      unread: [],
      coverage: { members_total: 0, bytes_raw: 0, bytes_scanned: sample.length },
    });
  });

  test.each([...LEAF_SAMPLES])('ends at its own end, and the bytes behind it are a rest: %s', async (_, sample) => {
    const threat_member = `rest at ${sample.length}`;
    expect(await read(sample, EICAR)).toMatchObject({ threat: 'EICAR-Test-File', threat_member, unread: [] });
  });

  test('is claimed where several stand one behind the other', async () => {
    const gif = LEAF_SAMPLES.get('GIF') ?? Buffer.alloc(0);
    expect(await read(PNG, gif, PNG, Buffer.alloc(100), gif, EICAR)).toMatchObject({
      threat_member: `rest at ${2 * PNG.length + 2 * gif.length + 100}`,
      unread: [],
      coverage: { bytes_raw: 0 },
    });
  });

  test('that is larger than memory takes is read in windows, and its rest is found', async () => {
    expect(await read(PNG, noise(17 * MIB), gzipSync(EICAR))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });
});

/** A format without a magic of its own, or with one at another place, is not recognised inside other data. */
const NOT_CARVED = /^(lzma|compress|Z$|uuencode|mail|eml|mbox|mailbox)/i;

describe('a container is opened wherever it stands', async () => {
  const kinds = [...PACKED_EICAR, ...containersOf(EICAR)].filter(
    ([name]) => !/encrypted|aes|zipcrypto|without/.test(name) && !NOT_CARVED.test(name),
  );
  test.each(kinds)('%s', async (_, content) => {
    for (const before of [noise(3000), PNG, PROGRAM, TEXT]) expect((await read(before, content)).threat).toBe('EICAR-Test-File');
    expect((await read(noise(3000), content, noise(3000, 7))).threat).toBe('EICAR-Test-File');
  });

  test('behind more places that look like one than the rules report', async () => {
    const decoy = Buffer.concat([Buffer.from('377abcaf271c0004', 'hex'), noise(40)]);
    const decoys = Array.from({ length: 500 }, () => decoy);
    const archive = PACKED_EICAR.get('7z') ?? Buffer.alloc(0);
    expect(await read(noise(100), ...decoys, archive)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('several times in one file, with something else between them', async () => {
    const letter = gzipSync(TEXT);
    const archive = PACKED_EICAR.get('7z') ?? Buffer.alloc(0);
    const pieces = [noise(700), letter, noise(900, 3), archive, noise(900, 5), gzipSync(EICAR)];
    expect(await read(...pieces)).toMatchObject({
      threat: 'EICAR-Test-File',
      unread: [],
      coverage: { bytes_raw: 2500 },
    });
  });

  test.each([
    ['base64', EICAR.toString('base64')],
    ['quoted-printable', EICAR.toString('latin1').replace('E', '=45')],
  ])('also a mail that begins behind something else, as its programs find it: %s', async (coding, coded) => {
    const part = `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: ${coding}\r\n\r\n${coded}\r\n`;
    const parts = `--limit\r\nContent-Type: text/plain\r\nMIME-Version: 1.0\r\n\r\nHello.\r\n--limit\r\n${part}--limit--\r\n`;
    const mails = [
      `MIME-Version: 1.0\r\nFrom: a@example.com\r\nContent-Type: multipart/mixed; boundary="limit"\r\n\r\n${parts}`,
      // Its header does not name what divides it, or was cut off.
      `From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n${parts}`,
      part,
    ];
    for (const mail of mails) {
      // Of a part that nothing closes, what follows is its end.
      for (const before of ['blob 12\0', 'WARC/1.0\r\nWARC-Type: resource\r\n\r\n'])
        for (const after of mail === part ? [''] : ['', '\0\x01\0'])
          expect((await read(Buffer.from(`${before}${mail}${after}`, 'latin1'))).threat).toBe('EICAR-Test-File');
    }
  });

  test.each(['\n', '\r\n', '\r'])('also a mail before noise, whatever ends its lines: %j', async (end) => {
    const mail = MAIL.replaceAll('\n', end);
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
      expect((await read(Buffer.from(mail), noise(1500, seed))).threat).toBe('EICAR-Test-File');
  });

  test('and is pending with its place where it does not open', async () => {
    const archive = PACKED_EICAR.get('7z') ?? Buffer.alloc(0);
    const cut = archive.subarray(0, archive.length - 20);
    const { unread, notes, threat } = await read(noise(1000), cut);
    expect(threat).toBeNull();
    expect(unread).toEqual(['damaged']);
    expect(notes).toContainEqual({
      member: null,
      phrase: { code: 'container.unopened.format', params: { at: 1000, format: '7z' } },
    });
  });

  test('and is nothing where it does not prove to be one', async () => {
    const constants = Buffer.concat(
      [
        '377abcaf271c',
        '526172211a070100',
        '1f8b0800',
        '28b52ffd',
        'fd377a585a000004',
        '504b0304',
        '894c5a4f000d0a1a0a0a5b36303a6170706c',
      ].map((digits) => Buffer.from(digits, 'hex')),
    );
    expect(await read(PROGRAM.subarray(0, 600), constants, PROGRAM.subarray(600))).toMatchObject({
      threat: null,
      unread: [],
    });
    // Of tar 1.34: a magic and a length among the numbers of a program.
    const numbers = Buffer.from('28b52ffd0000000000005468697320646f6573206e6f7420', 'hex');
    expect(await read(PROGRAM.subarray(0, 600), numbers, PROGRAM.subarray(600))).toMatchObject({ threat: null, unread: [] });
    expect(await read(Buffer.from('const magic = "BZh91AY&SY"; // %PDF-1.4 and !<arch>\n'))).toMatchObject({ unread: [] });
  });
});

const MAIL = [
  'From: anna@example.com',
  'To: berta@example.com',
  'MIME-Version: 1.0',
  'Content-Type: application/octet-stream',
  'Content-Transfer-Encoding: base64',
  '',
  `${EICAR.toString('base64')}\n`,
].join('\n');

/** Bytes as a program in C has them (Cython keeps its texts so). */
function literalOf(bytes: Buffer): string {
  const letters = [...bytes].map((byte) => {
    const letter = String.fromCharCode(byte);
    return byte < 0x20 || byte > 0x7e || '"\\?'.includes(letter) ? `\\${byte.toString(8).padStart(3, '0')}` : letter;
  });
  return `static const char cstring[] = "${letters.join('')}";\n`;
}

test('a literal of a program that holds a stream of bzip2 is the stream, and not another one where its magic stands', async () => {
  const program = Buffer.from(`#include <stdio.h>\n${literalOf(PACKED_EICAR.get('bzip2') ?? Buffer.alloc(0))}int main() {}\n`);
  expect(await read(program)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

test('a stream of zlib between other bytes is read however long it is', async () => {
  const filling = Buffer.alloc(
    17 * MIB,
    noise(MIB).map((byte) => 0x80 | (byte & 3)),
  );
  const stream = deflateSync(Buffer.concat([filling, gzipSync(EICAR)]), { level: 1 });
  // The time of a large file, so that a busy machine reaches no limit.
  const budget = new Budget(SCAN_LIMITS, 1024 * MIB);
  const found = await examined(Buffer.concat([noise(5000), stream, noise(100)]), { on_disk: true, budget });
  expect(found).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

describe('unknown bytes within a container', () => {
  const members = [{ name: 'a.txt', content: TEXT }];
  const between = (bytes: Buffer) => read(gzipSync(TEXT), bytes);

  test('is pending', async () => {
    const { unread, notes } = await between(noise(600));
    expect(unread).toEqual(['unexplained']);
    const { length } = gzipSync(TEXT);
    expect(notes[0]?.phrase).toEqual({ code: 'unexplained', params: { bytes: 600, at: length } });
    expect((await read(noise(4000), zip(members))).unread).toEqual(['unexplained']);
  });

  test.each([
    ['512 bytes of anything', noise(512)],
    ['zeros', Buffer.alloc(10_000)],
    ['a text', TEXT],
    ['a picture', PNG],
    ['bytes with little to tell', Buffer.from('0001000200030004'.repeat(100), 'hex')],
    ['another container', zip(members)],
  ])('is not, where it is %s', async (_, bytes) => {
    expect((await between(bytes)).unread).toEqual([]);
  });

  test('is read as it is where nothing opened the file', async () => {
    expect(await read(noise(5000))).toMatchObject({ unread: [], coverage: { bytes_raw: 5000 } });
    expect(await read(PNG, noise(5000))).toMatchObject({ unread: [], coverage: { bytes_raw: 5000 } });
  });
});

describe('twice as many bytes cost twice as much, or are given up', () => {
  /** The work of readers and rules for a file of such pieces. */
  async function costOf(piece: Buffer, bytes: number): Promise<{ work: number; matched: number; examination: Examination }> {
    const content = Buffer.alloc(bytes, piece);
    const budget = new Budget(SCAN_LIMITS, content.length);
    let matched = 0;
    const examination = await examined(content, {
      on_disk: true,
      budget,
      match(bytes_given, onPlaces) {
        matched += bytes_given.length;
        return packRules.match(bytes_given, onPlaces);
      },
    });
    return { work: budget.work, matched, examination };
  }

  const KIB = 1024;
  const local = zip([{ name: 'a', content: Buffer.from('a') }]).subarray(0, 34);
  test.each([
    ['pictures', PNG],
    ['pictures with noise between', Buffer.concat([PNG, noise(700)])],
    ['headers of zip', Buffer.concat([noise(5), local])],
    ['headers of gzip', Buffer.concat([Buffer.from('1f8b0800000000000203', 'hex'), noise(9)])],
    ['headers of 7z', Buffer.concat([Buffer.from('377abcaf271c0004', 'hex'), noise(24)])],
    ['headers of PDF', Buffer.from('\x01\x02%PDF-1.4\n1 0 obj\n<<>>\nstream\n')],
    ['headers of parts of mails', Buffer.from('\x01\x02\nContent-Transfer-Encoding: base64\n\nYWJj\n')],
    [
      'headers of mails that nothing closes',
      Buffer.from('\x01\x02\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n'),
    ],
    ['signatures of compound files', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), noise(504)])],
  ])('%s', async (_, piece) => {
    const once = await costOf(piece, 64 * KIB);
    const twice = await costOf(piece, 128 * KIB);
    expect(twice.work).toBeLessThan(2.5 * once.work + 64 * KIB);
    expect(twice.matched).toBeLessThan(2.5 * once.matched + 64 * KIB);
    expect(twice.matched).toBeLessThan(32 * 128 * KIB);
  });
});

test('an archive behind noise in the packed text of a picture is opened', async () => {
  const packed = deflateSync(Buffer.concat([noise(700), zip([{ name: 'eicar.com', content: EICAR }])]));
  const chunk = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(Buffer.concat([Buffer.from(type), body])));
    return Buffer.concat([length, Buffer.from(type), body, sum]);
  };
  const after_header = 8 + 25;
  const text = chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), packed]));
  expect((await read(PNG.subarray(0, after_header), text, PNG.subarray(after_header))).threat).toBe('EICAR-Test-File');
});

test('two archives of whole files, of which the last file is an archive itself, are whole', async () => {
  const entry = (name: string, content: Buffer) => {
    const numbers = [1, 0o100644, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length + 1, 0];
    const head = Buffer.from(`070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}${name}\0`);
    const padded = (bytes: Buffer) => Buffer.concat([bytes], Math.ceil(bytes.length / 4) * 4);
    return Buffer.concat([padded(head), padded(content)]);
  };
  const cpio = (name: string, content: Buffer) =>
    Buffer.concat([entry(name, content), entry('TRAILER!!!', Buffer.alloc(0)), Buffer.alloc(400)]);
  const inner = zip([{ name: 'eicar.com', content: EICAR }]);
  expect(await read(cpio('a.txt', TEXT), cpio('a.zip', inner))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

describe('the patterns by which containers are found', () => {
  test('fit random bytes less than once in 10 GB, all of them together', () => {
    expect(CARVED.reduce((hits, carved) => hits + 10e9 * 2 ** -bitsOf(carved), 0)).toBeLessThan(1);
  });

  test('fit no random bytes', () => {
    expect(compileSource(carvingSource()).scan(noise(16 * MIB))).toEqual([]);
  });

  test('mean the same to the second search as to the rules', async () => {
    const compiled = compileSource(carvingSource());
    const all = Buffer.concat([...PACKED_EICAR.values(), ...containersOf(EICAR).values()]);
    const found = compiled.scan(all);
    expect(found.length).toBeGreaterThan(10);
    for (const { rule, offsets } of found) {
      const carved = carvedBy(rule);
      if (carved === undefined) throw new Error(`No format for ${rule}.`);
      const places = [...all.toString('latin1').matchAll(regExpOf(carved))].map(({ index }) => index);
      expect(places.slice(0, offsets.length)).toEqual(offsets);
    }
  });
});
