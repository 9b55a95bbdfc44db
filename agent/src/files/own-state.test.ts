import { lstatSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isProgram, makeOwnFolder, openOwn, ownNames, ownSize, ownText, removeOwn, removeOwnFolder } from './own-state.ts';

test("the agent's own files are readable for root alone, and a missing one is undefined", async () => {
  const top = mkdtempSync(join(tmpdir(), 'palisade-own-'));
  const folder = join(top, 'a/b');
  await makeOwnFolder(folder);
  const file = await openOwn(join(folder, 'file'), 'wx');
  await file.writeFile('text');
  await file.close();
  expect([lstatSync(folder).mode & 0o777, lstatSync(join(folder, 'file')).mode & 0o777]).toEqual([0o700, 0o600]);
  await expect(openOwn(join(folder, 'file'), 'wx')).rejects.toThrow('EEXIST');
  expect([await ownNames(folder), await ownText(join(folder, 'file')), await ownSize(join(folder, 'file'))]).toEqual([
    ['file'],
    'text',
    4,
  ]);
  await removeOwn(join(folder, 'file'));
  await removeOwn(join(folder, 'file'));
  expect([await ownNames(folder), await ownText(join(folder, 'file')), await ownSize(join(folder, 'file'))]).toEqual([
    [],
    undefined,
    undefined,
  ]);
  await removeOwnFolder(join(top, 'a'));
  expect(await ownNames(folder)).toEqual([]);
});

test('a program is there or not', async () => {
  expect([await isProgram(process.execPath), await isProgram('/none')]).toEqual([true, false]);
});
