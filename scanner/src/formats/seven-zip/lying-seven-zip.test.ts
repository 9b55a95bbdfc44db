import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const PROCESS = fileURLToPath(new URL('../../../test/lying-seven-zip-process.ts', import.meta.url));
const answers = z
  .array(z.object({ lie: z.string(), id: z.string(), told: z.int(), unread: z.array(z.string()) }))
  .parse(JSON.parse(execFileSync(process.execPath, [PROCESS], { encoding: 'utf8', env: {} })));

/** Formats whose headers have a checksum of each member. */
const CHECKED = [
  ...['7z', '7z-links', '7z-plain-header', '7z-deflated-header', '7z-bzip2-header', '7z-lzma-end', '7z-lzma2-header'],
  ...['arj', 'lzip', 'rar', 'rar5', 'wim-links', 'wim-solid', 'zip, ppmd'],
];
/** Formats whose headers have a size of each member. */
const SIZED = [
  ...CHECKED,
  'ar',
  'cab',
  'cpio-links',
  'cpio-two',
  'initramfs',
  'iso',
  'lzh',
  'lzip-two',
  'mslz',
  'ntfs',
  'swf',
  'xz',
];
/** Small contents of WIM may be links, which 7-Zip does not give. */
const SMALL = 'wim-links';

describe('what 7-Zip gives is compared with the headers of an archive', () => {
  test('and reads it where they agree', () => {
    const honest = answers.filter(({ lie }) => lie === 'nothing');
    expect(honest.filter(({ unread }) => unread.length > 0)).toEqual([]);
  });

  test.each([
    ['other bytes', CHECKED],
    ['shorter', SIZED],
    ['one less', SIZED.filter((id) => id !== SMALL)],
  ] as const)('so that %s is pending', (lie, ids) => {
    const told = answers.filter((answer) => answer.lie === lie && answer.told > 0 && ids.includes(answer.id));
    expect([...new Set(told.map(({ id }) => id))].sort()).toEqual([...ids].sort());
    expect(told.filter(({ unread }) => !unread.includes('damaged'))).toEqual([]);
  });
});
