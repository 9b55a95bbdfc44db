import { expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { EICAR, zip } from '#test/files.ts';
import { xmlTexts } from './xml-texts.ts';

async function threatIn(bytes: Buffer): Promise<string | null> {
  const examination = await examined(bytes);
  expect(examination.unread).toEqual([]);
  return examination.threat;
}

const textsOf = (xml: string) => Array.from(xmlTexts(Buffer.from(xml, 'latin1')), (text) => text.toString('latin1'));

const SHELL = ['<', '?php @ev', 'al($_PO', "ST['pass']); ?> // a longer line"].join('');
const ESCAPED = SHELL.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#39;');
const TEST_FILE = EICAR.toString('latin1');

test('a text between tags has its entities resolved, and an attribute that has some', () => {
  expect(textsOf(`<?xml version="1.0"?><a>short<b> ${ESCAPED} </b></a>`)).toEqual([SHELL]);
  expect(textsOf(`<?xml version="1.0"?><a b="${ESCAPED}" c='${'d'.repeat(40)}&#xA;'/>`)).toEqual([SHELL, `${'d'.repeat(40)}\n`]);
});

test('a section of CDATA is a text in any document', () => {
  expect(textsOf(`<job>\n<script><![CDATA[${SHELL}]]></script></job>`)).toEqual([SHELL]);
  expect(textsOf(`<?xml version="1.0"?><!-- <b>${SHELL}</b> --><a><![CDATA[${SHELL}]]></a>`)).toEqual([SHELL]);
});

test('a page is a listing for its readers, and has no texts of its own', () => {
  expect(textsOf(`<?xml version="1.0"?><!DOCTYPE html><html><pre>${ESCAPED}</pre></html>`)).toEqual([]);
});

test.each([
  ['a document', `<?xml version="1.0"?><a><b>${TEST_FILE}</b></a>`],
  [
    'a document of Word',
    `<?xml version="1.0"?><w:document><w:body><w:p><w:r><w:t>\n${TEST_FILE}</w:t></w:r></w:p></w:body></w:document>`,
  ],
  [
    'a document of Word in pieces',
    `<?xml version="1.0"?><w:document><w:title>1</w:title><w:body>\n <w:p>${TEST_FILE.replaceAll(/.{9}/g, '<w:r>\n  <w:t>$&</w:t></w:r>')}</w:p></w:body></w:document>`.replaceAll(
      /\n {2}/g,
      '',
    ),
  ],
  [
    'a document of LibreOffice',
    `<office:meta>a</office:meta><office:body>\n  <office:text>\n    <text:p>${TEST_FILE}</text:p>\n  </office:text></office:body>`,
  ],
  [
    'a document of RTF',
    `{\\rtf1{\\fonttbl{\\f0 Arial;}}{\\*\\generator Word 1;}{\\info{\\title a}}\\f0 ${TEST_FILE.replaceAll(/[\\{}]/g, '\\$&')}\\par }`,
  ],
])('a test file that is all that %s says is found', async (_, text) => {
  expect(await threatIn(Buffer.from(text, 'latin1'))).toBe('EICAR-Test-File');
  expect(await threatIn(zip([{ name: 'content.xml', content: Buffer.from(text, 'latin1') }]))).toBe('EICAR-Test-File');
});
