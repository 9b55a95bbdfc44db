// Inputs that are made to be slow, large or broken. Each is one answer of the product; none may crash it or take above ten seconds.
import { deflateSync } from 'node:zlib';
import { pngOf } from '@palisade/scam/test/pictures';

export interface HostileCase {
  name: string;
  text?: string;
  file?: { name: string; content: Uint8Array };
}

const LONGEST = 20_000;
const bytes = (text: string) => new TextEncoder().encode(text);

/** A PNG whose header claims a size. */
function claimed(width: number, height: number): Uint8Array {
  const picture = Buffer.from(pngOf(new Uint8Array(1), 1, 1));
  picture.writeUInt32BE(width, 16);
  picture.writeUInt32BE(height, 20);
  return picture;
}

/** Pieces that word lists, links, numbers and accounts begin with; repeated to the longest text. */
const PIECES = [
  ...[
    'a',
    ' ',
    '.',
    '-',
    '@',
    '/',
    ':',
    '1',
    '0',
    '+',
    '(',
    '[',
    '<',
    '\n',
    '\t',
    '\u0301',
    '\u200b',
    '\u202e',
    '\u{1f600}',
    'ﷺ',
    'İ',
    'ß',
    '\ud800',
  ],
  ...[
    'a.',
    'a-',
    'a@',
    '1.',
    '1 ',
    '1-',
    '(1)',
    'http://',
    'hxxp://',
    'http[:]//',
    'www.',
    'a[.]',
    'a (dot) ',
    'a dot ',
    'a . ',
    '.com',
    'a.com ',
    'a.com/',
    'xn--',
  ],
  ...[
    'http://a.com/?u=http://',
    'DE89',
    'DE89 ',
    'GB33BUKB',
    '13',
    'bc1q',
    '0x',
    'T1',
    'mailto:',
    'data:text/html,',
    'javascript:',
    'a@b.',
    '0906 ',
    'text to ',
    'call ',
  ],
  ...[
    'your account ',
    'verify ',
    'your parcel ',
    'mum ',
    'gift ',
    'click here ',
    'konto gesperrt ',
    'p a y ',
    'p.a.y.',
    'раypal ',
    'pay\u200bpal ',
    'From: a\nSubject: b\n',
  ],
];

const deepMail = (depth: number) =>
  `${Array.from(
    { length: depth },
    (_, at) => `From: a@example.com\r\nSubject: ${at}\r\nContent-Type: message/rfc822\r\n\r\n`,
  ).join('')}end`;
const deepParts = (depth: number) =>
  `From: a@example.com\r\nSubject: x\r\n${Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`).join('')}`;

function files(): HostileCase[] {
  const made: [string, string, Uint8Array][] = [
    ['picture of 30,000 x 30,000', 'a.png', claimed(30_000, 30_000)],
    ['picture of 4,294,967,295 x 1', 'a.png', claimed(0xffffffff, 1)],
    ['picture of 0 x 0', 'a.png', claimed(0, 0)],
    ['picture with a claim beyond its content', 'a.png', claimed(4_900, 4_900)],
    ['zip-bombed picture', 'a.png', bomb()],
    ['cut picture', 'a.png', pngOf(new Uint8Array(100), 10, 10).subarray(0, 40)],
    ['JPEG of markers alone', 'a.jpg', Uint8Array.from({ length: 1_000_000 }, (_, at) => (at % 2 === 0 ? 0xff : 0xd8))],
    ['JPEG without frame', 'a.jpg', Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, ...new Array<number>(100).fill(0xff)])],
    ['GIF header alone', 'a.gif', bytes('GIF89a\u0001\u0000\u0001\u0000')],
    ['nested emails', 'a.eml', bytes(deepMail(2_000))],
    ['nested parts', 'a.eml', bytes(deepParts(5_000))],
    ['email of one header line', 'a.eml', bytes(`From: ${'a'.repeat(3_000_000)}\nSubject: x\n\nx`)],
    ['email of many headers', 'a.eml', bytes(`From: a@b.de\n${'X: y\n'.repeat(200_000)}\nx`)],
    ['email of nested HTML', 'a.eml', bytes(`From: a@b.de\nSubject: x\nContent-Type: text/html\n\n${'<div>'.repeat(200_000)}`)],
    [
      'email of one endless tag',
      'a.eml',
      bytes(`From: a@b.de\nSubject: x\nContent-Type: text/html\n\n<a href="${'x'.repeat(2_000_000)}`),
    ],
    [
      'email of many links',
      'a.eml',
      bytes(`From: a@b.de\nSubject: x\nContent-Type: text/html\n\n${'<a href="http://a.com/b">c</a>'.repeat(50_000)}`),
    ],
    ['email with many addresses', 'a.eml', bytes(`From: ${'a@b.de, '.repeat(100_000)}\nSubject: x\n\nx`)],
    ['random bytes', 'a.bin', Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * 7_919) % 256)],
    ['contact card of folded lines', 'a.vcf', bytes(`BEGIN:VCARD\nNOTE:${'x\n '.repeat(300_000)}\nEND:VCARD`)],
    ['empty file', 'a.png', new Uint8Array()],
  ];
  return made.map(([name, file, content]) => ({ name, file: { name: file, content } }));
}

