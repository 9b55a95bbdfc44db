import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Folder, foreignText, joinPath, openForeign, splitPath, statForeign } from './foreign.ts';
import { stuckOperations, timely } from './timely.ts';

let place = '';
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'palisade-files-'));
});
// Node itself cannot remove a path of more than PATH_MAX.
afterAll(() => execFileSync('rm', ['-rf', place]));

const refusal = (code: string): unknown => expect.objectContaining({ code });

describe('a path', () => {
  test.each(['a/b', '', '/a/../b', '/a/./b', '/a\0b'])('%j is refused', async (path) => {
    await expect(Folder.open(path)).rejects.toEqual(refusal('bad_path'));
  });

  test('is split into its folder and its name, bytes as they are', () => {
    expect(splitPath(Buffer.from('/a//b/c\xff', 'latin1'))).toEqual({
      folder: Buffer.from('/a/b'),
      name: Buffer.from('c\xff', 'latin1'),
    });
  });

  test('longer than PATH_MAX is walked down and read', async () => {
    const name = Buffer.from('d'.repeat(200));
    const top = mkdtempSync(join(place, 'deep-'));
    let folder = await Folder.open(top);
    for (let depth = 0; depth < 25; depth += 1) {
      const above = folder;
      mkdirSync(above.entryPath(name));
      folder = await above.folder(name);
      await above.close();
    }
    writeFileSync(folder.entryPath(Buffer.from('leaf')), 'deep\n');
    const path = Buffer.concat([folder.path, Buffer.from('/leaf')]);
    await folder.close();
    expect(path.length).toBeGreaterThan(4_096);
    expect(await foreignText(path, 100)).toBe('deep\n');
  });
});

describe('a folder', () => {
  test('gives its entries by bytes, with their stats', async () => {
    const top = Buffer.from(mkdtempSync(join(place, 'names-')));
    const name = Buffer.from('n\xff.sh', 'latin1');
    writeFileSync(Buffer.concat([top, Buffer.from('/'), name]), 'x');
    mkdirSync(join(top.toString(), 'inner'));
    symlinkSync('/etc', join(top.toString(), 'link'));
    execFileSync('mkfifo', [join(top.toString(), 'pipe')]);
    const folder = await Folder.open(top);
    const entries = [];
    for await (const entry of folder.entries()) entries.push([entry.name.toString('latin1'), entry.kind]);
    expect(entries.sort()).toEqual([
      ['inner', 'folder'],
      ['link', 'link'],
      ['n\xff.sh', 'file'],
      ['pipe', 'other'],
    ]);
    const file = await folder.file(name);
    expect(file.path).toEqual(joinPath(top, name));
    expect((await file.read(10)).toString()).toBe('x');
    expect(readFileSync(file.handlePath, 'utf8')).toBe('x');
    await file.close();
    await folder.close();
  });

  // proves: attack-E.1-1
  test('is not gone into through a link, wherever it stands in a path', async () => {
    const top = mkdtempSync(join(place, 'link-'));
    chmodSync(top, 0o777);
    mkdirSync(join(top, 'real/inner'), { recursive: true });
    writeFileSync(join(top, 'real/inner/file'), 'secret');
    symlinkSync('real', join(top, 'way'));
    await expect(Folder.open(join(top, 'way'))).rejects.toEqual(refusal('link'));
    await expect(Folder.open(join(top, 'way/inner'))).rejects.toEqual(refusal('link'));
    await expect(openForeign(join(top, 'way/inner/file'))).rejects.toEqual(refusal('link'));
    expect(await statForeign(join(top, 'way/inner/file'))).toBeUndefined();
  });

  test('that was exchanged while it is held is still the one that was opened', async () => {
    const top = mkdtempSync(join(place, 'held-'));
    mkdirSync(join(top, 'a'));
    mkdirSync(join(top, 'b'));
    writeFileSync(join(top, 'a/file'), 'first');
    writeFileSync(join(top, 'b/file'), 'second');
    const folder = await Folder.open(join(top, 'a'));
    renameSync(join(top, 'a'), join(top, 'gone'));
    symlinkSync('b', join(top, 'a'));
    const file = await folder.file(Buffer.from('file'));
    expect((await file.read(10)).toString()).toBe('first');
    await file.close();
    await folder.close();
  });

  test.runIf(process.getuid?.() === 0)('knows who can write on the way to it', async () => {
    const top = mkdtempSync(join(place, 'writers-'));
    const inner = join(top, 'inner');
    mkdirSync(inner);
    const writers = async (path: string) => {
      const folder = await Folder.open(path);
      await folder.close();
      return folder.writers;
    };
    expect(await writers('/etc')).toBe('root');
    // Everybody can put an entry into /tmp, and root's own entries cannot be moved.
    expect(await writers(inner)).toBe('sticky');
    chmodSync(top, 0o770);
    expect(await writers(inner)).toBe('others');
  });

  test('tells of written entries by bytes, after it was moved as well', async () => {
    const top = mkdtempSync(join(place, 'watch-'));
    mkdirSync(join(top, 'a'));
    const folder = await Folder.open(join(top, 'a'));
    const names: string[] = [];
    let heard: (() => void) | undefined;
    const watcher = folder.watch(
      (name) => {
        names.push(name.toString('latin1'));
        heard?.();
      },
      () => {},
    );
    await folder.close();
    renameSync(join(top, 'a'), join(top, 'b'));
    const first = new Promise<void>((resolve) => (heard = resolve));
    writeFileSync(Buffer.from(join(top, 'b/n\xff'), 'latin1'), 'x');
    await first;
    watcher.close();
    expect(names).toContain('n\xff');
  });
});

