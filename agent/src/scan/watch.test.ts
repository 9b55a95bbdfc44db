import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';
import { FILES_HAVE_THIS_CLOCK, filesHaveThisClock, needing } from '@palisade/scanner/test/needs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { everybodysFolders, usualFolders } from './usual-folders.ts';
import { createWatch, type Watch, type WatchParts } from './watch.ts';

let root: string;
let told: string[];
let watch: Watch;
const start = async (parts: Partial<WatchParts> = {}, exclusions: readonly string[] = []) => {
  watch = createWatch({
    onFile({ path }) {
      told.push(path.toString('latin1'));
      return true;
    },
    settle_ms: 50,
    ...parts,
  });
  await watch.want(
    [Buffer.from(root)],
    exclusions.map((path) => Buffer.from(path)),
  );
};
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-watch-'));
  told = [];
});
afterEach(() => {
  watch.close();
});
const at = (...names: string[]) => names.map((name) => join(root, name)).sort();
const toldOf = (...names: string[]) => eventually(() => expect([...new Set(told)].sort()).toEqual(at(...names)));

it('tells of files that are written, changed and moved in, in new folders too, each once for a write', async () => {
  mkdirSync(join(root, 'old'));
  writeFileSync(join(root, 'old/there'), 'was there before');
  await start();
  expect(watch.state()).toMatchObject({ folders: 2, reason: null });
  writeFileSync(join(root, 'one'), '1');
  for (let index = 0; index < 20; index += 1) appendFileSync(join(root, 'one'), 'more');
  await toldOf('one');
  expect(told).toHaveLength(1);
  appendFileSync(join(root, 'old/there'), '!');
  mkdirSync(join(root, 'new/deeper'), { recursive: true });
  writeFileSync(join(root, 'new/deeper/two'), '2');
  await toldOf('one', 'old/there', 'new/deeper/two');
  await eventually(() => expect(watch.state().folders).toBe(4));
  writeFileSync(join(root, 'three.part'), '3');
  renameSync(join(root, 'three.part'), join(root, 'new/deeper/three'));
  await eventually(() => expect(told).toContain(join(root, 'new/deeper/three')));
});

it('follows no link and enters no folder that is left out', async () => {
  mkdirSync(join(root, 'left'));
  await start({}, [join(root, 'left/')]);
  writeFileSync(join(root, 'left/a'), 'a');
  symlinkSync('/etc/passwd', join(root, 'link'));
  symlinkSync('/etc', join(root, 'folder'));
  writeFileSync(join(root, 'b'), 'b');
  await toldOf('b');
  expect(watch.state().folders).toBe(1);
});

it('reads a folder whole after more files than it keeps in mind', async () => {
  await start({ names_maximum: 10 });
  const names = Array.from({ length: 50 }, (_, index) => `${index}`);
  for (const name of names) writeFileSync(join(root, name), 'x');
  await toldOf(...names);
  told = [];
  writeFileSync(join(root, 'later'), 'x');
  await eventually(() => expect(told).toContain(join(root, 'later')));
});

// proves: attack-E.5-1
it('rests while events do not end, and finds files that were written meanwhile', async () => {
  mkdirSync(join(root, 'busy'));
  mkdirSync(join(root, 'calm'));
  await start({ events_maximum: 20 });
  for (let index = 0; index < 200; index += 1) writeFileSync(join(root, 'busy/flood'), `${index}`);
  writeFileSync(join(root, 'busy/meanwhile'), 'x');
  writeFileSync(join(root, 'calm/other'), 'x');
  await toldOf('busy/flood', 'busy/meanwhile', 'calm/other');
  // It is watched again.
  told = [];
  writeFileSync(join(root, 'busy/later'), 'x');
  await eventually(() => expect(told).toContain(join(root, 'busy/later')));
});

needing(FILES_HAVE_THIS_CLOCK, filesHaveThisClock()).test(
  'says that it could not keep a file in mind, and tells of it once there is room',
  async () => {
    let has_room = false;
    await start({
      onFile({ path }) {
        if (has_room) told.push(path.toString('latin1'));
        return has_room;
      },
    });
    writeFileSync(join(root, 'one'), 'x');
    await eventually(() => expect(watch.state().overflow).toMatchObject({ folders: 1 }));
    expect(told).toEqual([]);
    has_room = true;
    watch.roomFor(process.getuid?.() ?? 0);
    await toldOf('one');
    await eventually(() => expect(watch.state().overflow).toMatchObject({ folders: 0 }));
  },
);

it('tells of a file for which there was room again while its folder was still read', async () => {
  let is_first = true;
  await start({
    onFile({ path }, person) {
      if (!is_first) told.push(path.toString('latin1'));
      const has_room = !is_first;
      if (is_first) queueMicrotask(() => watch.roomFor(person));
      is_first = false;
      return has_room;
    },
  });
  writeFileSync(join(root, 'one'), 'x');
  await toldOf('one');
});

