import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { EICAR, noise, PDF } from '#test/files.ts';
import { packWith7Zip } from '#test/seven-zip-pack.ts';

// 7-Zip takes no other characters for a zip.
const PASSWORD = 'a "quoted" -p word, 42';

/** Compressed and stored members, one that is longer than a single read, and one with the test file. */
const FILES = { 'words.txt': Buffer.from('many words, '.repeat(30_000)), 'noise.bin': noise(300_000), 'eicar.com': EICAR };

describe.each([
  ['AES-128', ['-tzip', '-mem=AES128']],
  ['AES-192', ['-tzip', '-mem=AES192']],
  ['AES-256', ['-tzip', '-mem=AES256']],
  ['the old cipher', ['-tzip', '-mem=ZipCrypto']],
  ['7z', ['-t7z']],
  ['7z with its names', ['-t7z', '-mhe=on']],
])('a file that 7-Zip encrypted (%s)', async (name, switches) => {
  const packed = await packWith7Zip(FILES, [...switches, `-p${PASSWORD}`]);

  test('is read whole with its password', async () => {
    expect(await examined(packed, { password: PASSWORD })).toMatchObject({
      threat: 'EICAR-Test-File',
      threat_member: 'eicar.com',
      unread: [],
      coverage: { members_total: 3, members_scanned: 3, encrypted: 0 },
    });
  });

  test.each([
    ['none', undefined],
    ['a wrong one', 'not it'],
    ['one that is nearly right', `${PASSWORD} `],
  ])('stays closed with %s', async (_, password) => {
    const { threat, unread } = await examined(packed, { password });
    expect({ threat, unread }).toEqual({ threat: null, unread: ['encrypted'] });
  });

  test('is damaged, not clean, when one of its bytes was changed', async () => {
    const harmless = await packWith7Zip({ 'noise.bin': noise(300_000), 'paper.pdf': PDF }, [...switches, `-p${PASSWORD}`]);
    harmless[150_000] = (harmless[150_000] ?? 0) ^ 1;
    const { unread } = await examined(harmless, { password: PASSWORD });
    // The old cipher and 7z have no word of their own for it: their checksum is wrong, as after a wrong password.
    expect(unread).toEqual([name.startsWith('AES') ? 'damaged' : 'encrypted']);
  });
});

describe.each([
  ['AES', '-mem=AES256'],
  ['the old cipher', '-mem=ZipCrypto'],
])('an encrypted zip (%s) of which a byte was changed', async (_, method) => {
  const packed = await packWith7Zip({ 'eicar.com': EICAR }, ['-tzip', method, `-p${PASSWORD}`]);

  test('finds its content, or reports a part as unread', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(packed);
        changed[at] = (changed[at] ?? 0) ^ change;
        const { threat, unread } = await examined(changed, { password: PASSWORD });
        expect(threat === 'EICAR-Test-File' || unread.length > 0).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