describe('a file', () => {
  test('that is a link, a pipe, a socket or a device is refused without a delay', async () => {
    const top = mkdtempSync(join(place, 'kinds-'));
    const folder = await Folder.open(top);
    execFileSync('mkfifo', [join(top, 'pipe')]);
    symlinkSync('/dev/zero', join(top, 'link'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(top, 'socket'), resolve));
    await expect(folder.file(Buffer.from('pipe'))).rejects.toEqual(refusal('not_regular'));
    await expect(folder.file(Buffer.from('link'))).rejects.toEqual(refusal('link'));
    await expect(folder.file(Buffer.from('socket'))).rejects.toEqual(refusal('not_regular'));
    await expect(openForeign('/dev/null')).rejects.toEqual(refusal('not_regular'));
    server.close();
    await folder.close();
  });

  test('that is too large is refused before anything is read', async () => {
    const path = join(mkdtempSync(join(place, 'large-')), 'sparse');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 40);
    const file = await openForeign(path);
    await expect(file.read(64 * 1024)).rejects.toEqual(refusal('too_large'));
    expect((await file.readSome(1_000)).length).toBe(1_000);
    await file.close();
    expect(await foreignText(path, 64 * 1024)).toBe('');
  });

  test('that was changed while it is held says so', async () => {
    const path = join(mkdtempSync(join(place, 'changed-')), 'file');
    writeFileSync(path, 'one');
    const file = await openForeign(path);
    expect(await file.isUnchanged()).toBe(true);
    writeFileSync(path, 'longer');
    expect(await file.isUnchanged()).toBe(false);
    await file.close();
  });
});

describe('an operation', () => {
  // proves: attack-E.4-1
  test('an operation that does not end is given up, its late result is closed, and others have their turn', async () => {
    const closed: string[] = [];
    const ends: (() => void)[] = [];
    const hanging = () => new Promise<string>((resolve) => ends.push(() => resolve('handle')));
    const given_up = Array.from({ length: 3 }, () => timely(hanging, (late) => closed.push(late), 30));
    for (const one of given_up) await expect(one).rejects.toEqual(refusal('deadline'));
    expect(stuckOperations()).toBe(3);
    // All that foreign files may have of the thread pool is taken.
    await expect(timely(() => Promise.resolve(1), undefined, 30)).rejects.toEqual(refusal('deadline'));
    for (const end of ends) end();
    expect(await timely(() => Promise.resolve(2), undefined, 1_000)).toBe(2);
    expect(stuckOperations()).toBe(0);
    expect(closed).toEqual(['handle', 'handle', 'handle']);
  });
});
