import { docx, ole } from '#test/containers.ts';
import { noise, zip } from '#test/files.ts';
import { hex, latin, little, made, type Packed, piecesOf, type Sample } from './sample.ts';

// Documents of Office, RTF and OneNote with a file in them.

const ended = (text: string) => latin(`${text}\0`);

/** A file in the Packager's format (MS-OLEDS 2.3.6, and the packager's own fields). */
export function packaged({ bytes, name }: Packed): Buffer {
  const path = ended(`C:\\Users\\anna\\${name}`);
  const sizes = [hex('00000300'), little(path.length), path, little(bytes.length)];
  return Buffer.concat([hex('0200'), ended(name), path, ...sizes, bytes, Buffer.alloc(2)]);
}

/** Ole10Native: the package behind its length. */
const nativePackage = (inner: Packed) => Buffer.concat([little(packaged(inner).length), packaged(inner)]);
const nativeOle = (inner: Packed) => ole([filler(), { name: '\x01Ole10Native', content: nativePackage(inner) }], { mini: true });
const filler = () => ({ name: 'WordDocument', content: noise(5000) });

/** An object of OLE 1.0 as RTF embeds it (MS-OLEDS 2.2.5). */
export const rtfObject = (inner: Packed) =>
  Buffer.concat([hex('0105000002000000'), little(8), ended('Package'), Buffer.alloc(8), nativePackage(inner)]).toString('hex');

export const rtf = (data: string, head = '{\\rtf1\\ansi ') =>
  latin(`${head}Hello.\\par {\\object\\objemb{\\*\\objclass Package}{\\*\\objdata ${data}}{\\result x}}}`);

const RTF_DATA: readonly [string, (digits: string) => string][] = [
  ['as it is', (digits) => digits],
  ['in lines', (digits) => digits.replaceAll(/(.{7})/g, '$1\r\n\t')],
  ['with letters that are no digits', (digits) => digits.replaceAll(/(.{5})/g, '$1zQ-')],
  ['with control words', (digits) => digits.replaceAll(/(.{9})/g, '$1\\par\\cf12 ')],
  ['with unknown groups', (digits) => digits.replaceAll(/(.{20})/g, '$1{\\*\\xyz abc{\\b def}}')],
  ['in groups of its own', (digits) => `{${digits.slice(0, 21)}{${digits.slice(21)}}}`],
  ['with escaped characters that are passed over', (digits) => digits.replaceAll(/(.{30})/g, "$1\\'41")],
  ['with digits that are escaped', (digits) => digits.replaceAll('a', "\\'61")],
  [
    'with bytes in it',
    (digits) => {
      const half = 2 * Math.floor(digits.length / 4);
      const rest = hex(digits.slice(half));
      return `${digits.slice(0, half)}\\bin${rest.length} ${rest.toString('latin1')}`;
    },
  ],
];

const RTFS: readonly Sample[] = [
  ...RTF_DATA.map(([name, write]) => made(`rtf, an object ${name}`, 'rtf', (inner) => rtf(write(rtfObject(inner))))),
  made('rtf, a header that Word takes too', 'rtf', (inner) => rtf(rtfObject(inner), '{\\rtx ')),
  made('rtf that ends too early', 'rtf', (inner) => rtf(rtfObject(inner)).subarray(0, -14)),
  made('rtf, a container of OLE', 'rtf', (inner) => rtf(nativeOle(inner).toString('hex'))),
];

export const ONENOTE = 'e4525c7b8cd8a74daeb15378d02996d3';
/** A file in a section of OneNote (MS-ONESTORE 2.6.13), with the length that it claims. */
export const oneNoteFile = (bytes: Buffer, length = bytes.length) =>
  Buffer.concat([hex('e716e3bd65261145a4c48d4d0b7a9eac'), little(length), Buffer.alloc(16), bytes]);

/** A section of OneNote with one embedded file. */
const oneNote = ({ bytes }: Packed) =>
  Buffer.concat([
    Buffer.concat([hex(ONENOTE)], 1024),
    oneNoteFile(bytes),
    Buffer.alloc((8 - (bytes.length % 8)) % 8),
    hex('22a7fb71790f0b4abb13899256426b24'),
  ]);

const office = (members: readonly { name: string; content: Buffer }[]) =>
  zip([
    {
      name: '[Content_Types].xml',
      content: Buffer.from('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'),
    },
    ...members,
  ]);

const OFFICE: readonly Sample[] = [
  made('ole, a stream', 'doc', (inner) => ole([filler(), { name: 'CONTENTS', content: inner.bytes }])),
  made('ole, a small stream', 'doc', (inner) => ole([filler(), { name: 'CONTENTS', content: inner.bytes }], { mini: true })),
  made('ole, a package', 'doc', (inner) => nativeOle(inner)),
  made('Outlook message', 'msg', (inner) =>
    ole(
      [
        { name: '__properties_version1.0', content: Buffer.alloc(32) },
        { name: '__substg1.0_37010102', content: inner.bytes },
      ],
      { mini: true },
    ),
  ),
  made('docx, an embedded file', 'docx', (inner) => docx(inner.name, inner.bytes)),
  made('docx, an OLE package', 'docx', (inner) => docx('oleObject1.bin', nativeOle(inner))),
  made('docx, an altChunk', 'docx', (inner) =>
    office([
      { name: 'word/document.xml', content: Buffer.from('<w:document/>') },
      { name: 'word/afchunk.bin', content: inner.bytes },
    ]),
  ),
  made('xlsx, an embedded file', 'xlsx', (inner) =>
    office([
      { name: 'xl/workbook.xml', content: Buffer.from('<workbook/>') },
      { name: 'xl/embeddings/a.bin', content: inner.bytes },
    ]),
  ),
  made('odt, an object', 'odt', (inner) =>
    zip([
      { name: 'mimetype', content: Buffer.from('application/vnd.oasis.opendocument.text'), method: 0 },
      { name: 'content.xml', content: Buffer.from('<office:document-content/>') },
      { name: 'Object 1', content: inner.bytes },
    ]),
  ),
  made('flat OPC', 'xml', (inner) =>
    Buffer.from(
      `<?xml version="1.0"?><?mso-application progid="Word.Document"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"><pkg:part pkg:name="/word/embeddings/a.bin"><pkg:binaryData>${piecesOf(inner.bytes.toString('base64'), 76).join('\r\n')}</pkg:binaryData></pkg:part></pkg:package>`,
    ),
  ),
  made('OneNote', 'one', oneNote),
];

export const OFFICE_SAMPLES: readonly Sample[] = [...OFFICE, ...RTFS];
