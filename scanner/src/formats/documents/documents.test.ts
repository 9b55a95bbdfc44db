import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import type { Examination } from '#scanner/walk/examination.ts';
import { examine } from '#scanner/walk/examine.ts';
import { docx, ole } from '#test/containers.ts';
import { EICAR, noise, zip } from '#test/files.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-documents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The result of a scan, and whether EICAR was matched as a file of its own. */
async function examined(content: Buffer): Promise<Examination & { found: boolean }> {
  const path = join(folder, 'upload');
  writeFileSync(path, content);
  let found = false;
  const examination = await examine(
    { path, size: content.length, name: 'file' },
    {
      match(bytes) {
        found ||= bytes.length <= 128 && bytes.subarray(0, EICAR.length).equals(EICAR);
        return [];
      },
      limits: SCAN_LIMITS,
      folder: join(folder, 'unpacked'),
    },
  );
  return { ...examination, found };
}

/** A Word document's first stream (MS-DOC 2.5.2), encrypted or not. */
function wordStream(flags: number): Buffer {
  const stream = Buffer.alloc(4096, 7);
  stream.writeUInt16LE(0xa5ec, 0);
  stream.writeUInt16LE(flags, 10);
  return stream;
}

/** Records of a workbook: its beginning, those that are named, and its end. */
function workbook(...types: number[]): Buffer {
  return Buffer.concat(
    [0x0809, ...types, 0x000a].map((type) => {
      const record = Buffer.alloc(4 + 16);
      record.writeUInt16LE(type, 0);
      record.writeUInt16LE(16, 2);
      return record;
    }),
  );
}

function currentUser(token: number): Buffer {
  const stream = Buffer.alloc(40);
  stream.writeUInt32LE(token, 12);
  return stream;
}

function manifest(entry: string): Buffer {
  return zip([
    { name: 'mimetype', content: Buffer.from('application/vnd.oasis.opendocument.text'), method: 0 },
    { name: 'content.xml', content: noise(200) },
    {
      name: 'META-INF/manifest.xml',
      content: Buffer.from(
        `<?xml version="1.0"?><manifest:manifest><manifest:file-entry>${entry}</manifest:file-entry></manifest:manifest>`,
      ),
    },
  ]);
}

describe('a document behind a password is encrypted, and one without is not', () => {
  test.each([
    [
      'Word',
      ole([{ name: 'WordDocument', content: wordStream(0x0100) }]),
      ole([{ name: 'WordDocument', content: wordStream(0x0200) }]),
    ],
    ['Excel', ole([{ name: 'Workbook', content: workbook(0x002f) }]), ole([{ name: 'Workbook', content: workbook(0x0042) }])],
    ['Excel 5', ole([{ name: 'Book', content: workbook(0x002f) }]), ole([{ name: 'Book', content: workbook(0x0042) }])],
    [
      'PowerPoint',
      ole([{ name: 'Current User', content: currentUser(0xf3d1c4df) }]),
      ole([{ name: 'Current User', content: currentUser(0xe391c05f) }]),
    ],
    [
      'PowerPoint with its summary',
      ole([{ name: 'EncryptedSummary', content: noise(90) }]),
      ole([{ name: 'SummaryInformation', content: noise(90) }]),
    ],
    ['Office since 2007', ole([{ name: 'EncryptedPackage', content: noise(90) }]), docx('a.bin', noise(90))],
    ['OpenDocument', manifest('<manifest:encryption-data manifest:checksum="a"/>'), manifest('')],
  ])('%s', async (_, locked, open) => {
    expect(await examined(locked)).toMatchObject({ unread: ['encrypted'], coverage: { encrypted: 1 } });
    expect(await examined(open)).toMatchObject({ unread: [], coverage: { encrypted: 0 } });
  });
});

function long(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

/** A file in the Packager's format. */
function packaged(content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('\x02\x00eicar.com\0C:\\eicar.com\0\0\0\x03\0', 'latin1'),
    long(13),
    Buffer.from('C:\\eicar.com\0', 'latin1'),
    long(content.length),
    content,
    Buffer.alloc(2),
  ]);
}

/** An object of OLE 1.0 as RTF has it (MS-OLEDS 2.2.5). */
function object(content: Buffer): string {
  const name = Buffer.from('Package\0');
  const bytes = packaged(content);
  return Buffer.concat([long(0x0501), long(2), long(name.length), name, long(0), long(0), long(bytes.length), bytes]).toString(
    'hex',
  );
}

