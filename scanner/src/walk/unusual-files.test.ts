import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { containerOf } from '#scanner/formats/recognition.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { readSamples } from '#scanner/rules/samples.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { LEAF_SAMPLES } from '#test/leaf-samples.ts';
import { dicomOf, element } from '#test/samples/pieces.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-unusual-'));
const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));
/** A line that a rule finds in any text. */
const LINE = samples.find(
  ({ rule, kind, bytes }) => kind === 'hit' && rule.startsWith('CredTheft_LSASS') && bytes.length < 300,
)?.bytes;
const WORDS = Buffer.from('Words that nobody needs to read.\n'.repeat(20));
const TEXT = Buffer.concat([WORDS, LINE ?? Buffer.alloc(0), WORDS]);

/** An installer by makensis 3.08 (solid LZMA) that brings EICAR, without the program before it. */
const NSIS = Buffer.from(
  'AAAAAO++rd5OdWxsc29mdEluc3QoDwAA3QIAAF0AAIAAABQDvBk9HGst0qRYxYT/pw+h1/oow5UdyjaQRdcN2EncfDSf1zgBDvBBjZ0isokp2Ttu3j9jPOj1NJcGK1JVRwj3Yl1sWnGKNwWToRkUJ123kfA/eXQjeHr9rx8Xe244XUkVInXEmW9y9HlgykSn2XiT6fP/mnAV87RRvXKocI+TeOk5TFBar3G0YrHRljIALNJSqYqH7tlebyIGhoOv7MXnpwprIP7TBaFOSEhcCkVAKSEwVQTxFLByjqF2Xm25pLGZbQIkxozcXDjFCroYnbIb7YJded7N52yuJIJuuLVwIyPuLbXx/skqulU/F11rTjmiRQN45ZlHol7Cu343/UHlEriReYyRb5J0oZyvIARUa1QlPQ6tsxEe6pZG46B+6oDZT8elh5NEp2PgRzRfgqFmi0HNuCd+HL/Nl+HtT2vftYFSBhzgiF3UblADb2ds5+N2gzhwLSR4wcGEL7C6hnzHFva86lD5alkT3lLVwCpTxZynPWpq4tQLcWHB0mpKktV5Y+KW917fE2POt1qDuaoH6ijdHxa8ivE/9iRJaMh0thCjuQqiYRG86q92jUJSqlzk4MtTT4zWLpEh+fXTR0WpuPS5L6ODv/KdgLYu7XdJ7dn3w4I3l7AyqNP4U75C2MVftofG3lCSk98i8gnwVPxxh5Dbu6CYTz92LiEg7Kcf8HpBJMmasmprFLz0bzOnG6ofgKoQ/oKTmjsQG1+yESCyP4MY5PcQmwstFOo8KfkI18/wCeaE5JhqXitC1PBDb9nmXTCPqLfA0hXNJ1H5bBC3wzmaaRh7YYS4II8I6ls67C4oyx34k+N01sQLD+mVeIwLVSvX1oA5av1GcW3IxZP2woNSTZpWWvEsI4EUBL2+h9edhJhN3gUpBw8szSjLyiwbTQc5mU5zROpExZznbNO3ED/6Ag6FakYzDg==',
  'base64',
);
const PROGRAM = LEAF_SAMPLES.get('PE') ?? Buffer.alloc(0);
const base64 = (bytes: Buffer) => bytes.toString('base64');

test('the line of the tests is found in a text', async () => {
  expect(await examined(TEXT)).toMatchObject({ threat: 'HackTool.Windows.LsassDump' });
});

