import { deflateRawSync, deflateSync } from 'node:zlib';
import { pngWith } from './carriers.ts';
import { big, hex, LINES, latin, little, made, type Packed, type Sample, TEXTS } from './sample.ts';

// Data carried by pictures and sounds, behind documents, in messages of OpenPGP and in films.

function gifComment({ bytes }: Packed): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([hex('47494638396101000100800000000000ffffff21fe'), ...blocks, hex('002c00000000010001000002024401003b')]);
}

/** A file in a tag of ID3. */
function id3Of(name: string, bytes: Buffer, is_packed: boolean): Buffer {
  const body = Buffer.concat([latin(`\0application/x\0${name}\0a file\0`), bytes]);
  const stored = is_packed ? Buffer.concat([big(body.length), deflateSync(body)]) : body;
  const frame = Buffer.concat([latin('GEOB'), big(stored.length), Buffer.from([0, is_packed ? 0x80 : 0]), stored]);
  const size = [21, 14, 7, 0].map((shift) => (frame.length >> shift) & 127);
  return Buffer.concat([latin('ID3\x03\0\0'), Buffer.from(size), frame, hex('fffb9000'), Buffer.alloc(413)]);
}

/** A file attached to a film of Matroska, whose sizes take eight bytes. */
function film({ bytes }: Packed): Buffer {
  const part = (id: string, ...inner: Buffer[]) => {
    const body = Buffer.concat(inner);
    return Buffer.concat([hex(id), hex('01000000'), big(body.length), body]);
  };
  return Buffer.concat([part('1a45dfa3'), part('18538067', part('1941a469', part('61a7', part('465c', bytes))))]);
}

type Form = 'little' | 'big' | 'implicit';

/** An element of DICOM (PS3.5, 7.1). */
export function element(group: number, number: number, kind: string, value: Buffer, form: Form = 'little'): Buffer {
  const count = form === 'big' ? big : little;
  const padded = Buffer.concat([value], value.length + (value.length % 2));
  const tag = Buffer.concat([count(group, 2), count(number, 2)]);
  if (form === 'implicit') return Buffer.concat([tag, count(padded.length), padded]);
  const length = ['OB', 'UN', 'UT'].includes(kind) ? [Buffer.alloc(2), count(padded.length)] : [count(padded.length, 2)];
  return Buffer.concat([tag, latin(kind), ...length, padded]);
}

export const dicomOf = (syntax: string, ...elements: Buffer[]) =>
  Buffer.concat([Buffer.alloc(128), latin('DICM'), element(2, 0x10, 'UI', latin(syntax)), ...elements]);

/** A picture of medicine whose element OB is the file. */
const dicom = (syntax: string, form: Form) => (inner: Packed) =>
  dicomOf(syntax, element(8, 0x60, 'CS', latin('CT'), form), element(0x42, 0x11, 'OB', inner.bytes, form));

const EXPLICIT = '1.2.840.10008.1.2.1';
const fragments = ({ bytes }: Packed) => {
  const padded = Buffer.concat([bytes], bytes.length + (bytes.length % 2));
  const item = Buffer.concat([hex('feff00e0'), little(padded.length), padded]);
  return dicomOf('1.2.840.10008.1.2.4.50', hex('e07f10004f420000ffffffff'), item, hex('feffdde000000000'));
};
const sequence = ({ bytes }: Packed) =>
  dicomOf(
    EXPLICIT,
    hex('0800111153510000fffffffffeff00e0ffffffff'),
    element(0x42, 0x11, 'OB', bytes),
    hex('feff0de000000000feffdde000000000'),
  );

const PDF = Buffer.from(
  '%PDF-1.5\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n',
);
const SECTION = Buffer.concat([Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex')], 1024);

/** A literal packet of OpenPGP (RFC 9580, 5.9), its length in pieces where it is long. */
function literal({ bytes, name }: Packed): Buffer {
  const body = Buffer.concat([Buffer.from('b'), Buffer.from([name.length]), Buffer.from(name), Buffer.alloc(4), bytes]);
  return Buffer.concat([Buffer.from([0xcb, 0xff]), big(body.length), body]);
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

const BEHIND = { takes: ['line', 'text', 'archive'] } as const;
const comment = (zeros: string, bytes: Buffer) => Buffer.concat([latin(`Comment${zeros}`), bytes]);

export const PIECES: readonly Sample[] = [
  made('OpenPGP, a literal', 'gpg', literal),
  made('OpenPGP, packed', 'gpg', (inner) => Buffer.concat([hex('a301'), deflateRawSync(literal(inner))])),
  made('OpenPGP in armour', 'asc', (inner) => armour(literal(inner))),
  made('OpenPGP, packed, in armour', 'asc', (inner) => armour(Buffer.concat([hex('a302'), deflateSync(literal(inner))]))),
  made('OpenPGP, a signed text', 'asc', signed, { takes: LINES }),
  made('in a text of a PNG', 'png', ({ bytes }) => pngWith('tEXt', comment('\0', bytes))),
  made('in a packed text of a PNG', 'png', ({ bytes }) => pngWith('zTXt', comment('\0\0', deflateSync(bytes)))),
  made('in a comment of a GIF', 'gif', gifComment),
  made('in a tag of an MP3', 'mp3', ({ name, bytes }) => id3Of(name, bytes, false)),
  made('in a packed tag of an MP3', 'mp3', ({ name, bytes }) => id3Of(name, bytes, true), { takes: TEXTS }),
  made('attached to a film', 'mkv', film),
  made('in a picture of medicine', 'dcm', dicom(EXPLICIT, 'little')),
  made('in a picture of medicine, highest byte first', 'dcm', dicom('1.2.840.10008.1.2.2', 'big')),
  made('in a picture of medicine without kinds', 'dcm', dicom('1.2.840.10008.1.2', 'implicit')),
  made('in fragments of a picture of medicine', 'dcm', fragments),
  made('in a sequence of a picture of medicine', 'dcm', sequence),
  made('behind a PDF', 'pdf', ({ bytes }) => Buffer.concat([PDF, bytes]), BEHIND),
  made(
    'between objects of a PDF',
    'pdf',
    ({ bytes }) => Buffer.concat([PDF.subarray(0, 56), bytes, latin('\n'), PDF.subarray(56)]),
    { takes: ['archive'] },
  ),
  made('behind an RTF', 'rtf', ({ bytes }) => Buffer.concat([latin('{\\rtf1 hello}'), bytes]), BEHIND),
  made('behind a section of OneNote', 'one', ({ bytes }) => Buffer.concat([SECTION, bytes]), { takes: ['archive'] }),
];
