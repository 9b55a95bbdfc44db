import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { scanEnglish } from '@palisade/contract/scan-phrases';
import { describe, expect, test } from 'vitest';
import { ole } from '#test/containers.ts';
import { examinedTexts } from '#test/examined.ts';

const COMMAND = 'powershell -w hidden -c calc.exe';

/** A compressed container of one chunk that has literals alone (MS-OVBA 2.4.1.1.4): a flag byte before each eight. */
function container(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 8) pieces.push(Buffer.from([0]), bytes.subarray(at, at + 8));
  const chunk = Buffer.concat(pieces);
  const header = Buffer.alloc(2);
  header.writeUInt16LE(0xb000 | (chunk.length - 1));
  return Buffer.concat([Buffer.from([1]), header, chunk]);
}

/** A module as Office keeps it: the compiled lines, and behind them the packed source. `push` is the number of "push this text". */
function moduleOf(lines: readonly Buffer[], source: string | undefined, table = 700): Buffer {
  const head = Buffer.alloc(table + 0x3c);
  head.writeUInt16LE(0x1601, 0);
  head.writeUInt32LE(table, 0x19);
  const magic = Buffer.from([0xfe, 0xca, 1, 0, lines.length, 0]);
  let at = 0;
  const rows = lines.map((line) => {
    const row = Buffer.alloc(12);
    row.writeUInt16LE(line.length, 4);
    row.writeUInt32LE(at, 8);
    at += line.length;
    return row;
  });
  return Buffer.concat([
    head,
    magic,
    ...rows,
    Buffer.alloc(10),
    ...lines,
    source === undefined ? Buffer.alloc(200, 0xff) : container(source),
  ]);
}

function pushed(text: string, push = 0xb9): Buffer {
  const line = Buffer.alloc(4 + text.length + (text.length % 2) + 2);
  line.writeUInt16LE(push, 0);
  line.writeUInt16LE(text.length, 2);
  line.write(text, 4, 'latin1');
  line.writeUInt16LE(0x1d, line.length - 2);
  return line;
}

const SUB = Buffer.from('960438000000', 'hex');
const HEADER = 'Attribute VB_Name = "Module1"\r\nAttribute VB_Base = "0{00020819-0000-0000-C000-000000000046}"\r\n';
const sourceOf = (text: string) => `${HEADER}Sub Auto_Open()\r\n  Shell "${text.replaceAll('"', '""')}"\r\nEnd Sub\r\n`;

async function examined(file: Buffer) {
  const { unread, notes, texts } = await examinedTexts(file, { name: 'vbaProject.bin', match: () => [] });
  return { unread, notes: notes.map(({ phrase }) => scanEnglish(phrase)), texts };
}

const inFile = (module: Buffer) => ole([{ name: 'Module1', content: Buffer.concat([module], Math.max(5000, module.length)) }]);

describe('a macro', () => {
  test.each([0xb6, 0xb9])('a module whose source matches its compiled form is read (%i)', async (push) => {
    const text = 'say "yes" to all of this';
    const { unread, notes } = await examined(inFile(moduleOf([SUB, pushed(text, push)], sourceOf(text))));
    expect({ unread, notes }).toEqual({ unread: [], notes: [] });
  });

  test('a module without its source is pending, and the texts that it runs are matched', async () => {
    for (const source of [undefined, HEADER]) {
      const { unread, notes, texts } = await examined(inFile(moduleOf([SUB, pushed(COMMAND)], source)));
      expect(unread).toEqual(['unsupported']);
      expect(notes).toEqual([expect.stringContaining('compiled form alone')]);
      expect(texts).toContain(`${COMMAND}\n`);
    }
  });

  test('a module with another source is pending', async () => {
    const { unread, notes } = await examined(inFile(moduleOf([SUB, pushed(COMMAND)], sourceOf('a harmless text'))));
    expect(unread).toEqual(['unsupported']);
    expect(notes).toEqual([expect.stringContaining('not in its source')]);
  });

  test('that has no lines raises nothing, with any source', async () => {
    expect((await examined(inFile(moduleOf([], HEADER)))).unread).toEqual([]);
    expect((await examined(inFile(moduleOf([], undefined)))).unread).toEqual([]);
  });

  test('a table outside of the module is ignored', async () => {
    const module = moduleOf([SUB, pushed(COMMAND)], HEADER);
    for (const table of [0xffff_ffff, 0x7fff_ffff, module.length, 0]) {
      const bent = Buffer.from(module);
      bent.writeUInt32LE(table, 0x19);
      expect((await examined(inFile(bent))).unread, `${table}`).toEqual([]);
    }
    // As many lines as a number can say, of which hardly one is there.
    const long = Buffer.from(module);
    long.writeUInt16LE(0xffff, 700 + 0x3c + 4);
    await examined(inFile(long));
  });
});

