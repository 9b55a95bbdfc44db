import { describe, expect, test } from 'vitest';
import { docx, ole } from '#test/containers.ts';
import { type Examination, examined, examinedTexts } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { attribute, cmsOf, der, packedRtf, property, signedOf, tnefOf } from '#test/samples/mails.ts';
import { ONENOTE, oneNoteFile, packaged, rtf, rtfObject } from '#test/samples/office.ts';
import { hex, little } from '#test/samples/sample.ts';

// Documents whose file is found, as people's programs write them, are samples (test/samples): here are the locked and the damaged ones.

const FILE = { bytes: EICAR, name: 'eicar.com', kind: 'line' } as const;

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

test('a file is found in a native stream of a document, whose length is wrong', async () => {
  const stream = Buffer.concat([little(200), packaged(FILE)]);
  expect(await examined(docx('oleObject1.bin', ole([{ name: '\x01Ole10Native', content: stream }])))).toMatchObject({
    threat: 'EICAR-Test-File',
    unread: [],
  });
});

test('RTF that Outlook packs is found in a message', async () => {
  const value = packedRtf(rtf(rtfObject(FILE)));
  expect(await examined(ole([{ name: '__substg1.0_10090102', content: value }]))).toMatchObject({ threat: 'EICAR-Test-File' });
});

const SIGNED = signedOf(der(0x04, EICAR));
const CONTENT = attribute(2, 0x0006800f, EICAR);

test.each<[string, Buffer, Examination['unread'][number]]>([
  [
    'OneNote whose file is longer than it',
    Buffer.concat([hex(ONENOTE), noise(1000), oneNoteFile(EICAR, 5000), noise(100)]),
    'damaged',
  ],
  [
    'TNEF, a list of properties that ends too early',
    tnefOf(attribute(2, 0x00069003, Buffer.concat([little(9), property(0x1009, 0x0102, noise(40))]))),
    'damaged',
  ],
  ['TNEF that is cut short', tnefOf(CONTENT).subarray(0, -20), 'damaged'],
  ['CMS that is cut short', SIGNED.subarray(0, 14), 'damaged'],
  ...['2a864886f70d010703', '2a864886f70d010706', '2a864886f70d0109100117'].map((kind): [string, Buffer, 'encrypted'] => [
    `CMS, enveloped ${kind}`,
    cmsOf(kind, der(0x30, der(0x02, Buffer.from([0])))),
    'encrypted',
  ]),
])('is not clean: %s', async (_, file, detail) => {
  expect((await examined(file)).unread).toEqual([detail]);
});

const PART = `Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n${EICAR.toString('base64')}\n`;
const HEAD = 'From: a@example.com\nSubject: b\nMIME-Version: 1.0\n';
const WHOLE = `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHello.\n--b\n${PART}--b--\n`;

describe('a mail', () => {
  test('that is one piece of several cannot be read to its end', async () => {
    const text = `${HEAD}Content-Type: message/partial; number=1; total=3; id=a\n\n${WHOLE}`;
    expect(await examined(Buffer.from(text))).toMatchObject({ threat: 'EICAR-Test-File', unread: ['unsupported'] });
  });

  test('has its flowed lines read as one line, too', async () => {
    const text = `${HEAD}Content-Type: text/plain; format=flowed\n\nhttp://example.com/ \nis a \naddress.\n`;
    const { texts } = await examinedTexts(Buffer.from(text));
    expect(texts.join('\n').split('\n')).toContain('http://example.com/ is a address.');
  });

  test('has an attachment by the name that its pieces make', async () => {
    const text = WHOLE.replace('octet-stream', `octet-stream; name*0*=UTF-8''a%20; name*1="long "; name*2=name.exe`);
    expect((await examined(Buffer.from(text))).threat_member).toBe('a long name.exe');
  });
});
