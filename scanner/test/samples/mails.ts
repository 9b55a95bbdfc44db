import { deflateSync } from 'node:zlib';
import { uuencoded } from '#test/containers.ts';
import { noise } from '#test/files.ts';
import { rtf, rtfObject } from './office.ts';
import { big, hex, latin, little, made, type Packed, type Sample } from './sample.ts';

// Mails as people's programs write and read them, well made and not, and the encodings and containers that travel in them.

const BOUNDARY = 'a-boundary';

interface Part {
  head: readonly string[];
  body: string;
}

/** A mail of a greeting and one more part, by hand: its oddities stay. */
export function letter(
  part: Part,
  { type = `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`, end = true, mime = true } = {},
): string {
  return [
    'From: anna@example.com',
    'To: berta@example.com',
    'Subject: the file',
    'Date: Fri, 20 Nov 2026 11:00:00 +0000',
    ...(mime ? ['MIME-Version: 1.0'] : []),
    type,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain',
    '',
    'Hello.',
    `--${BOUNDARY}`,
    ...part.head,
    '',
    part.body,
    ...(end ? [`--${BOUNDARY}--`] : []),
    '',
  ].join('\r\n');
}

const lines = (text: string, width = 76) => text.replaceAll(new RegExp(`(.{${width}})`, 'g'), '$1\r\n');
const base64 = ({ bytes }: Packed) => lines(bytes.toString('base64'));
export const partOf = (inner: Packed): Part => ({ head: attached(inner, 'base64'), body: base64(inner) });
const attached = ({ name }: Packed, encoding: string) => [
  `Content-Type: application/octet-stream; name="${name}"`,
  `Content-Transfer-Encoding: ${encoding}`,
  `Content-Disposition: attachment; filename="${name}"`,
];

/** Bytes in yEnc (yenc-draft 1.3), 128 a line. */
function yEncLines(bytes: Buffer): string {
  let body = '';
  for (const [index, byte] of bytes.entries()) {
    const coded = (byte + 42) & 0xff;
    const column = index % 128;
    const is_critical = [0, 10, 13, 61].includes(coded) || (coded === 46 && column === 0);
    body += is_critical ? `=${String.fromCharCode((coded + 64) & 0xff)}` : String.fromCharCode(coded);
    if (column === 127) body += '\r\n';
  }
  return body;
}

const yEnc = ({ bytes, name }: Packed) =>
  `=ybegin line=128 size=${bytes.length} name=${name}\r\n${yEncLines(bytes)}\r\n=yend size=${bytes.length}\r\n`;

/** yEnc in two parts, in one file. */
function yEncParts({ bytes, name }: Packed): string {
  const half = Math.ceil(bytes.length / 2);
  const part = (number: number, from: number, to: number) =>
    [
      `=ybegin part=${number} total=2 line=128 size=${bytes.length} name=${name}`,
      `=ypart begin=${from + 1} end=${to}`,
      yEncLines(bytes.subarray(from, to)),
      `=yend size=${to - from} part=${number}\r\n`,
    ].join('\r\n');
  return part(1, 0, half) + part(2, half, bytes.length);
}

/** CRC-CCITT with a start of 0, as BinHex has it. */
function crcOf(bytes: Buffer): Buffer {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return big(crc, 2);
}

