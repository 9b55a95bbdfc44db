import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { fileBytes } from './file-bytes.ts';

const isOpen = (path: string) =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });

test('a file is open only while it is read, and one that is gone fails its reader alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'palisade-bytes-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await writeFile(path, Buffer.alloc(600_000, 7));
  const unread = fileBytes(path);
  await setImmediate();
  expect(isOpen(path)).toBe(false);
  let length = 0;
  for await (const bytes of fileBytes(path)) length += bytes.length;
  expect(length).toBe(600_000);
  for await (const _ of fileBytes(path)) {
    expect(isOpen(path)).toBe(true);
    break;
  }
  await expect.poll(() => isOpen(path)).toBe(false);
  await rm(path);
  await expect(unread.next()).rejects.toMatchObject({ code: 'ENOENT' });
});