test('an installer of NSIS is opened, though its data begin with zeros', async () => {
  expect(await examined(Buffer.concat([PROGRAM, NSIS]))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

test('an installer of Inno Setup is pending', async () => {
  const mark = Buffer.alloc(64);
  mark.write('Inno Setup Setup Data (6.2.0) (u)');
  expect(await examined(Buffer.concat([PROGRAM, noise(700), mark, noise(3000)]))).toMatchObject({ unread: ['unsupported'] });
  // A text that names it is none.
  expect(await examined(Buffer.from('It has Inno Setup Setup Data (6.2.0) in it.\n'.repeat(9)))).toMatchObject({ unread: [] });
});

describe('a database of SQLite', () => {
  function database(page_bytes: number, encoding: string, fill: (database: DatabaseSync) => void): Buffer {
    const path = join(folder, 'database');
    rmSync(path, { force: true });
    const made = new DatabaseSync(path);
    made.exec(`PRAGMA page_size = ${page_bytes}; PRAGMA encoding = '${encoding}'; CREATE TABLE t (a)`);
    fill(made);
    made.close();
    return readFileSync(path);
  }
  const insert = (value: string | Buffer) => (made: DatabaseSync) => void made.prepare('INSERT INTO t VALUES (?)').run(value);
  const large = zip([
    { name: 'noise', content: noise(9000) },
    { name: 'eicar.com', content: EICAR },
  ]);

  test.each<[string, number, string, string | Buffer]>([
    ['a file', 4096, 'UTF-8', EICAR],
    ['a packed value, as its own archives have them', 4096, 'UTF-8', deflateSync(TEXT)],
    ['a packed value in a large page', 65_536, 'UTF-8', deflateSync(TEXT)],
    ['an archive over many pages', 512, 'UTF-8', large],
    ['a packed text over many pages', 1024, 'UTF-8', gzipSync(Buffer.concat([noise(5000), TEXT]))],
    ['base64 over many pages', 512, 'UTF-8', base64(gzipSync(Buffer.concat([noise(3000), TEXT])))],
    ['base64 in UTF-16', 4096, 'UTF-16le', base64(gzipSync(TEXT))],
    ['a text over many pages in UTF-16', 512, 'UTF-16be', TEXT.toString('latin1')],
  ])('is read value by value: %s', async (_, page_bytes, encoding, value) => {
    const bytes = database(page_bytes, encoding, (made) => {
      for (const one of [value, noise(3000)]) insert(one)(made);
    });
    const { threat, unread } = await examined(bytes);
    expect(threat).toMatch(/^(EICAR-Test-File|HackTool)/);
    expect(unread).toEqual([]);
  });

  test('is followed by an archive', async () => {
    const bytes = Buffer.concat([database(4096, 'UTF-8', insert('a short text')), zip([{ name: 'eicar.com', content: EICAR }])]);
    expect(await examined(bytes)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  /** A database of whole pages whose header counts all of them; the last ones are `archive`, which no table knows. */
  function withPagesOf(archive: Buffer): Buffer {
    const page_bytes = 4096;
    const own = database(page_bytes, 'UTF-8', insert('a short text'));
    const bytes = Buffer.concat([own, Buffer.alloc(page_bytes - (archive.length % page_bytes)), archive]);
    bytes.writeUInt32BE(bytes.length / page_bytes, 28);
    return bytes;
  }

  test('has an archive as its last pages', async () => {
    expect(await examined(withPagesOf(large))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test.each([512, 1024, 4096])(
    'may end with a part of an archive without being damaged, pages of %i bytes',
    async (page_bytes) => {
      const harmless = zip([1, 2, 3, 4].map((number) => ({ name: `noise ${number}`, content: noise(900 * number, number) })));
      for (const values of [[harmless], ['a short text', harmless], [noise(700), harmless, harmless]]) {
        const bytes = database(page_bytes, 'UTF-8', (made) => {
          for (const value of values) insert(value)(made);
        });
        expect(await examined(bytes)).toMatchObject({ threat: null, unread: [] });
        expect(await examined(Buffer.concat([bytes, bytes.subarray(-page_bytes)]))).toMatchObject({ threat: null });
      }
      const emptied = database(page_bytes, 'UTF-8', (made) => {
        for (const value of [noise(700), harmless]) insert(value)(made);
        made.exec('DELETE FROM t');
      });
      expect(await examined(emptied)).toMatchObject({ threat: null, unread: [] });
    },
  );

  test('ends at cells that name the same bytes again and again', async () => {
    const page_bytes = 65_536;
    const head = Buffer.from(database(page_bytes, 'UTF-8', () => {}).subarray(0, page_bytes));
    const page = Buffer.alloc(page_bytes, 1);
    const [cells, at] = [32_000, 64_100];
    page[0] = 0x0d;
    page.writeUInt16BE(cells, 3);
    for (let cell = 0; cell < cells; cell += 1) page.writeUInt16BE(at, 8 + cell * 2);
    // A record of 1,000 bytes, the head of which is nearly all of it.
    Buffer.from([0x87, 0x68, 0x01, 0x87, 0x60]).copy(page, at);
    const pages = Array.from({ length: 15 }, () => page);
    head.writeUInt32BE(1 + pages.length, 28);
    expect(await examined(Buffer.concat([head, ...pages]))).toMatchObject({ unread: ['damaged'] });
  });

  test('finds the last of many values', async () => {
    const bytes = database(4096, 'UTF-8', (made) => {
      made.exec('BEGIN');
      for (let count = 0; count < 1500; count += 1) insert(noise(40 + (count % 50), count + 1))(made);
      insert(Buffer.concat([noise(5000), TEXT]))(made);
      made.exec('COMMIT');
    });
    expect(await examined(bytes)).toMatchObject({ threat: 'HackTool.Windows.LsassDump', unread: [] });
  });

  test('with nothing in it is clean, and one that is cut short or names its own pages ends', async () => {
    const clean = database(4096, 'UTF-8', insert('a short text'));
    expect(await examined(clean)).toMatchObject({ threat: null, unread: [] });
    expect(await examined(clean.subarray(0, 5000))).toMatchObject({ threat: null });
    // Every cell is continued in the page that it stands in.
    const bent = Buffer.from(database(512, 'UTF-8', insert(noise(20_000))));
    for (let at = 512; at + 4 <= bent.length; at += 512) bent.writeUInt32BE(3, at);
    expect(await examined(bent)).toMatchObject({ threat: null });
  });
});

test('a file system of Linux with a feature that nothing here knows is pending', async () => {
  const image = Buffer.alloc(64 * 1024);
  image.writeUInt32LE(16, 1024);
  image.writeUInt32LE(64, 1028);
  image.writeUInt32LE(0x7fff, 1024 + 96);
  for (const [at, number] of [
    [1044, 1],
    [1056, 8192],
    [1064, 16],
    [1100, 1],
  ] as const)
    image.writeUInt32LE(number, at);
  image.writeUInt16LE(0xef53, 1080);
  image.writeUInt16LE(1, 1082);
  expect((await examined(image)).unread).not.toEqual([]);
});

test.each<[string, 'unsupported' | 'encrypted', Buffer]>([
  ['folders of Outlook', 'unsupported', Buffer.from('!BDN\x01\x02\x03\x04SM')],
  ['Access', 'unsupported', Buffer.from('\0\x01\0\0Standard ACE DB\0')],
  ['archive of pg_dump', 'unsupported', Buffer.from('PGDMP\x01\x0e\0')],
  ['log of a database (SQLite WAL)', 'unsupported', Buffer.from('377f0682002de218', 'hex')],
  ['journal of a database (SQLite)', 'unsupported', Buffer.from('d9d505f920a163d7', 'hex')],
  ['PKCS #12', 'encrypted', Buffer.from('3082 09d7 020103 3082 099d 06092a864886f70d010701a08209'.replaceAll(' ', ''), 'hex')],
  ['file of openssl enc', 'encrypted', Buffer.from('Salted__12345678')],
  ['age', 'encrypted', Buffer.from('age-encryption.org/v1\n-> scrypt')],
  ['AES Crypt', 'encrypted', Buffer.from('AES\x02\0\0')],
  ['KeePass', 'encrypted', Buffer.from('03d9a29a67fb4bb500000400', 'hex')],
])('%s is recognised and not opened', (name, detail, head) => {
  expect(containerOf(Buffer.concat([head, Buffer.alloc(4096)]), new Budget(SCAN_LIMITS, head.length))?.format).toMatchObject({
    title: name,
    closed: detail,
  });
});

test('a quoted beginning of a PKCS #12 in a source is no key: its length is not there', async () => {
  const quoted = '308209d70201033082099d06092a864886f70d010701a08209';
  expect(containerOf(Buffer.from(quoted, 'hex'), new Budget(SCAN_LIMITS, quoted.length))).toBeUndefined();
  expect(
    (await examined(Buffer.from(`// The first bytes of the store:\nString head = "${quoted}${'00'.repeat(20)}";\n`))).unread,
  ).toEqual([]);
});

test('a later part of a split archive is pending, and a text of such a name is not', async () => {
  for (const name of ['a.7z.002', 'a.zip.003', 'a.tar.gz.002', 'a.z02'])
    expect(await examined(noise(5000), { name: name })).toMatchObject({ unread: ['unsupported'], named_after_upload: true });
  for (const name of ['a.002', 'a.7z.001', 'a.z01', 'a.z80'])
    expect((await examined(noise(5000), { name: name })).unread, name).toEqual([]);
  expect((await examined(WORDS, { name: 'words.tar.002' })).unread).toEqual([]);
});

/** As `pack` of System V writes it: codes by their length, the longest first, and the end of the file as the last of these. */
function packedByHuffman(bytes: Buffer): Buffer {
  let nodes = [...new Set(bytes)].map((letter) => ({
    weight: bytes.filter((byte) => byte === letter).length,
    letters: [letter],
  }));
  nodes.push({ weight: 0, letters: [END] });
  const depth = new Map<number, number>();
  while (nodes.length > 1) {
    nodes.sort((one, other) => other.weight - one.weight);
    const [one, other] = nodes.splice(-2);
    const letters = [...(one?.letters ?? []), ...(other?.letters ?? [])];
    for (const letter of letters) depth.set(letter, (depth.get(letter) ?? 0) + 1);
    nodes = [...nodes, { weight: (one?.weight ?? 0) + (other?.weight ?? 0), letters }];
  }
  const deepest = Math.max(...depth.values());
  const byLevel = Array.from({ length: deepest }, (_, level) =>
    [...depth.keys()].filter((letter) => depth.get(letter) === level + 1).sort((a, b) => a - b),
  );
  const codes = new Map<number, string>();
  let inner = 0;
  for (let level = deepest; level > 0; level -= 1) {
    inner /= 2;
    for (const [index, letter] of (byLevel[level - 1] ?? []).entries())
      codes.set(letter, (inner + index).toString(2).padStart(level, '0'));
    inner += byLevel[level - 1]?.length ?? 0;
  }
  const bits = [...bytes, END].map((letter) => codes.get(letter) ?? '').join('');
  const head = Buffer.alloc(7);
  head.writeUInt16BE(0x1f1e);
  head.writeUInt32BE(bytes.length, 2);
  head[6] = deepest;
  const counts = byLevel.map((letters, level) => letters.length - (level === deepest - 1 ? 2 : 0));
  const coded = (bits.match(/.{1,8}/g) ?? []).map((eight) => Number.parseInt(eight.padEnd(8, '0'), 2));
  return Buffer.concat([
    head,
    Buffer.from(counts),
    Buffer.from(byLevel.flat().filter((letter) => letter !== END)),
    Buffer.from(coded),
  ]);
}
const END = 256;

test('a frame of zstd behind a PDF is no string of it, though it begins with a bracket', async () => {
  const pdf = Buffer.from('%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n');
  // By zstd 1.5: EICAR as it is, of which a closing bracket ends a possible string.
  const frame = Buffer.concat([Buffer.from('28b52ffd2444210200', 'hex'), EICAR, Buffer.from('fdb18941', 'hex')]);
  expect(await examined(Buffer.concat([pdf, frame]))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

test('lines of base64 that a batch file of any length writes are one run', async () => {
  const archive = zip([
    { name: 'noise', content: noise(300_000) },
    { name: 'eicar.com', content: EICAR },
  ]);
  const lines = (base64(archive).match(/.{1,60}/g) ?? []).map((line) => `echo ${line}>>a.b64\r\n`);
  expect(await examined(Buffer.from(`@echo off\r\n${lines.join('')}`))).toMatchObject({ threat: 'EICAR-Test-File' });
});

describe('a file by pack', () => {
  test.each([EICAR, Buffer.concat([TEXT, noise(20_000)])])('is unpacked, as gzip unpacks it', async (bytes) => {
    const packed = packedByHuffman(bytes);
    expect(execFileSync('gzip', ['-dc'], { input: packed })).toEqual(bytes);
    const { threat, unread, coverage } = await examined(packed, { name: 'file.z' });
    expect(threat).toMatch(/^(EICAR-Test-File|HackTool)/);
    expect({ unread, read: coverage.members_scanned }).toEqual({ unread: [], read: 1 });
  });

  test('is damaged where its end is missing, and the part before it is read', async () => {
    const packed = packedByHuffman(TEXT);
    expect(await examined(packed.subarray(0, -4))).toMatchObject({ threat: 'HackTool.Windows.LsassDump', unread: ['damaged'] });
    expect((await examined(Buffer.concat([Buffer.from('1f1e', 'hex'), noise(500)]))).unread).toEqual([]);
  });
});

test('a picture of medicine that is packed as a whole, or longer than it is, is pending', async () => {
  expect((await examined(dicomOf('1.2.840.10008.1.2.1.99', noise(400)))).unread).toEqual(['unsupported']);
  const cut = element(0x42, 0x11, 'OB', EICAR).subarray(0, -9);
  expect((await examined(dicomOf('1.2.840.10008.1.2.1', cut))).unread).toEqual(['damaged']);
});