/** 4,900 x 4,900 pixels of one color, the most that is decoded, in a few kilobytes. */
function bomb(): Uint8Array {
  const small = Buffer.from(pngOf(new Uint8Array(1), 1, 1));
  const large = Buffer.from(pngOf(new Uint8Array(0), 4_900, 0));
  large.writeUInt32BE(4_900, 20);
  const rows = deflateSync(Buffer.alloc(4_900 * 4_901), { level: 9 });
  // Checksums are not right; readers differ in whether they look.
  const length = Buffer.alloc(4);
  length.writeUInt32BE(rows.length);
  return Buffer.concat([
    large.subarray(0, 33),
    length,
    Buffer.from('IDAT'),
    rows,
    Buffer.alloc(4),
    small.subarray(small.length - 12),
  ]);
}

/** 100 cases. */
export function hostileCases(): HostileCase[] {
  const repeated = PIECES.map((piece) => ({
    name: `repeated ${JSON.stringify(piece)}`,
    text: piece.repeat(Math.ceil(LONGEST / piece.length)).slice(0, LONGEST),
  }));
  const marks = ['\u0301', '\u0323', '\u0345', '\u20e3'];
  const single: HostileCase[] = [
    { name: '20,000 combining marks of two classes', text: `a${'\u0323\u0301'.repeat(LONGEST / 2)}` },
    { name: 'marks of four classes', text: `a${marks.join('').repeat(LONGEST / 4)}` },
    { name: 'letters with eight marks', text: `a${'\u0301'.repeat(8)}`.repeat(LONGEST / 9) },
    { name: 'one word of 20,000 letters', text: 'x'.repeat(LONGEST) },
    { name: 'a host of 120 labels', text: `http://${'a.'.repeat(120)}com/` },
    { name: 'a label of bait words', text: `http://${'login'.repeat(12)}x.com/` },
    { name: 'a label of digits', text: `http://${'1'.repeat(60)}x.com/` },
    { name: 'a label of hyphens', text: `http://a${'-a'.repeat(30)}.com/` },
    { name: 'a path of brands', text: `http://a.com/${'paypal/'.repeat(280)}` },
    {
      name: 'redirects within redirects',
      text: `http://a.com/?u=${encodeURIComponent(`http://b.com/?u=${encodeURIComponent(`http://c.com/?u=${encodeURIComponent('http://d.com/?u=http://e.com')}`)}`)}`,
    },
    { name: 'mail source in the text', text: `From: a@b.de\nSubject: x\n${'X-A: b\n'.repeat(2_000)}\n\nx` },
  ];
  return [...files(), ...single, ...repeated].slice(0, 100);
}