function rtf(data: string, head = '{\\rtf1\\ansi '): Buffer {
  return Buffer.from(`${head}Hello.\\par {\\object\\objemb{\\*\\objclass Package}{\\*\\objdata ${data}}{\\result x}}}`, 'latin1');
}

const DIGITS = object(EICAR);
const HALF = DIGITS.length / 2;

describe('a file is found in RTF', () => {
  test.each([
    ['as Word writes it', rtf(DIGITS)],
    ['with a header that Word takes, too', rtf(DIGITS, '{\\rtx ')],
    ['in lines', rtf(DIGITS.replaceAll(/(.{7})/g, '$1\r\n\t'))],
    ['with letters that are no digits', rtf(DIGITS.replaceAll(/(.{5})/g, '$1zQ-'))],
    ['with control words', rtf(DIGITS.replaceAll(/(.{9})/g, '$1\\par\\cf12 '))],
    ['with groups that nobody knows', rtf(DIGITS.replaceAll(/(.{20})/g, '$1{\\*\\xyz abc{\\b def}}'))],
    ['in groups of its own', rtf(`{${DIGITS.slice(0, 21)}{${DIGITS.slice(21)}}}`)],
    ['with escaped characters that are passed over', rtf(DIGITS.replaceAll(/(.{30})/g, "$1\\'41"))],
    ['with digits that are escaped', rtf(DIGITS.replaceAll(/a/g, "\\'61"))],
    [
      'with bytes in it',
      rtf(
        `${DIGITS.slice(0, HALF - (HALF % 2))}\\bin${Math.ceil(HALF / 2)} ${Buffer.from(DIGITS.slice(HALF - (HALF % 2)), 'hex').toString('latin1')}`,
      ),
    ],
    ['that ends too early', rtf(DIGITS).subarray(0, -14)],
    [
      'in a container of OLE',
      rtf(ole([{ name: '\x01Ole10Native', content: Buffer.concat([long(200), packaged(EICAR)]) }]).toString('hex')),
    ],
  ])('%s', async (_, file) => {
    expect((await examined(file)).found).toBe(true);
  });
});

test('a file is found in a native stream of a document', async () => {
  const stream = Buffer.concat([long(200), packaged(EICAR)]);
  expect(await examined(docx('oleObject1.bin', ole([{ name: '\x01Ole10Native', content: stream }])))).toMatchObject({
    found: true,
    unread: [],
  });
});