it('tells of files whose names are no UTF-8, in folders with such names too', async () => {
  await start();
  const name = (text: string) => Buffer.from(`${root}/${text}`, 'latin1');
  writeFileSync(name('n\u00ff.sh'), 'x');
  mkdirSync(name('d\u00fe'));
  await eventually(() => expect(watch.state().folders).toBe(2));
  writeFileSync(name('d\u00fe/m\u00fd'), 'x');
  await toldOf('n\u00ff.sh', 'd\u00fe/m\u00fd');
});

it('watches the folder that has a path now, and not the one that had it before', async () => {
  mkdirSync(join(root, 'here'));
  await start();
  renameSync(join(root, 'here'), join(root, 'there'));
  mkdirSync(join(root, 'here'));
  await eventually(() => expect(watch.state().folders).toBe(3));
  writeFileSync(join(root, 'here/one'), '1');
  writeFileSync(join(root, 'there/two'), '2');
  await eventually(() => expect(told).toEqual(expect.arrayContaining(at('here/one', 'there/two'))));
});

it('ends with the folders that are wanted', async () => {
  await start();
  await watch.want([], []);
  expect(watch.state()).toMatchObject({ folders: 0, reason: null });
  const other = mkdtempSync(join(tmpdir(), 'palisade-watch-'));
  await watch.want([Buffer.from(other)], []);
  writeFileSync(join(root, 'unwatched'), 'x');
  writeFileSync(join(other, 'watched'), 'x');
  await eventually(() => expect(told).toEqual([join(other, 'watched')]));
  rmSync(other, { recursive: true });
});

it('says how many folders are not watched, and watches the others', async () => {
  for (let index = 0; index < 5; index += 1) mkdirSync(join(root, `${index}`));
  await start({ folders_maximum: 3 });
  expect(watch.state()).toMatchObject({ folders: 3, reason: 'More than 3 folders are not watched: 3 folders are not watched.' });
});

// In a user namespace of its own this limit is that namespace's; that of the machine (fs.inotify) is never written.
const LIMIT = 'echo 4 > /proc/sys/user/max_inotify_watches';
const can_limit = spawnSync('unshare', ['-rU', 'sh', '-c', LIMIT]).status === 0;
if (!can_limit)
  process.stdout.write('skipped, because no user namespace with a limit of its own can be made: the limit of watches\n');
it.skipIf(!can_limit)('says when the kernel’s limit is reached', async () => {
  await start();
  for (let index = 0; index < 8; index += 1) mkdirSync(join(root, `f${index}`));
  const script = `
    import { createWatch } from '${new URL('./watch.ts', import.meta.url).pathname}';
    const watch = createWatch({ onFile: () => true });
    await watch.want([Buffer.from(process.argv[1])], []);
    process.stdout.write(JSON.stringify(watch.state()));
    watch.close();`;
  const line = `${LIMIT}; exec "${process.execPath}" --input-type=module-typescript -e "$1" "$2"`;
  const said = spawnSync('unshare', ['-rU', 'sh', '-c', line, 'sh', script, root], { encoding: 'utf8' });
  const state = z.object({ folders: z.int(), reason: z.string() }).parse(JSON.parse(said.stdout));
  expect(state.folders).toBeLessThan(9);
  expect(state.reason).toMatch(
    /^The kernel watches no more folders \(fs\.inotify\.max_user_watches\): \d+ folders are not watched\.$/u,
  );
});

it('knows where a desktop keeps its files', async () => {
  const settings =
    'XDG_DOWNLOAD_DIR="$HOME/Herunterladen"\nXDG_DESKTOP_DIR="$HOME/"\nXDG_DOCUMENTS_DIR="/srv/elsewhere"\nnonsense';
  expect(usualFolders('/home/maria', settings)).toEqual([
    '/home/maria/Herunterladen',
    '/home/maria/Desktop',
    '/home/maria/Documents',
  ]);
  // No file is taken from another place than the home, in any spelling.
  for (const path of [
    '$HOME/../../etc',
    '$HOME/a/../../ben/Documents',
    '/home/maria/./../ben',
    '$HOME/./',
    '/home/maria2/x',
    'etc',
  ])
    expect(usualFolders('/home/maria', `XDG_DOWNLOAD_DIR="${path}"`)[0]).toBe('/home/maria/Downloads');
  expect(usualFolders('/home/maria', 'XDG_DOWNLOAD_DIR="$HOME/a/../b/"')[0]).toBe('/home/maria/b');
  await start();
  writeFileSync(
    join(root, 'passwd'),
    'root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/bin/false\nmaria:x:1:1::/home/no-such-maria:/bin/sh\n',
  );
  expect(await everybodysFolders(join(root, 'passwd'))).toContain('/home/no-such-maria/Downloads');
});
