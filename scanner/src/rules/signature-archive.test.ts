import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { packSignatures, unpackSignatures } from './signature-archive.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-archive-'));
  for (const name of ['rules', 'samples', 'out']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'rules/b.yar'), 'rule b { condition: true }');
  writeFileSync(join(root, 'rules/a.yar'), 'rule a { condition: true }');
  writeFileSync(join(root, 'rules/notes.txt'), 'no rule');
  writeFileSync(join(root, 'samples/a.json'), '[]');
  writeFileSync(join(root, 'list'), Buffer.alloc(3 * 1024 ** 2, 7));
});

const sumOf = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const feed = () => ({
  ...{ id: '00ff', kind: 'sha256' as const, severity: 'note' as const, path: join(root, 'list') },
  digest: sumOf(readFileSync(join(root, 'list'))),
});
const pack = (name = 'set') =>
  packSignatures({ rules_folder: join(root, 'rules'), feeds: [feed()] }, join(root, 'samples'), join(root, name));

it('brings every file as it was, and the same content is the same file', async () => {
  const made = await pack();
  expect(await pack('again')).toEqual(made);
  const bytes = readFileSync(join(root, 'set'));
  expect(made).toEqual({ sha256: sumOf(bytes), bytes: bytes.length });
  const out = await unpackSignatures(join(root, 'set'), join(root, 'out'));
  expect(readdirSync(out.rules_folder).sort()).toEqual(['a.yar', 'b.yar']);
  expect(readdirSync(out.samples_folder)).toEqual(['a.json']);
  expect(out.feeds).toEqual([{ ...feed(), path: join(root, 'out/feeds/00ff') }]);
  expect(readFileSync(join(root, 'out/feeds/00ff')).equals(readFileSync(join(root, 'list')))).toBe(true);
});

const ONE = { name: 'rules/a.yar', bytes: 1, sha256: sumOf('x') };
const head = (...files: object[]) => `${JSON.stringify({ palisade_signatures: 1, files })}\n`;
it.each([
  ['nothing', '', 'does not say what is in it'],
  ['no line', 'x'.repeat(2_000), 'does not say what is in it'],
  // proves: device-hostile-server-4
  ['a way out of the folder', `${head({ ...ONE, name: 'rules/../../x.yar' })}x`, 'does not say what is in it'],
  ['an absolute path', `${head({ ...ONE, name: '/etc/passwd' })}x`, 'does not say what is in it'],
  ['a longer file than there is', `${head({ ...ONE, bytes: 500_000_000 })}x`, 'not as long'],
  ['more than it says', `${head(ONE)}xy`, 'not as long'],
  ['another content', `${head(ONE)}y`, 'not what it should be'],
  ['a file twice', `${head(ONE, ONE)}xx`, 'names a file twice'],
  ['a feed that is nothing', `${head({ ...ONE, name: 'feeds/a' })}x`, 'does not say what it is'],
])('refuses %s', async (_, text, reason) => {
  writeFileSync(join(root, 'bad'), text);
  await expect(unpackSignatures(join(root, 'bad'), join(root, 'out'))).rejects.toThrow(reason);
  expect(readdirSync(root).sort()).toEqual(['bad', 'list', 'out', 'rules', 'samples']);
});