/** A module of Visual Basic 5: its table stands where counted structures before it say. `big`: as programs for old Macs wrote it. */
function oldModule(lines: readonly Buffer[], source: string | undefined, { big = false } = {}): Buffer {
  const u16 = (value: number) => Buffer.from(big ? [value >> 8, value & 0xff] : [value & 0xff, value >> 8]);
  const u32 = (value: number) =>
    big ? Buffer.concat([u16(value >>> 16), u16(value & 0xffff)]) : Buffer.concat([u16(value & 0xffff), u16(value >>> 16)]);
  const before = (table: number) =>
    Buffer.concat([
      Buffer.from('0116', 'hex'),
      u16(1),
      Buffer.alloc(7),
      u32(5),
      Buffer.alloc(5 + 64),
      u16(2),
      Buffer.alloc(32),
      u32(3),
      Buffer.alloc(3 + 6),
      u32(9),
      Buffer.alloc(9 + 77),
      u32(table),
    ]);
  const table = before(0).length + 20;
  let at = 0;
  const rows = lines.map((line) => {
    const row = Buffer.concat([Buffer.alloc(4), u16(line.length), u16(0), u32(at)]);
    at += line.length;
    return row;
  });
  const swapped = big
    ? lines.map((line) => Buffer.concat([u16(line.readUInt16LE(0)), u16(line.readUInt16LE(2)), line.subarray(4)]))
    : lines;
  return Buffer.concat([
    Buffer.concat([before(table)], table + 0x3c),
    u16(0xcafe),
    u16(1),
    u16(lines.length),
    ...rows,
    Buffer.alloc(10),
    ...swapped,
    source === undefined ? Buffer.alloc(200, 0xff) : container(source),
  ]);
}

describe('a macro that was compiled before Visual Basic 6', () => {
  /** `version`: the version in the project's stream. */
  const project = (module: Buffer, version = 0x5e) => {
    const head = Buffer.alloc(64);
    head.writeUInt16LE(0x61cc, 0);
    head.writeUInt16LE(version, 2);
    return ole([
      { name: '_VBA_PROJECT', content: head },
      { name: 'Module1', content: Buffer.concat([module], Math.max(5000, module.length)) },
    ]);
  };

  test.each([false, true])('is read where its source is there (numbers of a Mac: %s)', async (big) => {
    const module = oldModule([SUB, pushed(COMMAND, 0xae)], sourceOf(COMMAND), { big });
    expect(await examined(project(module))).toMatchObject({ unread: [], notes: [] });
    expect((await examined(project(oldModule([], HEADER, { big })))).unread).toEqual([]);
  });

  test.each([false, true])('is pending where its source was taken away or replaced (numbers of a Mac: %s)', async (big) => {
    for (const source of [undefined, HEADER, sourceOf('a harmless text')]) {
      const { unread, texts } = await examined(project(oldModule([SUB, pushed(COMMAND, 0xae)], source, { big })));
      expect(unread).toEqual(['unsupported']);
      expect(texts).toContain(`${COMMAND}\n`);
    }
  });

  test('is pending where nothing tells how it was compiled, and only there', async () => {
    const module = Buffer.alloc(3000);
    module.writeUInt16LE(0x1601, 0);
    const { unread, notes } = await examined(project(Buffer.concat([module, container(sourceOf('a harmless text'))])));
    expect({ unread, notes }).toEqual({ unread: ['unsupported'], notes: [expect.stringContaining('before version 6')] });
    // Later versions mark a missing cache with an unused version number.
    for (const version of [0x6b, 0xb2, 0xffff])
      expect((await examined(project(Buffer.concat([module, container(sourceOf('a text'))]), version))).unread).toEqual([]);
  });

  test('claims of structures that lead out of it end', async () => {
    const module = oldModule([SUB, pushed(COMMAND, 0xae)], HEADER);
    for (const at of [11, 15 + 5 + 64]) {
      const bent = Buffer.from(module);
      bent.writeUInt32LE(0xffff_ffff, at);
      expect((await examined(project(bent))).unread).toEqual(['unsupported']);
    }
  });
});

