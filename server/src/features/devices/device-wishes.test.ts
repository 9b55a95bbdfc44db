import { saveDeviceWish } from '@palisade/contract/devices';
import { expect, test } from 'vitest';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { countWishes, deleteWish, saveWish, wishesOf } from './device-wishes.ts';

test('wishes for an agent are kept once for each system, with the newest note, and withdrawn', async () => {
  const database = await featureDatabase();
  const [maria, max] = [await addPerson(database), await addPerson(database)];
  const wish = (user_id: string, system: 'windows' | 'macos', note = '') =>
    saveWish(database, { user_id, system, note }, Date.parse('2026-11-20T10:00:00.000Z'));
  await wish(maria, 'windows', 'Scan my downloads');
  await wish(maria, 'windows', 'Apply my rules');
  await wish(maria, 'macos');
  const notes = (await wishesOf(database, maria)).map(({ system, note }) => [system, note]);
  expect(new Map(notes.map(([system, note]) => [system, note]))).toEqual(
    new Map([
      ['windows', 'Apply my rules'],
      ['macos', ''],
    ]),
  );
  expect(await wishesOf(database, max)).toEqual([]);
  await wish(max, 'windows');
  expect(await countWishes(database)).toEqual([
    { system: 'windows', people: 2, notes: ['Apply my rules'] },
    { system: 'macos', people: 1, notes: [] },
  ]);
  await deleteWish(database, maria, 'macos');
  expect((await wishesOf(database, maria)).map(({ system }) => system)).toEqual(['windows']);
});

test('a note is trimmed and has an end', () => {
  const noteOf = (note: string) => saveDeviceWish.body?.safeParse({ system: 'phone', note });
  expect(noteOf(' Scan my downloads ')?.data?.note).toBe('Scan my downloads');
  expect(noteOf('x'.repeat(501))?.error?.issues[0]?.message).toBe('Use at most 500 characters.');
});
