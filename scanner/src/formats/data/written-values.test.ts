import { deflateRawSync, deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { uuencoded } from '#test/containers.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise } from '#test/files.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';

// Values that stand in a file in other letters than a rule knows: fields of forms, texts of large computers, files of EPROMs, rows and numbers in scripts, constants of compiled ones.

const FOUND = { threat: 'EICAR-Test-File', unread: [] };
const latin = (text: string) => Buffer.from(text, 'latin1');

describe('a text in EBCDIC', () => {
  test.each([
    [
      'code page 500',
      'e7f5d64fd76c7cc1d74af4e0d7e9e7f5f44dd75f5df7c3c35df7d05bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f5bc84ec85c',
    ],
    [
      'code page 273',
      'e7f5d64fd76cb5c1d763f4ecd7e9e7f5f44dd75f5df7c3c35df7dc5bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f5bc84ec85c',
    ],
    [
      'code page 1026',
      'e7f5d64fd76caec1d768f4dcd7e9e7f5f44dd75f5df7c3c35df78cadc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54fadc84ec85c',
    ],
    [
      'code page 277',
      'e7f5d64fd76c80c1d79ef4e0d7e9e7f5f44dd75f5df7c3c35df74767c5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f67c84ec85c',
    ],
    [
      'code page 278',
      'e7f5d64fd76cecc1d7b5f4e0d7e9e7f5f44dd75f5df7c3c35df74767c5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f67c84ec85c',
    ],
    [
      'code page 280',
      'e7f5d64fd76cb5c1d790f448d7e9e7f5f44dd75f5df7c3c35df7545bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f5bc84ec85c',
    ],
    [
      'code page 284',
      'e7f5d6bbd76c7cc1d74af4e0d7e9e7f5f44dd7ba5df7c3c35df7d05bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c5bb5bc84ec85c',
    ],
    [
      'code page 285',
      'e7f5d65ad76c7cc1d7b1f4e0d7e9e7f5f44dd7ba5df7c3c35df7d04ac5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c55a4ac84ec85c',
    ],
    [
      'code page 297',
      'e7f5d64fd76c44c1d790f448d7e9e7f5f44dd75f5df7c3c35df7545bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f5bc84ec85c',
    ],
    [
      'code page 871',
      'e7f5d64fd76cacc1d7aef4bed7e9e7f5f44dd7ec5df7c3c35df79c5bc5c9c3c1d960e2e3c1d5c4c1d9c460c1d5e3c9e5c9d9e4e260e3c5e2e360c6c9d3c54f5bc84ec85c',
    ],
  ])('of %s is read', async (_, digits) => {
    expect(await examined(Buffer.from(digits, 'hex'))).toMatchObject(FOUND);
  });
});

describe('a value of a form in a PDF', () => {
  const wide = Buffer.concat([Buffer.from('feff', 'hex'), Buffer.from(EICAR.toString('latin1'), 'utf16le').swap16()]);
  const narrow = Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from(EICAR.toString('latin1'), 'utf16le')]);
  const literal = (bytes: Buffer) => `(${bytes.toString('latin1').replaceAll(/[\\()]/g, '\\$&')})`;
  const octal = (bytes: Buffer) => `(${[...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')})`;
  const hex = (bytes: Buffer) => `<${bytes.toString('hex')}>`;
  const field = (value: string) => `<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/Rect[0 0 9 9]/V ${value}>>`;
  const pdf = (object: string) =>
    latin(
      `%PDF-1.4\n1 0 obj\n<</Type/Catalog/AcroForm<</Fields[4 0 R]>>>>\nendobj\n4 0 obj\n${object}\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n`,
    );
  const inStream = (text: string) => {
    const packed = deflateSync(latin(`4 0 ${text}`)).toString('latin1');
    return `<</Type/ObjStm/N 1/First 4/Length ${packed.length}/Filter/FlateDecode>>\nstream\n${packed}\nendstream`;
  };
  const ways: [string, string][] = [
    ['in UTF-16', literal(wide)],
    ['in UTF-16, as digits', hex(wide)],
    ['in UTF-16, as digits in lines', hex(wide).replaceAll(/.{40}/g, '$&\n')],
    ['in UTF-16 of the other order', literal(narrow)],
    ['in UTF-16, as octal escapes', octal(wide)],
    ['as digits', hex(EICAR)],
    ['with escapes', literal(EICAR)],
    ['in lines that go on', literal(EICAR).replaceAll(/([A-Z]{4})/g, '$1\\\n')],
    ['behind a string without an end', `(${'x'.repeat(50)} /V ${hex(wide)}`],
  ];
  test.each(ways.slice(0, -1))('%s is read', async (_, value) => {
    expect(await examined(pdf(field(value)))).toMatchObject(FOUND);
    expect(await examined(pdf(inStream(field(value))))).toMatchObject(FOUND);
  });

  test('of a form without its document is read', async () => {
    expect(await examined(latin(`%FDF-1.2\n1 0 obj\n<</FDF<</Fields[<</T(a)/V${hex(wide)}>>]>>>>\nendobj\n`))).toMatchObject(
      FOUND,
    );
  });

  test('behind a string without an end, in an object of its own, is read', async () => {
    expect(await examined(pdf(`(${'x'.repeat(50)}\nendobj\n5 0 obj\n${field(hex(wide))}`))).toMatchObject({
      threat: 'EICAR-Test-File',
    });
  });

  test('is no member, however many there are', async () => {
    const { coverage, unread } = await examined(pdf(`[${'(Words of a title that is long enough)'.repeat(20_000)}]`));
    expect({ unread, many: coverage.members_total > 3 }).toEqual({ unread: [], many: false });
  });
});