describe('OneNote', () => {
  const section = (content: Buffer, length = content.length) => {
    const head = Buffer.alloc(36);
    head.write('e716e3bd65261145a4c48d4d0b7a9eac', 'hex');
    head.writeUInt32LE(length, 16);
    return Buffer.concat([Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex'), noise(1000), head, content, noise(100)]);
  };

  test('gives its files', async () => {
    expect(await examined(section(EICAR))).toMatchObject({ found: true, unread: [], media_type: 'application/onenote' });
  });

  test('is damaged where one is longer than it is', async () => {
    expect((await examined(section(EICAR, 5000))).unread).toEqual(['damaged']);
  });
});

/** A property of MAPI with one value of bytes (MS-OXCDATA). */
function property(id: number, type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(id, 2);
  return Buffer.concat([head, long(1), long(value.length), value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
}

function attribute(id: number, content: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head[0] = 2;
  head.writeUInt32LE(id, 1);
  head.writeUInt32LE(content.length, 5);
  return Buffer.concat([head, content, Buffer.alloc(2)]);
}

const TNEF = Buffer.from('789f3e220100', 'hex');

describe('TNEF gives', () => {
  const name = attribute(0x00018010, Buffer.from('eicar.com\0'));
  const content = attribute(0x0006800f, EICAR);
  const shown = attribute(0x00069002, Buffer.alloc(14));
  test.each([
    ['a file behind its name', Buffer.concat([TNEF, shown, name, content])],
    ['a file before its name', Buffer.concat([TNEF, shown, content, name, shown])],
    [
      'a file in a property',
      Buffer.concat([TNEF, attribute(0x00069005, Buffer.concat([long(1), property(0x3701, 0x0102, EICAR)]))]),
    ],
    [
      'a file in an object of a property',
      Buffer.concat([
        TNEF,
        attribute(0x00069005, Buffer.concat([long(1), property(0x3701, 0x000d, Buffer.concat([noise(16), EICAR]))])),
      ]),
    ],
  ])('%s', async (_, file) => {
    expect(await examined(file)).toMatchObject({ found: true, unread: [] });
  });

  test('that it is damaged where a list of properties ends too early', async () => {
    const file = Buffer.concat([TNEF, attribute(0x00069003, Buffer.concat([long(9), property(0x1009, 0x0102, noise(40))]))]);
    expect((await examined(file)).unread).toEqual(['damaged']);
    expect((await examined(Buffer.concat([TNEF, content]).subarray(0, -20))).unread).toEqual(['damaged']);
  });

  test('the RTF that Outlook packs', async () => {
    // MS-OXRTFCP 4.1.1, with the object in literals.
    const text = rtf(DIGITS);
    const rows: Buffer[] = [];
    for (let at = 0; at < text.length; at += 8) rows.push(Buffer.from([0]), text.subarray(at, at + 8));
    const packed = Buffer.concat([...rows, Buffer.alloc(0)]);
    const value = Buffer.concat([long(packed.length + 12), long(text.length), Buffer.from('LZFu'), long(0), packed]);
    expect(await examined(ole([{ name: '__substg1.0_10090102', content: value }]))).toMatchObject({ found: true });
    const file = Buffer.concat([TNEF, attribute(0x00069003, Buffer.concat([long(1), property(0x1009, 0x0102, value)]))]);
    expect(await examined(file)).toMatchObject({ found: true });
  });
});

/** A value of DER. */
function der(tag: number, ...values: Buffer[]): Buffer {
  const content = Buffer.concat(values);
  const length =
    content.length < 128 ? Buffer.from([content.length]) : Buffer.from([0x82, content.length >> 8, content.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, content]);
}

describe('a message of S/MIME', () => {
  const identifier = (digits: string) => der(0x06, Buffer.from(digits, 'hex'));
  const message = (kind: string, body: Buffer) => der(0x30, identifier(kind), der(0xa0, body));
  const signed = (content: Buffer) =>
    message(
      '2a864886f70d010702',
      der(
        0x30,
        der(0x02, Buffer.from([1])),
        der(0x31),
        der(0x30, identifier('2a864886f70d010701'), der(0xa0, content)),
        der(0x31),
      ),
    );
  const whole = signed(der(0x04, EICAR));
  test.each([
    ['signed', whole],
    ['signed, the content in pieces', signed(der(0x24, der(0x04, EICAR.subarray(0, 10)), der(0x04, EICAR.subarray(10))))],
    [
      'signed, with open lengths',
      Buffer.concat([
        Buffer.from('3080', 'hex'),
        identifier('2a864886f70d010702'),
        Buffer.from('a0803080', 'hex'),
        der(0x02, Buffer.from([1])),
        der(0x31),
        Buffer.from('3080', 'hex'),
        identifier('2a864886f70d010701'),
        Buffer.from('a0802480', 'hex'),
        der(0x04, EICAR),
        Buffer.alloc(14),
      ]),
    ],
    [
      'packed',
      message(
        '2a864886f70d0109100109',
        der(
          0x30,
          der(0x02, Buffer.from([0])),
          der(0x30),
          der(0x30, identifier('2a864886f70d010701'), der(0xa0, der(0x04, deflateSync(EICAR)))),
        ),
      ),
    ],
    [
      'in armour',
      Buffer.from(`-----BEGIN PKCS7-----\n${whole.toString('base64').replaceAll(/(.{64})/g, '$1\n')}\n-----END PKCS7-----\n`),
    ],
    [
      'in a mail',
      Buffer.from(
        `From: a\nSubject: b\nContent-Type: application/pkcs7-mime; smime-type=signed-data\nContent-Transfer-Encoding: base64\n\n${whole.toString('base64')}\n`,
      ),
    ],
  ])('%s', async (_, file) => {
    expect(await examined(file)).toMatchObject({ found: true, unread: [] });
  });

  test('is encrypted where it is enveloped', async () => {
    for (const kind of ['2a864886f70d010703', '2a864886f70d010706', '2a864886f70d0109100117'])
      expect((await examined(message(kind, der(0x30, der(0x02, Buffer.from([0])))))).unread).toEqual(['encrypted']);
  });

  test('that ends too early is damaged', async () => {
    expect((await examined(whole.subarray(0, 14))).unread).toEqual(['damaged']);
  });
});

const BASE64 = EICAR.toString('base64');
const PART = `Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n${BASE64.replaceAll(/(.{5})/g, '$1!')}\n`;
const HEAD = 'From: a@example.com\nSubject: b\nMIME-Version: 1.0\n';
const parts = (boundary: string, part = PART) => `--${boundary}\n\nHello.\n--${boundary}\n${part}--${boundary}--\n`;
const WHOLE = `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n${parts('b')}`;
const yenc = (bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`=ybegin line=128 size=${bytes.length} name=a b.com\r\n`),
    Buffer.from(
      [...bytes].flatMap((byte) => {
        const coded = (byte + 42) & 0xff;
        return [0, 10, 13, 61].includes(coded) ? [61, (coded + 64) & 0xff] : [coded];
      }),
    ),
    Buffer.from(`\r\n=yend size=${bytes.length}\r\n`),
  ]);

describe('a file is found in a mail', () => {
  test.each([
    [
      'of two types, of which the first has parts',
      `${HEAD}Content-Type: multipart/mixed; boundary=b\nContent-Type: text/plain\n\n${parts('b')}`,
    ],
    [
      'of two types, of which the last has parts',
      `${HEAD}Content-Type: text/plain\nContent-Type: multipart/mixed; boundary=b\n\n${parts('b')}`,
    ],
    [
      'of two types with parts, of which the last is right',
      `${HEAD}Content-Type: multipart/mixed; boundary=a\nContent-Type: multipart/mixed; boundary=b\n\n${parts('b')}`,
    ],
    ['with two encodings, of which the first is right', WHOLE.replace(': base64', ': base64\nContent-Transfer-Encoding: 7bit')],
    [
      'with two encodings, of which the last is right',
      WHOLE.replace('Content-Transfer', 'Content-Transfer-Encoding: 8bit\nContent-Transfer'),
    ],
    ['with lines that end in CR', WHOLE.replaceAll('\n', '\r')],
    ['in UTF-16', Buffer.from(`\ufeff${WHOLE}`, 'utf16le').toString('latin1')],
    ['as Apple Mail keeps it', `${WHOLE.length}\n${WHOLE}<?xml version="1.0"?><plist/>\n`],
    ['behind a line that was one of a mailbox', `>From a@example.com Fri Nov 20 11:00:00 2026\n${WHOLE}`],
    ['with such a line in its header', WHOLE.replace('Subject', '>From b@example.com Fri Nov 20 11:00:00 2026\nSubject')],
    ['behind a very long header', WHOLE.replace('MIME', `X-Long: a\n${' b c\n'.repeat(100_000)}MIME`)],
    ['behind very many headers', WHOLE.replace('MIME', `${'X-A: b\n'.repeat(60_000)}MIME`)],
    ['with a boundary in pieces', WHOLE.replace('boundary=b', 'boundary*0=abc; boundary*1=def').replaceAll('--b', '--abcdef')],
    ['in one of several pieces', `${HEAD}Content-Type: message/partial; number=1; total=1; id=a\n\n${WHOLE}`],
    ['in yEnc', `${HEAD}Newsgroups: a.b\n\n${yenc(EICAR).toString('latin1')}`],
  ])('%s', async (_, text) => {
    expect(await examined(Buffer.from(text, 'latin1'))).toMatchObject({ found: true, unread: [] });
  });

  test('that is one piece of several cannot be read to its end', async () => {
    const text = `${HEAD}Content-Type: message/partial; number=1; total=3; id=a\n\n${WHOLE}`;
    expect(await examined(Buffer.from(text))).toMatchObject({ found: true, unread: ['unsupported'] });
  });

  test('flowed lines are read as one line, too', async () => {
    const lines: string[] = [];
    const path = join(folder, 'upload');
    const content = Buffer.from(`${HEAD}Content-Type: text/plain; format=flowed\n\nhttp://example.com/ \nis a \naddress.\n`);
    writeFileSync(path, content);
    const match = (bytes: Buffer) => {
      lines.push(...bytes.toString().split('\n'));
      return [];
    };
    await examine({ path, size: content.length, name: 'file' }, { match, limits: SCAN_LIMITS, folder: join(folder, 'unpacked') });
    expect(lines).toContain('http://example.com/ is a address.');
  });

  test('has the name that its pieces make', async () => {
    const text = WHOLE.replace('octet-stream', `octet-stream; name*0*=UTF-8''a%20; name*1="long "; name*2=name.exe`);
    const path = join(folder, 'upload');
    writeFileSync(path, text);
    const rule = { rule: 'a', threat: 'A', description: 'a', severity: 'low', reference: null, verdict: 'infected' } as const;
    const { threat_member } = await examine(
      { path, size: text.length, name: 'file' },
      {
        match: (bytes) => (bytes.subarray(0, 5).equals(EICAR.subarray(0, 5)) ? [rule] : []),
        limits: SCAN_LIMITS,
        folder: join(folder, 'unpacked'),
      },
    );
    expect(threat_member).toBe('a long name.exe');
  });
});

const PACKED = deflateSync(EICAR);

function document(dictionary: string, body: Buffer, more = '', { gap = '\n', head = '%PDF-1.5\n' } = {}): Buffer {
  return Buffer.concat([
    Buffer.from(`${head}1 0 obj\n<<${dictionary} /Length ${body.length}>>\nstream${gap}`),
    body,
    Buffer.from(`\nendstream\nendobj\n${more}\ntrailer\n<</Root 9 0 R>>\n%%EOF\n`, 'latin1'),
  ]);
}

/** PNG's predictors 0 to 4, a row each. */
function predicted(bytes: Buffer, columns: number): Buffer {
  const rows: Buffer[] = [];
  let before = Buffer.alloc(columns);
  for (let at = 0, kind = 0; at < bytes.length; at += columns, kind = (kind + 1) % 5) {
    const row = Buffer.concat([bytes.subarray(at, at + columns)], columns);
    const coded = row.map((byte, index) => {
      const left = row[index - 1] ?? 0;
      const up = before[index] ?? 0;
      const corner = before[index - 1] ?? 0;
      const estimate = left + up - corner;
      const [nearest = 0] = [left, up, corner].sort((one, other) => Math.abs(estimate - one) - Math.abs(estimate - other));
      return byte - ([0, left, up, (left + up) >> 1, nearest][kind] ?? 0);
    });
    rows.push(Buffer.from([kind]), Buffer.from(coded));
    before = row;
  }
  return Buffer.concat(rows);
}

describe('a file is found in a PDF', () => {
  const file = '3 0 obj\n<</Type /Filespec /F (a) /EF <</F 1 0 R>>>>\nendobj';
  const list = deflateSync(Buffer.from('3 0 <</Type/Filespec/EF<</UF 1 0 R>>>>'));
  test.each([
    ['that names it, without a type', document('/Filter /FlateDecode', PACKED, file)],
    ['that names it with an escape', document('/Filter /FlateDecode', PACKED, file.replace('F 1 0', '#46 1 0'))],
    [
      'that names it in a packed object',
      document(
        '/Filter /FlateDecode',
        PACKED,
        `4 0 obj\n<</Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length ${list.length}>>\nstream\n${list.toString('latin1')}\nendstream\nendobj`,
      ),
    ],
    ['behind a name of a filter with escapes', document('/Type /EmbeddedFile /F#69lter /Fl#61te#44ecode', PACKED)],
    [
      'with its filters in other objects',
      document(
        '/Type /EmbeddedFile /Filter 5 0 R',
        Buffer.from(`${PACKED.toString('hex')}>`),
        '5 0 obj\n[/ASCIIHexDecode /FlateDecode]\nendobj',
      ),
    ],
    ['with blanks behind stream', document('/Type /EmbeddedFile /Filter /FlateDecode', PACKED, '', { gap: '  \t \r\n' })],
    ['with a return behind stream', document('/Type /EmbeddedFile /Filter /FlateDecode', PACKED, '', { gap: '\r' })],
    ['without a header', document('/Type /EmbeddedFile /Filter /FlateDecode', PACKED, '', { head: '' })],
    [
      'with predictors of PNG',
      document(
        '/Type /EmbeddedFile /Filter /FlateDecode /DecodeParms <</Predictor 15 /Columns 10>>',
        deflateSync(predicted(EICAR, 10)),
      ),
    ],
    [
      'with the predictor of TIFF',
      document(
        '/Type /EmbeddedFile /Filter [/FlateDecode] /DecodeParms [<</Predictor 2 /Columns 68>>]',
        deflateSync(Buffer.from(EICAR.map((byte, index) => byte - (index === 0 ? 0 : (EICAR[index - 1] ?? 0))))),
      ),
    ],
    [
      'in a script of a string',
      document(
        '/X 1',
        Buffer.from('q Q'),
        `7 0 obj\n<</S /JavaScript /JS (${EICAR.toString('latin1').replaceAll(/[()\\]/g, '\\$&')})>>\nendobj`,
      ),
    ],
    [
      'in a script of digits',
      document('/X 1', Buffer.from('q Q'), `7 0 obj\n<</S /JavaScript /JS <${EICAR.toString('hex')}>>>\nendobj`),
    ],
    ['in a script of its own', document('', EICAR, '7 0 obj\n<</S /JavaScript /JS 1 0 R>>\nendobj')],
    ['in a form', document('', EICAR, '7 0 obj\n<</XFA [(template) 1 0 R (datasets) 2 0 R]>>\nendobj')],
  ])('%s', async (_, content) => {
    expect(await examined(content)).toMatchObject({ found: true, unread: [] });
  });
});