describe('a document of Word 6', () => {
  const macro = Buffer.concat([Buffer.from([1, 0, 0x64, 0x67, 0x6a, COMMAND.length]), Buffer.from(COMMAND), Buffer.from([0x64])]);
  function document(commands: (start: number) => Buffer, key = 0x5a): Buffer {
    const head = Buffer.alloc(0x300);
    head.writeUInt16LE(0xa5dc, 0);
    head.writeUInt16LE(101, 2);
    const body = Buffer.from(macro.map((byte) => byte ^ key));
    const table = commands(head.length);
    head.writeUInt32LE(head.length + body.length, 0x118);
    head.writeUInt32LE(table.length, 0x11c);
    const stream = Buffer.concat([head, body, table]);
    return ole([{ name: 'WordDocument', content: Buffer.concat([stream], Math.max(5000, stream.length)) }]);
  }
  const entry = (start: number, length: number, key: number) => {
    const one = Buffer.alloc(24);
    one[0] = 0x55;
    one[1] = key;
    one.writeUInt32LE(length, 12);
    one.writeUInt32LE(start, 20);
    return one;
  };
  const tableOf = (...entries: Buffer[]) =>
    Buffer.concat([Buffer.from([0xff, 0x01, entries.length & 255, entries.length >> 8]), ...entries, Buffer.from([0x40])]);

  test.each([0, 0x5a])('with macros is pending, and the texts in them are matched (turned by %i)', async (key) => {
    const { unread, notes, texts } = await examined(document((start) => tableOf(entry(start, macro.length, key)), key));
    expect(unread).toEqual(['unsupported']);
    expect(notes).toEqual([expect.stringContaining('WordBasic')]);
    expect(texts.some((text) => text.includes(COMMAND) && !text.startsWith('\xdc\xa5'))).toBe(true);
  });

  test('without macros is read, and one whose commands cannot be walked is pending', async () => {
    expect((await examined(document(() => Buffer.alloc(0)))).unread).toEqual([]);
    expect((await examined(document(() => Buffer.from([0xff, 0x40])))).unread).toEqual([]);
    expect((await examined(document(() => Buffer.from([0xff, 0x05, 1, 0, 0, 0])))).unread).toEqual(['unsupported']);
  });

  test('that names the same bytes as thousands of macros ends', async () => {
    const { unread } = await examined(document(() => tableOf(...Array.from({ length: 3000 }, () => entry(0, 5000, 1)))));
    expect(unread).toContain('damaged');
  });
});

const REAL = '/usr/share/doc/libexcel-writer-xlsx-perl/examples/vbaProject.bin.gz';
if (!existsSync(REAL))
  process.stdout.write('skipped: the package libexcel-writer-xlsx-perl, with a macro that Excel compiled, is not installed\n');

describe.runIf(existsSync(REAL))('a macro that Excel compiled', () => {
  const project = existsSync(REAL) ? gunzipSync(readFileSync(REAL)) : Buffer.alloc(0);

  test('is read', async () => {
    expect(await examined(project)).toMatchObject({ unread: [], notes: [] });
  });

  test('is pending once its source says something else', async () => {
    // The source has the text once, as literals and a copy of earlier text.
    const from = project.lastIndexOf('Hello');
    const bent = Buffer.from(project);
    bent.write('Jolly', from, 'latin1');
    expect(from).toBeGreaterThan(0);
    expect((await examined(bent)).unread).toEqual(['unsupported']);
  });
});
