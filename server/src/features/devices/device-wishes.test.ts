import { countDeviceWishes, listDeviceWishes, saveDeviceWish, withdrawDeviceWish } from '@palisade/contract/devices';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

describe('wishes for an agent', async () => {
  const { call, signIn } = await startTestApp();
  // The first account is the administrator.
  const admin = await signIn();
  const maria = await signIn();
  const wish = (token: string, system: 'windows' | 'macos' | 'phone', note = '') =>
    call(saveDeviceWish, { token, body: { system, note } });
  const wishes = async (token: string) => replyOf(await call(listDeviceWishes, { token }));

  test('are kept once for each system, with the newest note, and withdrawn', async () => {
    replyOf(await wish(maria.token, 'windows', ' Scan my downloads '));
    replyOf(await wish(maria.token, 'windows', 'Apply my rules'));
    replyOf(await wish(maria.token, 'macos'));
    expect((await wishes(maria.token)).map(({ system, note }) => [system, note])).toEqual(
      expect.arrayContaining([
        ['windows', 'Apply my rules'],
        ['macos', ''],
      ]),
    );
    expect(await wishes(admin.token)).toEqual([]);
    replyOf(await wish(admin.token, 'windows'));
    expect(replyOf(await call(countDeviceWishes, { token: admin.token }))).toEqual([
      { system: 'windows', people: 2, notes: ['Apply my rules'] },
      { system: 'macos', people: 1, notes: [] },
    ]);
    await call(withdrawDeviceWish, { token: maria.token, body: { system: 'macos' } });
    expect((await wishes(maria.token)).map(({ system }) => system)).toEqual(['windows']);
  });

  test('of all people are for administrators, and notes have an end', async () => {
    expect(problemOf(await call(countDeviceWishes, { token: maria.token })).status).toBe(403);
    expect(problemOf(await wish(maria.token, 'phone', 'x'.repeat(501)))).toMatchObject({
      status: 422,
      errors: [{ field: 'note', message: 'Use at most 500 characters.' }],
    });
  });
});
