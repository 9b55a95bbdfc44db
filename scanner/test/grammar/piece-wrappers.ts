import { deflateRawSync, deflateSync } from 'node:zlib';
import { HARMLESS, type Packed, type Wrapper } from './wrapper.ts';

// Archives of languages, lists of pieces, messages of OpenPGP, data carried by pictures, data behind documents, and texts behind the calls of scripts.

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const big32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

function made(name: string, ending: string, wrap: (inner: Packed) => Buffer, takes?: Wrapper['takes']): Wrapper {
  const wrapper: Wrapper = { name, makes: 'file', ending, wrap };
  return takes === undefined ? wrapper : { ...wrapper, takes };
}

/** asar: two pickled numbers, a list in JSON, the files. */
function asar({ bytes, name }: Packed): Buffer {
  const first = Buffer.from('first file');
  const files = { 'first.txt': { size: first.length, offset: '0' }, [name]: { size: bytes.length, offset: `${first.length}` } };
  const list = Buffer.from(JSON.stringify({ files }));
  const padded = Buffer.concat([list], Math.ceil(list.length / 4) * 4);
  return Buffer.concat([
    uint32(4),
    uint32(padded.length + 8),
    uint32(padded.length + 4),
    uint32(list.length),
    padded,
    first,
    bytes,
  ]);
}

/** phar: the end of a script, a manifest, the files; without a signature, which PHP can be configured not to want. */
function phar({ bytes, name }: Packed, is_packed: boolean): Buffer {
  const body = is_packed ? deflateRawSync(bytes) : bytes;
  const entry = Buffer.concat([
    uint32(name.length),
    Buffer.from(name),
    uint32(bytes.length),
    uint32(0),
    uint32(body.length),
    uint32(0),
    uint32(0o644 | (is_packed ? 0x1000 : 0)),
    uint32(0),
  ]);
  const manifest = Buffer.concat([uint32(1), Buffer.from([0x11, 0]), uint32(0), uint32(0), uint32(0), entry]);
  return Buffer.concat([Buffer.from('<?php\n__HALT_COMPILER(); ?>\r\n'), uint32(manifest.length), manifest, body]);
}

const double = ({ bytes }: Packed) =>
  Buffer.concat([
    big32(0x00051607),
    big32(0x00020000),
    Buffer.alloc(16),
    Buffer.from([0, 1]),
    big32(2),
    big32(38),
    big32(bytes.length),
    bytes,
  ]);

const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108020000009077 53de'.replaceAll(' ', ''), 'hex');
const PNG_TAIL = Buffer.from('0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082', 'hex');
const chunk = (type: string, body: Buffer) => Buffer.concat([big32(body.length), Buffer.from(type), body, big32(0)]);
const png = (type: string, body: Buffer) => Buffer.concat([PNG_HEAD, chunk(type, body), PNG_TAIL]);

function gifComment({ bytes }: Packed): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([
    Buffer.from('47494638396101000100800000000000ffffff21fe', 'hex'),
    ...blocks,
    Buffer.from('002c00000000010001000002024401003b', 'hex'),
  ]);
}

function id3({ bytes, name }: Packed): Buffer {
  const body = Buffer.concat([Buffer.from(`\0application/x\0${name}\0a file\0`, 'latin1'), bytes]);
  const frame = Buffer.concat([Buffer.from('GEOB'), big32(body.length), Buffer.alloc(2), body]);
  const size = [21, 14, 7, 0].map((shift) => (frame.length >> shift) & 127);
  return Buffer.concat([
    Buffer.from('ID3\x03\0\0', 'latin1'),
    Buffer.from(size),
    frame,
    Buffer.from('fffb9000', 'hex'),
    Buffer.alloc(413),
  ]);
}

