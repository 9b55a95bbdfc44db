import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { upToPadding } from '#scanner/text/text-codings.ts';
import { literalTexts } from '#scanner/text/text-literals.ts';
import { ole } from '#test/containers.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise } from '#test/files.ts';
import { CLOSED_FILES, ORDINARY_FILES } from '#test/ordinary-files.ts';

// Ordinary programs' output around a text or a file: spellings, documents, mails, and formats that cannot be opened here.

const latin = (text: string) => Buffer.from(text, 'latin1');

describe("programs' output", () => {
  test.each([...ORDINARY_FILES])('is read: %s', async (_, bytes) => {
    const { threat, unread } = await examined(bytes);
    expect([typeof threat, unread]).toEqual(['string', []]);
  });

  test.each([...CLOSED_FILES])('is pending: $name', async ({ detail, bytes }) => {
    expect((await examined(bytes)).unread).toContain(detail);
    // The name alone says that it may be an image of a disk.
    expect((await examined(bytes, { name: 'file.img' })).unread).toContain(detail);
  });
});

describe('texts between quotation marks', () => {
  const textsOf = (text: string) => [...literalTexts(latin(text))].map(String);
  const long = 'words that are many enough to be told';

  test('are taken with what their escapes mean', () => {
    expect(textsOf(`{"a": "${long}\\n\\tA\\u0042\\"\\\\"}`)).toEqual([`${long}\n\tAB"\\`]);
  });

  test('are one text where nothing or a comma stands between them', () => {
    expect(textsOf(`x = "${long}\\n"\n  "${long}";`)).toEqual([`${long}\n${long}`]);
    expect(textsOf(`["${long}", "b", "c"]`)).toEqual([`${long}\nb\nc\n`]);
    expect(textsOf(`{"${long}": "${long}"}`)).toEqual([long, long]);
  });

  test('are none where a sentence quotes words', () => {
    expect(textsOf(`They call it "${long}", "a", "b" and "c".`)).toEqual([]);
  });

  test('continue in the next line if marked so, and end with their line otherwise', () => {
    expect(textsOf(`["${long}\\\n  ${long}"]`)).toEqual([long + long]);
    expect(textsOf(`["${long}\n${long}"]`)).toEqual([]);
  });
});

describe('a missing part', () => {
  test('a document of Hangul whose text does not unpack is damaged, one with a picture as it is is not', async () => {
    const header = Buffer.alloc(256);
    header.write('HWP Document File');
    header[36] = 1;
    const text = deflateRawSync(latin('words '.repeat(50)));
    const whole = { FileHeader: header, Section0: text, 'BIN0001.png': noise(300) };
    const streams = (one: Record<string, Buffer>) => Object.entries(one).map(([name, content]) => ({ name, content }));
    expect((await examined(ole(streams(whole)))).unread).toEqual([]);
    expect((await examined(ole(streams({ ...whole, Section0: noise(300) })))).unread).toContain('damaged');
  });

  test('blocks of Pages that claim more than they have are none, and no memory is set aside for them', async () => {
    const claims = Buffer.from('00060000ffffff7f00000000', 'hex');
    const before = process.memoryUsage().rss;
    expect((await examined(Buffer.concat([claims, noise(500)]))).unread).toEqual([]);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 ** 2);
  });

  test('a font that a book made unreadable is no secret', async () => {
    const { unread } = await examined(
      latin(
        '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></EncryptedData></encryption>',
      ),
      { name: 'encryption.xml' },
    );
    expect(unread).toEqual([]);
  });

  test('noise is no file that nothing opens', async () => {
    for (let count = 0; count < 300; count += 1) expect((await examined(noise(700))).unread).toEqual([]);
  });
});

test('base64 ends at its padding where more letters follow', () => {
  const packed = latin(EICAR.toString('base64'));
  expect(upToPadding(Buffer.concat([packed, latin('\n-- \nA list of letters\n')]))).toEqual(EICAR);
  expect(upToPadding(Buffer.concat([packed, latin('\n--\n')]))).toBeUndefined();
});
