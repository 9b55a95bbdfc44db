import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BadHashList, buildHashList, openHashList } from './hash-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-hashes-'));
let last = 0;

async function listOf(text: string, strict = false) {
  last += 1;
  const source = join(folder, `${last}.txt`);
  writeFileSync(source, text);
  await buildHashList(source, join(folder, `${last}.bin`), { strict, except: new Set() });
  return openHashList(join(folder, `${last}.bin`));
}

const sum = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a hash list', () => {
  test('finds exactly its entries, under the first name of each', async () => {
    // Few leading bytes, so that many sums begin alike.
    const hash = fc
      .tuple(fc.constantFrom('0000', '0001', 'ffff', 'a0b1'), fc.nat(40))
      .map(([head, tail]) => head + sum(String(tail)).slice(4));
    const name = fc.option(fc.stringMatching(/^[A-Za-z][\w.:-]{0,20}$/), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(hash, name), { minLength: 1, maxLength: 600 }), hash, async (entries, other) => {
        const list = await listOf(entries.map(([hex, called]) => (called === null ? hex : `${hex}  ${called}`)).join('\n'));
        const expected = new Map(entries.toReversed());
        for (const [hex, called] of expected) expect(list.find(hex)).toEqual({ name: called });
        expect(list.find(other) !== undefined).toBe(expected.has(other));
        expect(list.count).toBe(expected.size);
        list.close();
      }),
      { numRuns: 25 },
    );
  });

  test('reads the forms that lists have', async () => {
    const [a = '', b = '', c = '', d = '', e = ''] = ['a', 'b', 'c', 'd', 'e'].map(sum);
    const list = await listOf(
      `\ufeff# made today\r\n; and\r\n// more\r\n\r\n${a}\r\n${b.toUpperCase()} *file.exe\n${c},Emotet\n  ${d}\t# a comment\n${e};Name\u202e with ${'x'.repeat(200)}`,
    );
    expect([a, b, c, d].map((hex) => list.find(hex)?.name)).toEqual([null, 'file.exe', 'Emotet', null]);
    expect(list.find(e)?.name).toMatch(/^Name with x{90}$/);
    list.close();
  });

  test('finds the columns of CSV by their names, in a comment or not', async () => {
    const [a = '', b = '', c = ''] = ['a', 'b', 'c'].map(sum);
    const list = await listOf(
      `# "first_seen","sha256_hash","file_name","signature"\n"2026-11-20","${a}","x, ""y"".exe","Emotet"\n"2026-11-20","${b}","z.exe","n/a"\nno sum here\n"${c}"\n`,
    );
    expect([a, b, c].map((hex) => list.find(hex))).toEqual([{ name: 'Emotet' }, { name: null }, { name: null }]);
    expect(list.count).toBe(3);
    list.close();
    const plain = await listOf(`md5,sha256,threat\n0,${a},Worm\n1;${b};other\n`);
    expect([plain.find(a)?.name, plain.find(b)?.name]).toEqual(['Worm', 'other']);
    plain.close();
  });

  test.each([
    ['', 'The list holds no SHA-256.'],
    [`${sum('a')}\n${sum('b').slice(1)}\n`, 'Line 2 of the list has no SHA-256 in hex.'],
    [`${sum('a')}0`, 'Line 1 of the list has no SHA-256 in hex.'],
  ])('refuses %j where it is to be taken whole', async (text, sentence) => {
    await expect(listOf(text, true)).rejects.toThrow(new BadHashList(sentence));
  });

  test('is not opened when it is another file, or cut short', async () => {
    const path = join(folder, 'other.bin');
    writeFileSync(path, 'not a list');
    expect(() => openHashList(path)).toThrow();
    writeFileSync(path, Buffer.alloc(300_000));
    expect(() => openHashList(path)).toThrow('The file is not a hash list.');
  });
});
