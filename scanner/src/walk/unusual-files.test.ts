import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { containerOf } from '#scanner/formats/recognition.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { readSamples } from '#scanner/rules/samples.ts';
import { uuencoded } from '#test/containers.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { LEAF_SAMPLES } from '#test/leaf-samples.ts';
import { packRules } from '#test/pack-rules.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import type { Examination } from './examination.ts';
import { examine } from './examine.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-unusual-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));
/** A line that a rule finds in any text. */
const LINE = samples.find(
  ({ rule, kind, bytes }) => kind === 'hit' && rule.startsWith('CredTheft_LSASS') && bytes.length < 300,
)?.bytes;
const WORDS = Buffer.from('Words that nobody needs to read.\n'.repeat(20));
const TEXT = Buffer.concat([WORDS, LINE ?? Buffer.alloc(0), WORDS]);

async function examined(bytes: Buffer, name = 'file'): Promise<Examination> {
  const parts = { match: packRules.match, limits: SCAN_LIMITS, folder: join(folder, 'unpacked') };
  return await examine({ bytes, size: bytes.length, name }, parts);
}

/** An installer by makensis 3.08 (solid LZMA) that brings EICAR, without the program before it. */
const NSIS = Buffer.from(
  'AAAAAO++rd5OdWxsc29mdEluc3QoDwAA3QIAAF0AAIAAABQDvBk9HGst0qRYxYT/pw+h1/oow5UdyjaQRdcN2EncfDSf1zgBDvBBjZ0isokp2Ttu3j9jPOj1NJcGK1JVRwj3Yl1sWnGKNwWToRkUJ123kfA/eXQjeHr9rx8Xe244XUkVInXEmW9y9HlgykSn2XiT6fP/mnAV87RRvXKocI+TeOk5TFBar3G0YrHRljIALNJSqYqH7tlebyIGhoOv7MXnpwprIP7TBaFOSEhcCkVAKSEwVQTxFLByjqF2Xm25pLGZbQIkxozcXDjFCroYnbIb7YJded7N52yuJIJuuLVwIyPuLbXx/skqulU/F11rTjmiRQN45ZlHol7Cu343/UHlEriReYyRb5J0oZyvIARUa1QlPQ6tsxEe6pZG46B+6oDZT8elh5NEp2PgRzRfgqFmi0HNuCd+HL/Nl+HtT2vftYFSBhzgiF3UblADb2ds5+N2gzhwLSR4wcGEL7C6hnzHFva86lD5alkT3lLVwCpTxZynPWpq4tQLcWHB0mpKktV5Y+KW917fE2POt1qDuaoH6ijdHxa8ivE/9iRJaMh0thCjuQqiYRG86q92jUJSqlzk4MtTT4zWLpEh+fXTR0WpuPS5L6ODv/KdgLYu7XdJ7dn3w4I3l7AyqNP4U75C2MVftofG3lCSk98i8gnwVPxxh5Dbu6CYTz92LiEg7Kcf8HpBJMmasmprFLz0bzOnG6ofgKoQ/oKTmjsQG1+yESCyP4MY5PcQmwstFOo8KfkI18/wCeaE5JhqXitC1PBDb9nmXTCPqLfA0hXNJ1H5bBC3wzmaaRh7YYS4II8I6ls67C4oyx34k+N01sQLD+mVeIwLVSvX1oA5av1GcW3IxZP2woNSTZpWWvEsI4EUBL2+h9edhJhN3gUpBw8szSjLyiwbTQc5mU5zROpExZznbNO3ED/6Ag6FakYzDg==',
  'base64',
);
const PROGRAM = LEAF_SAMPLES.get('PE') ?? Buffer.alloc(0);
const folded = (text: string, end = '\r\n', blank = ' ') => (text.match(/.{1,74}/g) ?? []).join(end + blank);
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