/** BinHex 4 (RFC 1741) of a data fork. */
export function binHex({ bytes, name }: Packed): string {
  const head = Buffer.alloc(name.length + 20);
  head[0] = name.length;
  head.write(name, 1, 'latin1');
  head.write('TEXTttxt', name.length + 2, 'latin1');
  head.writeUInt32BE(bytes.length, name.length + 12);
  const plain = Buffer.concat([head, crcOf(head), bytes, crcOf(bytes), crcOf(Buffer.alloc(0))]);
  const escaped = Buffer.from([...plain].flatMap((byte) => (byte === 0x90 ? [0x90, 0] : [byte])));
  const letters = '!"#$%&\'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr';
  const digits = escaped
    .toString('base64')
    .replaceAll('=', '')
    .replaceAll(
      /./g,
      (digit) => letters['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.indexOf(digit)] ?? '',
    );
  return `(This file must be converted with BinHex 4.0)\r\n\r\n${lines(`:${digits}:`, 64)}`;
}

const TNEF = hex('789f3e220100');

/** An attribute of TNEF (MS-OXTNEF 2.1.3), with its sum. */
export function attribute(level: number, id: number, body: Buffer): Buffer {
  const sum = body.reduce((total, byte) => (total + byte) & 0xffff, 0);
  return Buffer.concat([Buffer.from([level]), little(id), little(body.length), body, little(sum, 2)]);
}

/** A property of MAPI with one value of bytes (MS-OXCDATA). */
export const property = (id: number, type: number, value: Buffer) =>
  Buffer.concat([
    little(type, 2),
    little(id, 2),
    little(1),
    little(value.length),
    value,
    Buffer.alloc((4 - (value.length % 4)) % 4),
  ]);

export const tnefOf = (...attributes: readonly Buffer[]) => Buffer.concat([TNEF, ...attributes]);

const SHOWN = attribute(2, 0x00069002, Buffer.concat([hex('0100ffffffff'), Buffer.alloc(8)]));
const named = ({ name }: Packed) => attribute(2, 0x00018010, latin(`${name}\0`));
const content = ({ bytes }: Packed) => attribute(2, 0x0006800f, bytes);
const propertyOf = (level: number, list: number, one: Buffer) => attribute(level, list, Buffer.concat([little(1), one]));
const START = [attribute(1, 0x00089006, hex('00000100')), attribute(1, 0x00069007, hex('e404000000000000'))];
const tnef = (inner: Packed) => tnefOf(...START, SHOWN, named(inner), content(inner));

/** RTF as Outlook packs it (MS-OXRTFCP 4.1.1), in literals. */
export function packedRtf(text: Buffer): Buffer {
  const rows: Buffer[] = [];
  for (let at = 0; at < text.length; at += 8) rows.push(Buffer.from([0]), text.subarray(at, at + 8));
  const packed = Buffer.concat(rows);
  return Buffer.concat([little(packed.length + 12), little(text.length), latin('LZFu'), little(0), packed]);
}

/** A value of DER. */
export function der(tag: number, ...values: readonly Buffer[]): Buffer {
  const body = Buffer.concat(values);
  const length = body.length < 128 ? Buffer.from([body.length]) : Buffer.concat([hex('84'), big(body.length)]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}

const identifier = (digits: string) => der(0x06, hex(digits));
const PKCS7 = '2a864886f70d0107';
/** A message of CMS (RFC 5652). */
export const cmsOf = (kind: string, body: Buffer) => der(0x30, identifier(kind), der(0xa0, body));
const NUMBER = (value: number) => der(0x02, Buffer.from([value]));
const dataOf = (...values: readonly Buffer[]) => der(0x30, identifier(`${PKCS7}01`), der(0xa0, ...values));
export const signedOf = (...values: readonly Buffer[]) =>
  cmsOf(`${PKCS7}02`, der(0x30, NUMBER(1), der(0x31), dataOf(...values), der(0x31)));

const openLengths = ({ bytes }: Packed) =>
  Buffer.concat([
    hex('3080'),
    identifier(`${PKCS7}02`),
    hex('a0803080'),
    NUMBER(1),
    der(0x31),
    hex('3080'),
    identifier(`${PKCS7}01`),
    hex('a0802480'),
    der(0x04, bytes),
    Buffer.alloc(14),
  ]);

const CONTAINERS: readonly Sample[] = [
  made('TNEF', 'dat', tnef),
  made('TNEF, a file before its name', 'dat', (inner) => tnefOf(SHOWN, content(inner), named(inner), SHOWN)),
  made('TNEF, a file in a property', 'dat', ({ bytes }) => tnefOf(propertyOf(2, 0x00069005, property(0x3701, 0x0102, bytes)))),
  made('TNEF, a file in an object of a property', 'dat', ({ bytes }) =>
    tnefOf(propertyOf(2, 0x00069005, property(0x3701, 0x000d, Buffer.concat([noise(16), bytes])))),
  ),
  made('TNEF, RTF that Outlook packs', 'dat', (inner) =>
    tnefOf(propertyOf(1, 0x00069003, property(0x1009, 0x0102, packedRtf(rtf(rtfObject(inner)))))),
  ),
  made('CMS, data', 'p7m', ({ bytes }) => cmsOf(`${PKCS7}01`, der(0x04, bytes))),
  made('CMS, digested', 'p7m', ({ bytes }) =>
    cmsOf(`${PKCS7}05`, der(0x30, NUMBER(0), der(0x30, hex('06052b0e03021a')), dataOf(der(0x04, bytes)))),
  ),
  made('CMS, signed', 'p7m', ({ bytes }) => signedOf(der(0x04, bytes))),
  made('CMS, signed, the content in pieces', 'p7m', ({ bytes }) =>
    signedOf(der(0x24, der(0x04, bytes.subarray(0, 10)), der(0x04, bytes.subarray(10)))),
  ),
  made('CMS, signed, with open lengths', 'p7m', openLengths),
  made('CMS, packed', 'p7z', ({ bytes }) =>
    cmsOf('2a864886f70d0109100109', der(0x30, NUMBER(0), der(0x30), dataOf(der(0x04, deflateSync(bytes))))),
  ),
  made(
    'CMS in armour',
    'pem',
    ({ bytes }) => `-----BEGIN PKCS7-----\n${lines(signedOf(der(0x04, bytes)).toString('base64'), 64)}\n-----END PKCS7-----\n`,
  ),
  made('mail of CMS', 'eml', ({ bytes }) =>
    [
      'From: a\nSubject: b\nContent-Type: application/pkcs7-mime; smime-type=signed-data\nContent-Transfer-Encoding: base64\n',
      `${signedOf(der(0x04, bytes)).toString('base64')}\n`,
    ].join('\n'),
  ),
];

const MAILS: readonly [string, (inner: Packed) => string][] = [
  ['mail, lines end in CR', (inner) => letter(partOf(inner)).replaceAll('\r\n', '\r')],
  ['mail, lines end in LF', (inner) => letter(partOf(inner)).replaceAll('\r\n', '\n')],
  [
    'mail, two content types, the first has parts',
    (inner) =>
      letter(partOf(inner), { type: `Content-Type: multipart/mixed; boundary="${BOUNDARY}"\r\nContent-Type: text/plain` }),
  ],
  [
    'mail, two content types, the last has parts',
    (inner) =>
      letter(partOf(inner), { type: `Content-Type: text/plain\r\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"` }),
  ],
  [
    'mail, two encodings, the first is right',
    (inner) => letter({ head: [...attached(inner, 'base64'), 'Content-Transfer-Encoding: 7bit'], body: base64(inner) }),
  ],
  [
    'mail, two encodings, the last is right',
    (inner) => letter({ head: ['Content-Transfer-Encoding: 7bit', ...attached(inner, 'base64')], body: base64(inner) }),
  ],
  ['mail without MIME-Version', (inner) => letter(partOf(inner), { mime: false })],
  ['mail without its last boundary', (inner) => letter(partOf(inner), { end: false })],
  ['mail, base64 in one line', (inner) => letter({ head: attached(inner, 'base64'), body: inner.bytes.toString('base64') })],
  [
    'mail, base64 without padding',
    (inner) => letter({ head: attached(inner, 'base64'), body: base64(inner).replaceAll('=', '') }),
  ],
  [
    'mail, base64 with strange characters in it',
    (inner) => letter({ head: attached(inner, 'base64'), body: base64(inner).replaceAll(/(.{7})/g, '$1!') }),
  ],
  ['mail, encoding in capitals', (inner) => letter({ head: attached(inner, 'BASE64 '), body: base64(inner) })],
  ['mail, encoding with a comment', (inner) => letter({ head: attached(inner, 'base64 (of course)'), body: base64(inner) })],
  [
    'mail, boundary without quotes, folded',
    (inner) => letter(partOf(inner), { type: `Content-Type: multipart/mixed;\r\n\tcharset=utf-8;\r\n\tboundary=${BOUNDARY}` }),
  ],
  [
    'mail, boundary in pieces',
    (inner) => letter(partOf(inner), { type: 'Content-Type: multipart/mixed; boundary*0="a-bou"; boundary*1="ndary"' }),
  ],
  [
    'mail, the file as the body of it all',
    (inner) =>
      `From: anna@example.com\r\nMIME-Version: 1.0\r\n${attached(inner, 'base64').join('\r\n')}\r\n\r\n${base64(inner)}\r\n`,
  ],
  ['mail, very long header', (inner) => `X-Long: ${'word '.repeat(20_000)}\r\n${letter(partOf(inner))}`],
  [
    'mail, forwarded as a part',
    (inner) =>
      letter({
        head: ['Content-Type: message/rfc822'],
        body: letter(partOf(inner)).replaceAll(BOUNDARY, 'another'),
      }),
  ],
  [
    'emlx',
    (inner) => {
      const text = letter(partOf(inner));
      return `${text.length}\n${text}<?xml version="1.0"?><plist version="1.0"><dict/></plist>\n`;
    },
  ],
  [
    'mailbox',
    (inner) =>
      `From anna@example.com Fri Nov 20 11:00:00 2026\nSubject: first\n\nHello.\n\nFrom anna@example.com Fri Nov 20 11:01:00 2026\n${letter(partOf(inner)).replaceAll('\r\n', '\n')}\n`,
  ],
  ['mail, uuencode in its body', (inner) => uuencoded(inner.name, inner.bytes).toString('latin1')],
  ['mail, uuencode as a transfer encoding', (inner) => letter({ head: attached(inner, 'x-uuencode'), body: uuOnly(inner) })],
  ['uuencode alone', uuOnly],
  ['uuencode behind text', (inner) => `See the file:\n\n${uuOnly(inner)}`],
  ['base64 by uuencode -m', (inner) => `begin-base64 644 ${inner.name}\n${base64(inner).replaceAll('\r\n', '\n')}\n====\n`],
  ['yEnc', yEnc],
  ['yEnc in two parts', yEncParts],
  ['news with yEnc', (inner) => `From: a@example.com\r\nNewsgroups: a.b\r\nSubject: file\r\n\r\n${yEnc(inner)}\r\n`],
  ['BinHex', binHex],
  [
    'mail with BinHex',
    (inner) => letter({ head: [`Content-Type: application/mac-binhex40; name="${inner.name}"`], body: binHex(inner) }),
  ],
  [
    'mail with TNEF',
    (inner) =>
      letter({ head: attached({ ...inner, name: 'winmail.dat' }, 'base64'), body: lines(tnef(inner).toString('base64')) }),
  ],
  [
    'page with its parts (MHTML)',
    (inner) =>
      letter(
        {
          head: [
            'Content-Type: application/octet-stream',
            'Content-Transfer-Encoding: base64',
            'Content-Location: file:///C:/a.bin',
          ],
          body: base64(inner),
        },
        { type: `Content-Type: multipart/related; type="text/html"; boundary="${BOUNDARY}"` },
      ),
  ],
  ['mail in UTF-16', (inner) => Buffer.from(`\ufeff${letter(partOf(inner))}`, 'utf16le').toString('latin1')],
  ['mail behind a line of a mailbox', (inner) => `>From a@example.com Fri Nov 20 11:00:00 2026\n${letter(partOf(inner))}`],
  [
    'mail with a line of a mailbox in its header',
    (inner) => letter(partOf(inner)).replace('Subject', '>From b@example.com Fri Nov 20 11:00:00 2026\r\nSubject'),
  ],
  ['mail behind very many headers', (inner) => `${'X-A: b\r\n'.repeat(60_000)}${letter(partOf(inner))}`],
  [
    'mail of two types with parts, the last is right',
    (inner) =>
      letter(partOf(inner), {
        type: `Content-Type: multipart/mixed; boundary=a\r\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"`,
      }),
  ],
  [
    'mail in one of several pieces, which is all of it',
    (inner) =>
      `From: a@b.example\nSubject: b\nContent-Type: message/partial; number=1; total=1; id=a\n\n${letter(partOf(inner))}`,
  ],
  ['mail without a boundary in its header', (inner) => letter(partOf(inner), { type: 'Content-Type: multipart/mixed' })],
  [
    'mail, parts within parts',
    (inner) =>
      letter({
        head: ['Content-Type: multipart/mixed; boundary=inner'],
        body: `--inner\r\n\r\nHello.\r\n--inner\r\n${attached(inner, 'base64').join('\r\n')}\r\n\r\n${base64(inner)}\r\n--inner--`,
      }),
  ],
  [
    'mail, quoted-printable in capitals',
    ({ name, bytes }) =>
      letter({
        head: attached({ name, bytes, kind: 'file' }, 'quoted-printable'),
        body: lines([...bytes].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''), 72).replaceAll(
          '\r\n',
          '=\r\n',
        ),
      }),
  ],
];

function uuOnly({ bytes, name }: Packed): string {
  const text = uuencoded(name, bytes).toString('latin1');
  return text.slice(text.indexOf('begin 644'));
}

export const MAIL_SAMPLES: readonly Sample[] = [
  ...MAILS.map(([name, write]) => made(name, name.startsWith('mailbox') ? 'mbox' : 'eml', write)),
  ...CONTAINERS,
];
