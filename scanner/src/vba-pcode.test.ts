import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ole } from '#test/containers.ts';
import { examine } from './examine.ts';
import { SCAN_LIMITS } from './limits.ts';

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
  const texts: string[] = [];
  const { unread, notes } = await examine(
    { size: file.length, bytes: file, name: 'vbaProject.bin' },
    {
      match(bytes) {
        texts.push(bytes.toString('latin1'));
        return [];
      },
      limits: SCAN_LIMITS,
      folder: join(tmpdir(), 'palisade-no-such-folder'),
    },
  );
  return { unread, notes: notes.map(({ sentence }) => sentence), texts };
}

const inFile = (module: Buffer) => ole([{ name: 'Module1', content: Buffer.concat([module], Math.max(5000, module.length)) }]);

describe('a macro', () => {
  test.each([0xb6, 0xb9])('whose source is what it was compiled from is read (%i)', async (push) => {
    const text = 'say "yes" to all of this';
    const { unread, notes } = await examined(inFile(moduleOf([SUB, pushed(text, push)], sourceOf(text))));
    expect({ unread, notes }).toEqual({ unread: [], notes: [] });
  });

  test('whose source was taken away is pending, and the texts that it runs are matched', async () => {
    for (const source of [undefined, HEADER]) {
      const { unread, notes, texts } = await examined(inFile(moduleOf([SUB, pushed(COMMAND)], source)));
      expect(unread).toEqual(['unsupported']);
      expect(notes).toEqual([expect.stringContaining('compiled form alone')]);
      expect(texts).toContain(`${COMMAND}\n`);
    }
  });

  test('whose source is another one is pending', async () => {
    const { unread, notes } = await examined(inFile(moduleOf([SUB, pushed(COMMAND)], sourceOf('a harmless text'))));
    expect(unread).toEqual(['unsupported']);
    expect(notes).toEqual([expect.stringContaining('not in its source')]);
  });

  test('that has no lines is nothing, whatever its source is', async () => {
    expect((await examined(inFile(moduleOf([], HEADER)))).unread).toEqual([]);
    expect((await examined(inFile(moduleOf([], undefined)))).unread).toEqual([]);
  });

  test('whose table lies outside of it is nothing', async () => {
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

const REAL = '/usr/share/doc/libexcel-writer-xlsx-perl/examples/vbaProject.bin.gz';
if (!existsSync(REAL))
  process.stdout.write('skipped: the package libexcel-writer-xlsx-perl, with a macro that Excel compiled, is not installed\n');

describe.runIf(existsSync(REAL))('a macro that Excel compiled', () => {
  const project = existsSync(REAL) ? gunzipSync(readFileSync(REAL)) : Buffer.alloc(0);

  test('is read', async () => {
    expect(await examined(project)).toMatchObject({ unread: [], notes: [] });
  });

  test('is pending once its source says something else', async () => {
    // The source has the text once, as literals and a copy of what stands before them.
    const from = project.lastIndexOf('Hello');
    const bent = Buffer.from(project);
    bent.write('Jolly', from, 'latin1');
    expect(from).toBeGreaterThan(0);
    expect((await examined(bent)).unread).toEqual(['unsupported']);
  });
});