describe('bytes that a text carries are read', () => {
  const zipped = zip([{ name: 'eicar.com', content: EICAR }]);
  const numbers = [...TEXT].map((byte) => `0x${byte.toString(16)}`);
  const base32 = (bytes: Buffer) => {
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const digits = bits.match(/.{1,5}/g) ?? [];
    return digits.map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
  };
  const ascii85 = (bytes: Buffer) => {
    const groups =
      Buffer.concat([bytes, Buffer.alloc(3)])
        .toString('hex')
        .match(/.{8}/g) ?? [];
    return groups
      .map((group) =>
        [4, 3, 2, 1, 0]
          .map((place) => String.fromCharCode(33 + (Math.floor(Number.parseInt(group, 16) / 85 ** place) % 85)))
          .join(''),
      )
      .join('\n');
  };
  const rows = (TEXT.toString('latin1').match(/[\s\S]{1,16}/g) ?? []).map((row, index) => {
    const digits = Buffer.from(row, 'latin1').toString('hex').match(/../g) ?? [];
    const shown = row.replaceAll(/[^ -~]/g, '.');
    return `${(index * 16).toString(16).padStart(4, '0')}\t${digits.slice(0, 8).join(' ')}  ${digits.slice(8).join(' ')}   ${shown}`;
  });
  const half = (LINE ?? Buffer.alloc(0)).toString('latin1').trim();
  test.each<[string, string | Buffer]>([
    [
      'a calendar',
      `BEGIN:VCALENDAR\r\n${folded(`ATTACH;FMTTYPE=application/zip;ENCODING=BASE64;VALUE=BINARY:${base64(zipped)}`)}\r\nEND:VCALENDAR\r\n`,
    ],
    [
      'a calendar, a file of a line',
      `BEGIN:VCALENDAR\r\n${folded(`ATTACH;ENCODING=BASE64;VALUE=BINARY:${base64(EICAR)}`)}\r\nEND:VCALENDAR\r\n`,
    ],
    ['a card', `BEGIN:VCARD\r\nFN:x\r\n${folded(`PHOTO;ENCODING=b;TYPE=JPEG:${base64(TEXT)}`)}\r\nEND:VCARD\r\n`],
    ['a directory in LDIF', `version: 1\ndn: cn=x\n${folded(`jpegPhoto:: ${base64(EICAR)}`, '\n')}\n`],
    ['comments of a batch file', (base64(TEXT).match(/.{1,60}/g) ?? []).map((row) => `::${row}\r\n`).join('')],
    ['comments of a script', `#!/bin/sh\n${(base64(TEXT).match(/.{1,60}/g) ?? []).map((row) => `#:${row}\n`).join('')}`],
    ['an array of C, indented', `unsigned char x[] = {\n${numbers.join(',\n   ')}\n};\n`],
    ['base32 in lines', (base32(TEXT).match(/.{1,76}/g) ?? []).join('\n')],
    ['a listing of certutil', rows.join('\r\n')],
    [
      'a literal over lines, turned by 13',
      `import codecs\nexec(codecs.decode('''${TEXT.toString('latin1').replaceAll(/[a-z]/gi, (letter) => String.fromCharCode((letter <= 'Z' ? 65 : 97) + (((letter.charCodeAt(0) & 31) + 12) % 26)))}''', 'rot13'))\n`,
    ],
    [
      'characters of two bytes',
      `unescape("${(
        Buffer.concat([TEXT, Buffer.alloc(TEXT.length % 2)])
          .swap16()
          .toString('hex')
          .match(/.{4}/g) ?? []
      )
        .map((digits) => `%u${digits}`)
        .join('')}")`,
    ],
    [
      'entities of an XML',
      `x\n<!DOCTYPE svg [<!ENTITY a '${half.slice(0, 50).replaceAll("'", '&#39;')}'><!ENTITY b '${half.slice(50).replaceAll("'", '&#39;')}'>]><svg>\n&a;&b;\n</svg>`,
    ],
    ['a text of JIS', Buffer.from((TEXT.toString('latin1').match(/[\s\S]{1,6}/g) ?? []).join('\x1b(B'), 'latin1')],
    ['templates that are put together', `const x = \`${(base64(zipped).match(/.{1,20}/g) ?? []).join('` + `')}\`;`],
    ['a program of PostScript', `%!PS\ncurrentfile /ASCII85Decode filter cvx exec\n${ascii85(TEXT)}~>\n`],
    ['values of a batch file with quotation marks', `@set a=${half.slice(0, 50)}\r\n@set b=${half.slice(50)}\r\n%a%%b%\r\n`],
  ])('in %s', async (_, text) => {
    expect((await examined(Buffer.from(text))).threat).toMatch(/^(EICAR-Test-File|HackTool\.Windows\.LsassDump)$/);
  });
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

test.each([
  [1, 16],
  [2, 24],
])('an image of a disc with whole sectors is read as the disc, mode %i', async (mode, at) => {
  const disc = Buffer.concat([
    Buffer.alloc(2048),
    zip([
      { name: 'eicar.com', content: EICAR },
      { name: 'noise', content: noise(6000) },
    ]),
  ]);
  const sectors = Array.from({ length: Math.ceil(disc.length / 2048) }, (_, index) => {
    const sector = Buffer.alloc(2352);
    sector.fill(0xff, 1, 11);
    sector[15] = mode;
    disc.copy(sector, at, index * 2048, (index + 1) * 2048);
    return sector;
  });
  expect(await examined(Buffer.concat(sectors))).toMatchObject({ threat: 'EICAR-Test-File' });
});

test.each([
  ['data', '06092a864886f70d010701'],
  ['digested', '06092a864886f70d010705'],
])('a message that is neither signed nor encrypted is read: %s', async (kind, identifier) => {
  const value = (tag: number, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, body.length]), body]);
  };
  const plain = [Buffer.from('06092a864886f70d010701', 'hex'), value(0xa0, value(0x04, EICAR))];
  const inner =
    kind === 'data'
      ? value(0xa0, value(0x04, EICAR))
      : value(0xa0, value(0x30, Buffer.from('020100', 'hex'), Buffer.from('300706052b0e03021a', 'hex'), value(0x30, ...plain)));
  expect(await examined(value(0x30, Buffer.from(identifier, 'hex'), inner))).toMatchObject({
    threat: 'EICAR-Test-File',
    unread: [],
  });
});