const PDF = Buffer.from(
  '%PDF-1.5\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n',
);
const SECTION = Buffer.concat([Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex')], 1024);

/** A literal packet of OpenPGP (RFC 9580, 5.9), its length in pieces where it is long. */
function literal({ bytes, name }: Packed): Buffer {
  const body = Buffer.concat([Buffer.from('b'), Buffer.from([name.length]), Buffer.from(name), Buffer.alloc(4), bytes]);
  return Buffer.concat([Buffer.from([0xcb, 0xff]), big32(body.length), body]);
}

const armour = (bytes: Buffer) =>
  Buffer.from(
    `-----BEGIN PGP MESSAGE-----\n\n${bytes.toString('base64').replaceAll(/(.{64})/g, '$1\n')}\n=twTO\n-----END PGP MESSAGE-----\n`,
  );
const signed = ({ bytes }: Packed) =>
  Buffer.concat([
    Buffer.from('-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n'),
    bytes,
    Buffer.from('\n-----BEGIN PGP SIGNATURE-----\n\niHUEARYKAB0WIQ==\n-----END PGP SIGNATURE-----\n'),
  ]);

/** yEnc in two parts, in one file. */
function yEncParts({ bytes, name }: Packed): Buffer {
  const half = Math.ceil(bytes.length / 2);
  const part = (number: number, from: number, to: number) => {
    const coded = [...bytes.subarray(from, to)].flatMap((byte, index) => {
      const value = (byte + 42) & 255;
      const end = index % 128 === 127 ? [13, 10] : [];
      return [0, 10, 13, 61].includes(value) ? [61, (value + 64) & 255, ...end] : [value, ...end];
    });
    return Buffer.concat([
      Buffer.from(
        `=ybegin part=${number} total=2 line=128 size=${bytes.length} name=${name}\r\n=ypart begin=${from + 1} end=${to}\r\n`,
      ),
      Buffer.from(coded),
      Buffer.from(`\r\n=yend size=${to - from} part=${number}\r\n`),
    ]);
  };
  return Buffer.concat([part(1, 0, half), part(2, half, bytes.length)]);
}

const TEXTS = ['text'] as const;
const LINES = ['line', 'text'] as const;
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const piecesOf = (text: string, width: number) => text.match(new RegExp(`[\\s\\S]{1,${width}}`, 'g')) ?? [];
const script = (name: string, ending: string, write: (text: string) => string): Wrapper =>
  made(`script, ${name}`, ending, ({ bytes }) => Buffer.from(write(bytes.toString('latin1')), 'latin1'), TEXTS);

/** The pieces of a text in another order, and a format that puts them right. */
function formatted(text: string): string {
  const pieces = piecesOf(text, 7);
  const format = pieces.map((_, index) => `{${pieces.length - 1 - index}}`).join('');
  return `iex ("${format}" -f ${pieces.reverse().map(quoted).join(',')})\n`;
}

const hexdump = ({ bytes }: Packed) => {
  const rows = piecesOf(bytes.toString('latin1'), 16).map((row, index) => {
    const digits = Buffer.from(row, 'latin1')
      .toString('hex')
      .replaceAll(/(....)/g, '$1 ')
      .padEnd(41);
    return `${(index * 16).toString(16).padStart(8, '0')}: ${digits} ${row.replaceAll(/[^ -~]/g, '.')}`;
  });
  return Buffer.from(`${rows.join('\n')}\n`, 'latin1');
};

export const PIECES: readonly Wrapper[] = [
  made('asar', 'asar', asar),
  made('phar', 'phar', (inner) => phar(inner, false)),
  made('phar, packed', 'phar', (inner) => phar(inner, true)),
  made('AppleDouble', 'bin', double),
  {
    name: 'binary property list',
    makes: 'file',
    ending: 'plist',
    needs: ['python3'],
    wrap: (inner, { writers }) => writers.python('plist', inner.bytes, inner.name),
  },
  {
    name: 'pickle',
    makes: 'file',
    ending: 'pkl',
    needs: ['python3'],
    wrap: (inner, { writers }) => writers.python('pickle', inner.bytes, inner.name),
  },
  {
    name: 'web archive (WARC)',
    makes: 'file',
    ending: 'warc',
    needs: ['bsdtar'],
    wrap: (inner, { writers }) =>
      writers.run('bsdtar', ['-c', '-f', 'out', '--format', 'warc', 'a.bin'], { 'a.bin': inner.bytes }, 'out'),
  },
  {
    name: 'ISO, hidden from Windows',
    makes: 'archive',
    ending: 'iso',
    needs: ['genisoimage'],
    wrap: (inner, { writers }) =>
      writers.run(
        'genisoimage',
        ['-quiet', '-J', '-hide-joliet', 'a.bin', '-o', 'out.iso', 'files'],
        { 'files/a.bin': inner.bytes, 'files/readme.txt': HARMLESS },
        'out.iso',
      ),
  },
  made('OpenPGP, a literal', 'gpg', literal),
  made('OpenPGP, packed', 'gpg', (inner) => Buffer.concat([Buffer.from([0xa3, 1]), deflateRawSync(literal(inner))])),
  made('OpenPGP in armour', 'asc', (inner) => armour(literal(inner))),
  made('OpenPGP, packed, in armour', 'asc', (inner) =>
    armour(Buffer.concat([Buffer.from([0xa3, 2]), deflateSync(literal(inner))])),
  ),
  made('OpenPGP, a signed text', 'asc', signed, LINES),
  made('in a text of a PNG', 'png', ({ bytes }) => png('tEXt', Buffer.concat([Buffer.from('Comment\0'), bytes]))),
  made('in a packed text of a PNG', 'png', ({ bytes }) =>
    png('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(bytes)])),
  ),
  made('in a comment of a GIF', 'gif', gifComment),
  made('in a tag of an MP3', 'mp3', id3),
  made('behind a PDF', 'pdf', ({ bytes }) => Buffer.concat([PDF, bytes]), ['line', 'text', 'archive']),
  made(
    'between objects of a PDF',
    'pdf',
    ({ bytes }) => Buffer.concat([PDF.subarray(0, 56), bytes, Buffer.from('\n'), PDF.subarray(56)]),
    ['archive'],
  ),
  made('behind an RTF', 'rtf', ({ bytes }) => Buffer.concat([Buffer.from('{\\rtf1 hello}'), bytes]), ['line', 'text', 'archive']),
  made('behind a section of OneNote', 'one', ({ bytes }) => Buffer.concat([SECTION, bytes]), ['archive']),
  made('yEnc in two parts', 'yenc', yEncParts),
  made('listing of xxd', 'txt', hexdump),
  made(
    'shell script, here document',
    'sh',
    ({ bytes }) => Buffer.concat([Buffer.from("#!/bin/sh\ncat > file <<'END'\n"), bytes, Buffer.from('\nEND\n')]),
    LINES,
  ),
  made(
    'shell script, literal',
    'sh',
    ({ bytes }) => Buffer.concat([Buffer.from("#!/bin/sh\necho '"), bytes, Buffer.from("' > file\n")]),
    ['line'],
  ),
  made('batch file, base64 by echo', 'bat', ({ bytes }) =>
    Buffer.from(
      `@echo off\r\n${piecesOf(bytes.toString('base64'), 60)
        .map((row) => `echo ${row}>>a.b64\r\n`)
        .join('')}certutil -decode a.b64 a.exe\r\n`,
    ),
  ),
  script('format operator', 'ps1', formatted),
  script('-join', 'ps1', (text) => `iex ((${piecesOf(text, 6).map(quoted).join(',')}) -join '')\n`),
  script('numbers as characters', 'ps1', (text) => `iex (-join ([char[]]@(${[...Buffer.from(text, 'latin1')].join(',')})))\n`),
  script(
    'join of a list',
    'js',
    (text) =>
      `eval([${piecesOf(text, 6)
        .map((piece) => JSON.stringify(piece))
        .join(',')}].join(""));\n`,
  ),
  script('turned round', 'js', (text) => `eval(${JSON.stringify([...text].reverse().join(''))}.split("").reverse().join(""));\n`),
];
