import { linkSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { countFiles, readMounts, walk } from './walk.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-scan-'));
});

const bytesOf = (paths: readonly string[]) => paths.map((path) => Buffer.from(path));

async function filesIn(roots: readonly string[], exclusions: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of walk({ roots: bytesOf(roots), exclusions: bytesOf(exclusions), goOn: async () => true }))
    found.push(path.toString('latin1').replace(root, ''));
  return found.sort();
}

describe('the walk', () => {
  // proves: device-fault-18
  it('reads each file once, follows no link and enters no excluded folder', async () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    mkdirSync(join(root, 'left'));
    for (const name of ['one', 'a/two', 'a/b/three', 'left/out']) writeFileSync(join(root, name), name);
    linkSync(join(root, 'one'), join(root, 'a/once-more'));
    symlinkSync(join(root, 'left'), join(root, 'a/link'));
    symlinkSync('/etc/passwd', join(root, 'a/passwd'));
    const found = await filesIn([root], [join(root, 'left/')]);
    expect(found.filter((name) => name === '/one' || name === '/a/once-more')).toHaveLength(1);
    expect(found.filter((name) => !['/one', '/a/once-more'].includes(name))).toEqual(['/a/b/three', '/a/two']);
  });

  it('reads files whose names are no UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'x');
    expect(await filesIn([root])).toEqual(['/\u00ff\u00feA']);
  });

  it('is counted ahead of by names alone, folder after folder, as far as it goes', async () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    mkdirSync(join(root, 'left'));
    for (const name of ['one', 'a/two', 'a/b/three', 'left/out']) writeFileSync(join(root, name), name);
    symlinkSync(join(root, 'left'), join(root, 'a/link'));
    const sums: number[] = [];
    const where = { roots: bytesOf([root, join(root, 'a/two')]), exclusions: bytesOf([join(root, 'left')]) };
    expect(await countFiles({ ...where, goOn: async () => true }, (files) => sums.push(files))).toBe(true);
    expect([sums.at(-1), sums.length]).toEqual([4, 4]);
    expect(await countFiles({ ...where, goOn: async () => sums.length < 6 }, (files) => sums.push(files))).toBe(false);
  });

  it('ends when its callback says so', async () => {
    for (let index = 0; index < 5; index += 1) mkdirSync(join(root, `${index}`));
    for (let index = 0; index < 5; index += 1) writeFileSync(join(root, `${index}/file`), '');
    let asked = 0;
    let seen = 0;
    for await (const _ of walk({ roots: bytesOf([root]), exclusions: [], goOn: async () => asked++ < 2 })) seen += 1;
    expect(seen).toBeLessThan(5);
  });

  it('takes local file systems, each part of one once', () => {
    const mountinfo = [
      '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
      '23 22 0:21 / /proc rw - proc proc rw',
      '24 22 8:2 / /home rw - xfs /dev/sda2 rw',
      '25 22 8:2 /maria /srv/maria rw - xfs /dev/sda2 rw',
      '26 22 0:50 / /mnt/nas rw - nfs4 nas:/ rw',
      '27 22 0:51 / /mnt/ssh rw - fuse.sshfs host: rw',
      '28 22 8:3 / /media/with\\040blank rw - vfat /dev/sdb1 rw',
      '29 22 0:5 / /dev rw - devtmpfs udev rw',
      '30 22 0:25 / /run/user/1000 rw - tmpfs tmpfs rw',
    ].join('\n');
    expect(readMounts(mountinfo)).toEqual(['/', '/home', '/media/with blank']);
  });
});