test('a frame of ID3 that is packed is unpacked', async () => {
  const packed = deflateSync(Buffer.concat([Buffer.from('\0application/x\0a\0b\0', 'latin1'), TEXT]));
  const frame = Buffer.alloc(14);
  frame.write('GEOB');
  frame.writeUInt32BE(packed.length + 4, 4);
  frame[9] = 0x80;
  const size = frame.length + packed.length;
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
  expect(await examined(Buffer.concat([head, frame, packed, Buffer.alloc(200)]))).toMatchObject({
    threat: 'HackTool.Windows.LsassDump',
  });
});

test('a file attached to a film is read where sizes take eight bytes', async () => {
  const part = (id: string, ...inner: Buffer[]) => {
    const body = Buffer.concat(inner);
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(0x0100000000000000n + BigInt(body.length));
    return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
  };
  const film = Buffer.concat([part('1a45dfa3'), part('18538067', part('1941a469', part('61a7', part('465c', EICAR))))]);
  expect(await examined(film)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
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

describe('formats that only few programs open', () => {
  const half = (LINE ?? Buffer.alloc(0)).toString('latin1').trim();
  const rows = uuencoded('a', TEXT)
    .toString('latin1')
    .replace(/^[\s\S]*?begin [^\n]*\n/, '')
    .replace(/\n`?\s*\nend[\s\S]*$/, '');
  /** Base64 with both of its marks in it. */
  const slashed = base64(gzipSync(Buffer.concat([noise(900), TEXT, noise(900, 7)])));
  /** Two blocks of zlib, as mkzftree writes them. */
  const zisofs = (bytes: Buffer) => {
    const filled = Buffer.concat([Buffer.alloc(32_768, 'words '), bytes]);
    const blocks = [deflateSync(filled.subarray(0, 32_768)), deflateSync(filled.subarray(32_768))];
    const head = Buffer.alloc(16 + 12);
    head.write('37e45396c9dbd607', 'hex');
    head.writeUInt32LE(filled.length, 8);
    head[12] = 4;
    head[13] = 15;
    for (const [index, place] of [
      28,
      28 + (blocks[0]?.length ?? 0),
      28 + (blocks[0]?.length ?? 0) + (blocks[1]?.length ?? 0),
    ].entries())
      head.writeUInt32LE(place, 16 + index * 4);
    return Buffer.concat([head, ...blocks]);
  };
  const inPieces = (text: string) =>
    (text.match(/.{1,3}/g) ?? [])
      .map((part) => `<w:r><w:t xml:space="preserve">${part.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</w:t></w:r>`)
      .join('<w:proofErr/>');

  test.each<[string, Buffer]>([
    [
      'a text of a large computer',
      Buffer.from(
        'e7f5d65ad76c7cc1d7baf4e0d7e9e7f5f44dd7b05df7c3c35df7d05bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c55a5bc84ec85c',
        'hex',
      ),
    ],
    [
      'a literal of PHP over lines, in uuencode',
      Buffer.from(`<?php eval(convert_uudecode('${rows.replaceAll(/[\\']/g, '\\$&')}\n\`'));\n`),
    ],
    [
      'a document whose words stand in pieces',
      zip([
        {
          name: 'word/document.xml',
          content: Buffer.from(
            `<?xml version="1.0"?><w:document><w:body><w:p>${inPieces('Words before it.')}</w:p><w:p>${inPieces(half)}</w:p></w:body></w:document>`,
          ),
        },
      ]),
    ],
    [
      'a batch file with a caret before each letter',
      Buffer.from(`@${[...half].map((letter) => (/\w/.test(letter) ? `^${letter}` : letter)).join('')}\r\n`),
    ],
    [
      'entities of an XML that is one from its first byte on',
      Buffer.from(
        `<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b '${half.slice(0, 40).replaceAll("'", '&#39;')}'><!ENTITY c '${half.slice(40).replaceAll("'", '&#39;')}'>]>\n<a>\n&b;&c;\n</a>`,
      ),
    ],
    [
      'the text of a calendar',
      Buffer.from(
        `BEGIN:VCALENDAR\r\nDESCRIPTION:${(half.replaceAll(/[\\,;]/g, '\\$&').match(/.{1,9}/g) ?? []).join('\r\n ')}\r\nEND:VCALENDAR\r\n`,
      ),
    ],
    ['base64 in JSON, its slashes escaped', Buffer.from(JSON.stringify({ a: slashed }).replaceAll('/', '\\/'))],
    ['base64 in what is sent of a form', Buffer.from(`a=1&b=${encodeURIComponent(slashed)}&c=2`)],
    ['the text that is sent of a form', Buffer.from(`a=1&b=${encodeURIComponent(half).replaceAll('%20', '+')}`)],
    ['base64 in groups of four', Buffer.from((slashed.match(/.{1,4}/g) ?? []).join(' '))],
    ['base64 with blank lines between its lines', Buffer.from((slashed.match(/.{1,64}/g) ?? []).join('\n\n'))],
    ['digits behind what databases put before them', Buffer.from(`INSERT INTO t VALUES (0x${EICAR.toString('hex')}, 1);`)],
    ['a copy of a table', Buffer.from(`COPY t (a) FROM stdin;\n\\\\x${EICAR.toString('hex')}\n\\.\n`)],
    [
      'words of an RTF in groups',
      Buffer.from(
        `{\\rtf1\\ansi ${(half.match(/.{1,3}/g) ?? []).map((part) => `{${part.replaceAll(/[\\{}]/g, '\\$&')}}`).join('')}}`,
      ),
    ],
    [
      'letters of an RTF by their numbers',
      Buffer.from(`{\\rtf1\\ansi ${[...half].map((letter) => `\\u${letter.charCodeAt(0)}?`).join('')}}`),
    ],
    [
      'letters of an RTF as digits',
      Buffer.from(`{\\rtf1\\ansi ${[...half].map((letter) => `\\'${Buffer.from(letter).toString('hex')}`).join('')}}`),
    ],
    ['numbers with a stroke between two', Buffer.from(`"${[...TEXT].join('|')}".split("|")`)],
    [
      'variables that are set late',
      Buffer.from(
        `@echo off\r\nsetlocal enabledelayedexpansion\r\nset "a=${half.slice(0, 50)}"\r\nset "b=${half.slice(50)}"\r\n!a!!b!\r\n`,
      ),
    ],
    [
      'variables of a shell',
      Buffer.from(
        `#!/bin/sh\n${(base64(TEXT).match(/.{1,30}/g) ?? []).map((part, index) => `a${index}="${part}"\n`).join('')}echo "${(base64(TEXT).match(/.{1,30}/g) ?? []).map((_, index) => `$a${index}`).join('')}" | base64 -d | sh\n`,
      ),
    ],
    ['an address with per cent signs', Buffer.from(`eval(decodeURIComponent("${encodeURIComponent(half)}"))`)],
    [
      'rich text in a cell',
      zip([
        {
          name: 'xl/sharedStrings.xml',
          content: Buffer.from(
            `<sst><si>${(half.match(/.{1,3}/g) ?? []).map((part) => `<r><t xml:space="preserve">${part}</t></r>`).join('')}</si></sst>`,
          ),
        },
      ]),
    ],
    ['a file that Linux unpacks on a disc', zisofs(TEXT)],
  ])('%s', async (_, bytes) => {
    expect((await examined(bytes)).threat).toMatch(/^(EICAR-Test-File|HackTool\.Windows\.LsassDump)$/);
  });

  test('a later part of a split archive is pending, and a text of such a name is not', async () => {
    for (const name of ['a.7z.002', 'a.zip.003', 'a.tar.gz.002', 'a.z02'])
      expect(await examined(noise(5000), name)).toMatchObject({ unread: ['unsupported'], named_after_upload: true });
    for (const name of ['a.002', 'a.7z.001', 'a.z01', 'a.z80'])
      expect((await examined(noise(5000), name)).unread, name).toEqual([]);
    expect((await examined(WORDS, 'words.tar.002')).unread).toEqual([]);
  });
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

test('a file in a patch of git is read', async () => {
  const bytes = Buffer.concat([Buffer.from([0]), TEXT]);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
  const packed = deflateSync(bytes);
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += 52) {
    const row = packed.subarray(at, at + 52);
    let line = String.fromCharCode(row.length > 26 ? 0x60 + row.length - 26 : 0x40 + row.length);
    for (let group = 0; group < row.length; group += 4) {
      const value = Buffer.concat([row.subarray(group, group + 4)], 4).readUInt32BE(0);
      line += [4, 3, 2, 1, 0].map((place) => alphabet[Math.floor(value / 85 ** place) % 85]).join('');
    }
    lines.push(line);
  }
  const patch = `diff --git a/a b/a\nnew file mode 100644\nGIT binary patch\nliteral ${bytes.length}\n${lines.join('\n')}\n\nliteral 0\nHcmV?d00001\n`;
  expect(await examined(Buffer.from(patch))).toMatchObject({ threat: 'HackTool.Windows.LsassDump', unread: [] });
});

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

test('LZMA with an unusual dictionary is opened in a tag of a sound', async () => {
  const lzma = Buffer.from(PACKED_EICAR.get('lzma') ?? Buffer.alloc(0));
  lzma.writeUInt32LE(0xfb0000, 1);
  const value = Buffer.concat([Buffer.from('\0application/x\0a\0b\0', 'latin1'), lzma]);
  const frame = Buffer.alloc(10);
  frame.write('GEOB');
  frame.writeUInt32BE(value.length, 4);
  const size = frame.length + value.length;
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
  expect(await examined(Buffer.concat([head, frame, value]))).toMatchObject({ threat: 'EICAR-Test-File' });
});

describe('a file by pack', () => {
  test.each([EICAR, Buffer.concat([TEXT, noise(20_000)])])('is unpacked, as gzip unpacks it', async (bytes) => {
    const packed = packedByHuffman(bytes);
    expect(execFileSync('gzip', ['-dc'], { input: packed })).toEqual(bytes);
    const { threat, unread, coverage } = await examined(packed, 'file.z');
    expect(threat).toMatch(/^(EICAR-Test-File|HackTool)/);
    expect({ unread, read: coverage.members_scanned }).toEqual({ unread: [], read: 1 });
  });

  test('is damaged where its end is missing, and the part before it is read', async () => {
    const packed = packedByHuffman(TEXT);
    expect(await examined(packed.subarray(0, -4))).toMatchObject({ threat: 'HackTool.Windows.LsassDump', unread: ['damaged'] });
    expect((await examined(Buffer.concat([Buffer.from('1f1e', 'hex'), noise(500)]))).unread).toEqual([]);
  });
});

describe('a picture of medicine', () => {
  const uid = (text: string) => Buffer.from(text.padEnd(text.length + (text.length % 2), '\0'));
  const element = (
    group: number,
    number: number,
    kind: string,
    value: Buffer,
    form: 'little' | 'big' | 'implicit' = 'little',
  ) => {
    const numbers = (count: number, ...list: number[]) => {
      const bytes = Buffer.alloc(list.length * count);
      for (const [index, one] of list.entries())
        if (form === 'big') bytes.writeUIntBE(one, index * count, count);
        else bytes.writeUIntLE(one, index * count, count);
      return bytes;
    };
    const tag = numbers(2, group, number);
    if (form === 'implicit') return Buffer.concat([tag, numbers(4, value.length), value]);
    if (['OB', 'UN', 'UT'].includes(kind))
      return Buffer.concat([tag, Buffer.from(`${kind}\0\0`), numbers(4, value.length), value]);
    return Buffer.concat([tag, Buffer.from(kind), numbers(2, value.length), value]);
  };
  const picture = (syntax: string, ...elements: Buffer[]) =>
    Buffer.concat([Buffer.alloc(128), Buffer.from('DICM'), element(2, 0x10, 'UI', uid(syntax)), ...elements]);
  const value = Buffer.concat([EICAR, Buffer.alloc(EICAR.length % 2)]);

  test.each<[string, Buffer]>([
    [
      'little-endian',
      picture('1.2.840.10008.1.2.1', element(8, 0x60, 'CS', Buffer.from('CT')), element(0x42, 0x11, 'OB', value)),
    ],
    [
      'big-endian',
      picture('1.2.840.10008.1.2.2', element(8, 0x60, 'CS', Buffer.from('CT'), 'big'), element(0x42, 0x11, 'OB', value, 'big')),
    ],
    [
      'without kinds',
      picture(
        '1.2.840.10008.1.2',
        element(8, 0x60, '', Buffer.from('CT'), 'implicit'),
        element(0x42, 0x11, '', value, 'implicit'),
      ),
    ],
    [
      'in fragments',
      picture(
        '1.2.840.10008.1.2.4.50',
        Buffer.from('e07f10004f420000ffffffff', 'hex'),
        Buffer.from('feff00e044000000', 'hex'),
        value,
        Buffer.from('feffdde000000000', 'hex'),
      ),
    ],
    [
      'in a sequence',
      picture(
        '1.2.840.10008.1.2.1',
        Buffer.from('080011115351 0000ffffffff'.replaceAll(' ', ''), 'hex'),
        Buffer.from('feff00e0ffffffff', 'hex'),
        element(0x42, 0x11, 'OB', value),
        Buffer.from('feff0de000000000feffdde000000000', 'hex'),
      ),
    ],
  ])('has its values read: %s', async (_, bytes) => {
    expect(await examined(bytes)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('that is packed as a whole, or longer than it is, is pending', async () => {
    expect((await examined(picture('1.2.840.10008.1.2.1.99', noise(400)))).unread).toEqual(['unsupported']);
    expect((await examined(picture('1.2.840.10008.1.2.1', element(0x42, 0x11, 'OB', value).subarray(0, -9)))).unread).toEqual([
      'damaged',
    ]);
  });
});