/** As objcopy writes it: 32 bytes to a line, the last one filled up with zeros. */
function tekhex(bytes: Buffer): string {
  const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 31)]);
  const lines: string[] = [];
  for (let at = 0; at < padded.length; at += 32) {
    const address = at.toString(16).toUpperCase();
    const digits = padded
      .subarray(at, at + 32)
      .toString('hex')
      .toUpperCase();
    const length = (6 + address.length + digits.length).toString(16).toUpperCase();
    lines.push(`%${length}6FF${address.length}${address}${digits}\r\n`);
  }
  return `${lines.join('')}%113F25.data110244\r\n%0781010\r\n`;
}

/** By 7-Zip; the dictionary is a claim. */
const ODD_LZMA = Buffer.from(PACKED_EICAR.get('lzma') ?? Buffer.alloc(0));
ODD_LZMA.writeUInt32LE(0xfb0000, 1);
/** By Python's lzma: lc=0, lp=2, pb=0. */
const OTHER_LZMA = Buffer.from(
  '1200000100ffffffffffffffff002c0db0d1dde144b37569a346aa872d59079f1a3ddb1ae720b121bc36deafa3ee61cddf2692c00e3e21eac87f321ed5f4954d7ca89de671674b39f4ddb93ab6592a645dcc79e87721ff99dbc00000',
  'hex',
);

