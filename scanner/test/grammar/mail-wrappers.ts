import { uuencoded } from '#test/containers.ts';
import type { Packed, Wrapper } from './wrapper.ts';

// Mails as people's programs write and read them, well made and not.

const BOUNDARY = 'a-boundary';

interface Part {
  head: readonly string[];
  body: string;
}

/** A mail of a greeting and one more part, by hand: its oddities stay. */
function letter(
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
const attached = ({ name }: Packed, encoding: string) => [
  `Content-Type: application/octet-stream; name="${name}"`,
  `Content-Transfer-Encoding: ${encoding}`,
  `Content-Disposition: attachment; filename="${name}"`,
];

/** yEnc (yenc-draft 1.3), as one part. */
function yEnc({ bytes, name }: Packed): string {
  let body = '';
  let column = 0;
  for (const byte of bytes) {
    const coded = (byte + 42) & 0xff;
    const is_critical = [0, 10, 13, 61].includes(coded) || (coded === 46 && column === 0);
    body += is_critical ? `=${String.fromCharCode((coded + 64) & 0xff)}` : String.fromCharCode(coded);
    column += 1;
    if (column < 128) continue;
    body += '\r\n';
    column = 0;
  }
  return `=ybegin line=128 size=${bytes.length} name=${name}\r\n${body}\r\n=yend size=${bytes.length}`;
}

/** CRC-CCITT with a start of 0, as BinHex has it. */
function crcOf(bytes: Buffer): Buffer {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  const sum = Buffer.alloc(2);
  sum.writeUInt16BE(crc);
  return sum;
}

/** BinHex 4 (RFC 1741) of a data fork. */
function binHex({ bytes, name }: Packed): string {
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

/** TNEF (MS-OXTNEF) with one attachment. */
function tnef({ bytes, name }: Packed): Buffer {
  const attribute = (level: number, id: number, body: Buffer) => {
    const head = Buffer.alloc(9);
    head[0] = level;
    head.writeUInt32LE(id, 1);
    head.writeUInt32LE(body.length, 5);
    const sum = Buffer.alloc(2);
    sum.writeUInt16LE(body.reduce((total, byte) => (total + byte) & 0xffff, 0));
    return Buffer.concat([head, body, sum]);
  };
  const rendering = Buffer.alloc(14);
  rendering.writeUInt16LE(1);
  rendering.writeUInt32LE(0xffffffff, 2);
  return Buffer.concat([
    Buffer.from('789f3e220100', 'hex'),
    attribute(1, 0x00089006, Buffer.from('00000100', 'hex')),
    attribute(1, 0x00069007, Buffer.from('e404000000000000', 'hex')),
    attribute(2, 0x00069002, rendering),
    attribute(2, 0x00018010, Buffer.from(`${name}\0`, 'latin1')),
    attribute(2, 0x0006800f, bytes),
  ]);
}

function mail(name: string, wrap: (inner: Packed) => string, takes?: Wrapper['takes'], ending = 'eml'): Wrapper {
  const wrapper: Wrapper = { name, makes: 'file', ending, wrap: (inner) => Buffer.from(wrap(inner), 'latin1') };
  return takes === undefined ? wrapper : { ...wrapper, takes };
}

function python(name: string, options: Readonly<Record<string, string | boolean>>, takes?: Wrapper['takes']): Wrapper {
  const wrapper: Wrapper = {
    name,
    makes: 'file',
    ending: 'eml',
    wrap: (inner, { writers }) => writers.python('mail', inner.bytes, inner.name, options),
  };
  return takes === undefined ? wrapper : { ...wrapper, takes };
}

/** Signed, with the content inside (CMS signed-data), by OpenSSL. */
const smime: Wrapper = {
  name: 'mail, S/MIME with its content inside',
  makes: 'file',
  ending: 'eml',
  needs: ['openssl'],
  wrap: (inner, { writers }) =>
    writers.run(
      'sh',
      [
        '-c',
        'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -subj /CN=a -days 30 2>/dev/null && openssl cms -sign -nodetach -binary -in mail -signer cert.pem -inkey key.pem -outform SMIME -out out.eml -from a@example.com -to b@example.com -subject file',
      ],
      { mail: Buffer.from(letter({ head: attached(inner, 'base64'), body: base64(inner) }), 'latin1') },
      'out.eml',
    ),
};

const BASE64_AND_MORE: readonly [string, (inner: Packed) => string][] = [
  ['mail, lines end in CR', (inner) => letter({ head: attached(inner, 'base64'), body: base64(inner) }).replaceAll('\r\n', '\r')],
  ['mail, lines end in LF', (inner) => letter({ head: attached(inner, 'base64'), body: base64(inner) }).replaceAll('\r\n', '\n')],
  [
    'mail, two content types, the first has parts',
    (inner) =>
      letter(
        { head: attached(inner, 'base64'), body: base64(inner) },
        { type: `Content-Type: multipart/mixed; boundary="${BOUNDARY}"\r\nContent-Type: text/plain` },
      ),
  ],
  [
    'mail, two content types, the last has parts',
    (inner) =>
      letter(
        { head: attached(inner, 'base64'), body: base64(inner) },
        { type: `Content-Type: text/plain\r\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"` },
      ),
  ],
  [
    'mail, two encodings, the first is right',
    (inner) => letter({ head: [...attached(inner, 'base64'), 'Content-Transfer-Encoding: 7bit'], body: base64(inner) }),
  ],
  [
    'mail, two encodings, the last is right',
    (inner) => letter({ head: ['Content-Transfer-Encoding: 7bit', ...attached(inner, 'base64')], body: base64(inner) }),
  ],
  ['mail without MIME-Version', (inner) => letter({ head: attached(inner, 'base64'), body: base64(inner) }, { mime: false })],
  ['mail without its last boundary', (inner) => letter({ head: attached(inner, 'base64'), body: base64(inner) }, { end: false })],
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
    (inner) =>
      letter(
        { head: attached(inner, 'base64'), body: base64(inner) },
        { type: `Content-Type: multipart/mixed;\r\n\tcharset=utf-8;\r\n\tboundary=${BOUNDARY}` },
      ),
  ],
  [
    'mail, boundary in pieces',
    (inner) =>
      letter(
        { head: attached(inner, 'base64'), body: base64(inner) },
        { type: 'Content-Type: multipart/mixed; boundary*0="a-bou"; boundary*1="ndary"' },
      ),
  ],
  [
    'mail, the file as the body of it all',
    (inner) =>
      `From: anna@example.com\r\nMIME-Version: 1.0\r\n${attached(inner, 'base64').join('\r\n')}\r\n\r\n${base64(inner)}\r\n`,
  ],
  [
    'mail, very long header',
    (inner) => `X-Long: ${'word '.repeat(20_000)}\r\n${letter({ head: attached(inner, 'base64'), body: base64(inner) })}`,
  ],
  [
    'mail, forwarded as a part',
    (inner) =>
      letter({
        head: ['Content-Type: message/rfc822'],
        body: letter({ head: attached(inner, 'base64'), body: base64(inner) }).replaceAll(BOUNDARY, 'another'),
      }),
  ],
  [
    'emlx',
    (inner) => {
      const text = letter({ head: attached(inner, 'base64'), body: base64(inner) });
      return `${text.length}\n${text}<?xml version="1.0"?><plist version="1.0"><dict/></plist>\n`;
    },
  ],
  [
    'mailbox',
    (inner) =>
      `From anna@example.com Fri Nov 20 11:00:00 2026\nSubject: first\n\nHello.\n\nFrom anna@example.com Fri Nov 20 11:01:00 2026\n${letter({ head: attached(inner, 'base64'), body: base64(inner) }).replaceAll('\r\n', '\n')}\n`,
  ],
  ['mail, uuencode in its body', (inner) => uuencoded(inner.name, inner.bytes).toString('latin1')],
  ['mail, uuencode as a transfer encoding', (inner) => letter({ head: attached(inner, 'x-uuencode'), body: uuOnly(inner) })],
  ['uuencode alone', uuOnly],
  ['uuencode behind text', (inner) => `See the file:\n\n${uuOnly(inner)}`],
  ['base64 by uuencode -m', (inner) => `begin-base64 644 ${inner.name}\n${base64(inner).replaceAll('\r\n', '\n')}\n====\n`],
  ['yEnc', yEnc],
  ['news with yEnc', (inner) => `From: a@example.com\r\nNewsgroups: a.b\r\nSubject: file\r\n\r\n${yEnc(inner)}\r\n`],
  ['BinHex', binHex],
  [
    'mail with BinHex',
    (inner) => letter({ head: [`Content-Type: application/mac-binhex40; name="${inner.name}"`], body: binHex(inner) }),
  ],
  ['TNEF', (inner) => tnef(inner).toString('latin1')],
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
];

function uuOnly({ bytes, name }: Packed): string {
  const text = uuencoded(name, bytes).toString('latin1');
  return text.slice(text.indexOf('begin 644'));
}

export const MAILS: readonly Wrapper[] = [
  python('mail, base64', {}),
  python('mail, quoted-printable', { encoding: 'quoted-printable' }, ['line', 'text']),
  python('mail, 7bit', { encoding: '7bit', type: 'text/plain' }, ['line', 'text']),
  python('mail in a mail', { nested: true }),
  ...BASE64_AND_MORE.map(([name, wrap]) => mail(name, wrap, undefined, name.startsWith('mailbox') ? 'mbox' : 'eml')),
  smime,
];