describe('files in a text', () => {
  /** Lines of od or xxd. */
  const counted = (width: number, word: (bytes: Buffer) => string, behind = ' ', source = EICAR) => {
    const lines: string[] = [];
    for (let at = 0; at < source.length; at += 16) {
      const words: string[] = [];
      for (let from = at; from < Math.min(at + 16, source.length); from += width)
        words.push(word(source.subarray(from, from + width)));
      lines.push(`${at.toString(behind === ' ' ? 8 : 16).padStart(behind === ' ' ? 7 : 8, '0')}${behind}${words.join(' ')}\n`);
    }
    return lines.join('');
  };
  const XX = '+-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const xxRows = [EICAR.subarray(0, 45), EICAR.subarray(45)].map((row) => {
    const bits = [...row, 0]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Math.ceil(row.length / 3) * 24);
    return XX[row.length] + (bits.match(/.{1,6}/g) ?? []).map((six) => XX[Number.parseInt(six.padEnd(6, '0'), 2)]).join('');
  });
  const quoted = EICAR.toString('latin1')
    .replaceAll(/[^A-Z0-9]/g, (mark) => `=${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll(/.{50}/g, '$&=\n');
  const rows = uuencoded('a', Buffer.concat([EICAR]))
    .toString('latin1')
    .split('\n')
    .filter((line) => line.startsWith('M') || /^7/.test(line));
  test.each([
    ['a file of an EPROM (Tektronix)', tekhex(EICAR)],
    ['uuencode without its first line', `${rows.join('\n')}\n`],
    ['uuencode without its first line, behind words', `As you asked:\r\n\r\n${rows.join('\r\n')}\r\n`],
    ['numbers that are split at a letter', `var s="${[...EICAR].join('x')}".split("x");eval(s.map(c))`],
    ['numbers that are split at a word', `s='${[...EICAR].join('zQz')}'.split('zQz')`],
    ['what od writes', counted(2, (bytes) => bytes.readUInt16LE().toString(8).padStart(6, '0'))],
    ['what od writes of single bytes', counted(1, (bytes) => bytes.readUInt8().toString(8).padStart(3, '0'))],
    ['what od writes in numbers of two bytes', counted(2, (bytes) => bytes.readUInt16LE().toString(16).padStart(4, '0'))],
    ['what xxd writes by bits', counted(1, (bytes) => bytes.readUInt8().toString(2).padStart(8, '0'), ': ')],
    ['what xxd writes in numbers of four bytes', counted(4, (bytes) => bytes.readUInt32LE().toString(16).padStart(8, '0'), ': ')],
    ['bytes by their bits', [...EICAR].map((byte) => byte.toString(2).padStart(8, '0')).join(' ')],
    ['numbers with blanks between them', [...EICAR].join(' ')],
    ['xxencode', `begin 644 a\n${xxRows.join('\n')}\n+\nend\n`],
    ['quoted-printable that nothing says is some', quoted],
    ['a request of SAML', `<input name="SAMLRequest" value="${deflateRawSync(EICAR).toString('base64')}"/>`],
    [
      'marshal in a literal',
      `exec(marshal.loads(b'${[...Buffer.concat([latin('(s'), deflateSync(EICAR)])].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'))`,
    ],
    ['LZMA with a dictionary that nobody chooses, as digits', `x = "${ODD_LZMA.toString('hex')}"`],
    [
      'LZMA of other properties, as a dump',
      counted(2, (bytes) => bytes.readUInt16BE().toString(16).padStart(4, '0'), ': ', OTHER_LZMA),
    ],
    ['digits that are split at a letter', `x("${(EICAR.toString('hex').match(/../g) ?? []).join('g')}")`],
  ])('%s is read', async (_, text) => {
    expect(await examined(latin(text))).toMatchObject(FOUND);
  });

  test('is read as a file once where it has its first line', async () => {
    const mail = uuencoded('a', Buffer.alloc(200, 'words ')).toString('latin1');
    const { coverage } = await examined(latin(mail.slice(mail.indexOf('begin '))));
    expect(coverage.members_total).toBe(1);
  });
});

describe('compiled Python', () => {
  /** By CPython 3.11: `import zlib; exec(zlib.decompress(b'...'))`. */
  const COMPILED = Buffer.from(
    'pw0NCgAAAAAAAAAAAAAAAOMAAAAAAAAAAAAAAAAFAAAAAAAAAPNAAAAAlwBkAGQBbABaAAIAZQECAGUAagIAAAAAAAAAAGQCpgEAAKsBAAAAAAAAAACmAQAAqwEAAAAAAAAAAAEAZAFTACkD6QAAAABOc0wAAAB4nIsw9VcMUHVwDIg2iQmIijA10QiI0zR3dtY0r1Vx9XR2DNINDnH0c3EMctF19AvxDPMMCg3WDXENDtF18/RxVVTx0PbQAgB0VBIPKQPaBHpsaWLaBGV4ZWPaCmRlY29tcHJlc3OpAPMAAAAA+gRhLnB5+gg8bW9kdWxlPnIJAAAAAQAAAHNJAAAA8AMBAQHYAAuAC4ALgAvYAASABIBfgFSEX/AAABZmA/EAAAZnA/QAAAZnA/EAAAFoA/QAAAFoA/AAAAFoA/AAAAFoA/AAAAFoA3IHAAAA',
    'base64',
  );
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const string = (bytes: Buffer, type = 's') => Buffer.concat([latin(type), u32(bytes.length), bytes]);
  const tuple = (...objects: Buffer[]) => Buffer.concat([latin(')'), Buffer.from([objects.length]), ...objects]);
  const code = (numbers: number, tables: number, constants: Buffer) => {
    const name = string(latin('a.py'), 'u');
    const others = [tuple(), tuple(), tuple(), tuple(), name, name];
    return Buffer.concat([
      Buffer.from('e3', 'hex'),
      Buffer.alloc(4 * numbers),
      string(noise(60)),
      constants,
      ...others,
      u32(1),
      ...Array.from({ length: tables }, () => string(noise(40))),
    ]);
  };
  const compiled = (magic: number, head: number, object: Buffer) => {
    const bytes = Buffer.alloc(head);
    bytes.writeUInt16LE(magic);
    bytes.write('\r\n', 2);
    return Buffer.concat([bytes, object]);
  };
  const packed = string(deflateSync(EICAR));
  const others = Buffer.concat([
    latin('N'),
    latin('i\x01\0\0\0'),
    latin('g\0\0\0\0\0\0\0\0'),
    latin('l\x02\0\0\0abcd'),
    latin('{'),
    string(latin('a')),
    latin('T0'),
    latin('>\x01\0\0\0.'),
  ]);
  const constants = Buffer.concat([latin(')\x07'), others, packed]);

  test('by CPython has its packed constant read', async () => {
    expect(await examined(COMPILED)).toMatchObject({ ...FOUND, threat_member: 'constant 1 / constant 1' });
  });

  test.each([
    ['2.7', 62_211, 8, 4, 1],
    ['3.2', 3180, 8, 5, 1],
    ['3.6', 3379, 12, 5, 1],
    ['3.7', 3394, 16, 5, 1],
    ['3.9', 3425, 16, 6, 1],
    ['3.13', 3571, 16, 5, 2],
  ])('of version %s has its packed constant read', async (_, magic, head, numbers, tables) => {
    expect(await examined(compiled(magic, head, code(numbers, tables, constants)))).toMatchObject(FOUND);
    // A function in it has constants of its own.
    const inner = code(numbers, tables, tuple(packed));
    expect(await examined(compiled(magic, head, code(numbers, tables, tuple(inner))))).toMatchObject(FOUND);
  });

  test('has the base64 in its texts read', async () => {
    const text = string(latin(deflateSync(EICAR).toString('base64')), 'z'.replace('z', 'a'));
    expect(await examined(compiled(3495, 16, code(5, 2, tuple(text))))).toMatchObject(FOUND);
  });

  test('has a script within a script, and data packed without a head, read', async () => {
    const inner = code(5, 2, tuple(packed));
    expect(await examined(compiled(3495, 16, code(5, 2, tuple(string(inner)))))).toMatchObject(FOUND);
    const raw = tuple(string(latin('decompress')), string(deflateRawSync(EICAR)));
    expect(await examined(compiled(3495, 16, code(5, 2, raw)))).toMatchObject(FOUND);
  });

  test('that is cut, or nested without an end, is damaged', async () => {
    expect((await examined(COMPILED.subarray(0, 120))).unread).toContain('damaged');
    const deep = compiled(3495, 16, Buffer.concat([code(5, 2, Buffer.alloc(0)).subarray(0, 86), latin(')\x01'.repeat(20_000))]));
    expect((await examined(deep)).unread).toContain('damaged');
  });
});

describe('a stream of zlib between other bytes', () => {
  const packed = deflateSync(EICAR);
  test.each<[string, Buffer]>([
    ['a database', Buffer.concat([noise(900), packed, noise(900)])],
    ['MessagePack', Buffer.concat([Buffer.from('81a161c4', 'hex'), Buffer.from([packed.length]), packed])],
    ['numbers of numpy', Buffer.concat([latin('\x93NUMPY\x01\0'), packed])],
    ['a backup of Android', Buffer.concat([latin('ANDROID BACKUP\n5\n1\nnone\n'), packed])],
    ['a bundle of Mercurial', Buffer.concat([latin('HG10GZ'), packed])],
    ['a script, with a line end in it', Buffer.concat([latin('#!/bin/sh\ntail -n +5 "$0" | tar xzf -\nexit 0\n'), packed])],
    [
      'compiled Erlang',
      Buffer.concat([
        latin('FOR1'),
        Buffer.from([0, 0, 0, 12 + packed.length]),
        latin('BEAMLitT'),
        Buffer.from([0, 0, 0, packed.length]),
        packed,
      ]),
    ],
  ])('of %s is read', async (_, bytes) => {
    expect((await examined(bytes)).threat).toBe('EICAR-Test-File');
  });

  test('is no stream where its checksum is wrong', async () => {
    const broken = Buffer.from(packed);
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
    expect(await examined(Buffer.concat([noise(900), broken, noise(900)]))).toMatchObject({ threat: null, unread: [] });
  });

  test('that lies in thousands of others ends', async () => {
    // Each beginning is one of a stream that lasts to the end, and has a wrong checksum there.
    const stored = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from('7801000a00f5ff', 'hex')));
    const file = Buffer.concat([noise(100), stored]);
    const budget = new Budget(SCAN_LIMITS, file.length);
    expect((await examined(file, { budget })).unread).toEqual(['time_limit']);
    expect(budget.work).toBeLessThan(128 * 1024 ** 2);
  });
});

describe('files of a game', () => {
  const entry = (name: string, bytes: number, ...numbers: number[]) =>
    Buffer.concat([...numbers.map(u32Of), Buffer.from(name.padEnd(bytes, '\0'))]);
  const u32Of = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  test.each<[string, Buffer]>([
    ['Doom', Buffer.concat([latin('PWAD'), u32Of(1), u32Of(12 + EICAR.length), EICAR, entry('LUMP', 8, 12, EICAR.length)])],
    [
      'Quake',
      Buffer.concat([latin('PACK'), u32Of(12 + EICAR.length), u32Of(64), EICAR, entry('a', 56), u32Of(12), u32Of(EICAR.length)]),
    ],
    ['Build', Buffer.concat([latin('KenSilverman'), u32Of(1), entry('E.COM', 12), u32Of(EICAR.length), EICAR])],
  ])('are read: %s', async (_, bytes) => {
    expect(await examined(bytes)).toMatchObject(FOUND);
  });
});

test.each<[string, string, Buffer]>([
  ['an encrypted backup of Android', 'encrypted', Buffer.concat([latin('ANDROID BACKUP\n5\n1\nAES-256\n00\n'), noise(200)])],
  [
    'an archive of ARC',
    'unsupported',
    Buffer.concat([
      latin('\x1a\x08E.COM\0'),
      Buffer.alloc(7),
      Buffer.from([50, 0, 0, 0, 0x7a, 0x5d, 0xc4, 0x73, 1, 2, 90, 0, 0, 0]),
      noise(50),
      latin('\x1a\0'),
    ]),
  ],
  ['a file of COMPRESS (KWAJ)', 'unsupported', Buffer.concat([Buffer.from('4b57414a88f027d1', 'hex'), noise(60)])],
  ['packed Avro', 'unsupported', Buffer.concat([latin('Obj\x01\x04\x14avro.codec\x0edeflate'), noise(200)])],
  [
    'a disk of old Macs',
    'unsupported',
    (() => {
      const image = Buffer.alloc(4096);
      image.write('BD', 1024);
      image.writeUInt16BE(3, 1024 + 14);
      image.writeUInt32BE(512, 1024 + 20);
      return image;
    })(),
  ],
])('%s is pending', async (_, detail, bytes) => {
  expect((await examined(bytes)).unread).toEqual([detail]);
});
