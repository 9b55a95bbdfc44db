import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createWatch, everybodysFolders, usualFolders, type Watch, type WatchParts } from './watch.ts';

let root: string;
let told: string[][];
let watch: Watch;
const start = async (parts: Partial<WatchParts> = {}, exclusions: readonly string[] = []) => {
  watch = createWatch({ onWritten: (paths) => told.push([...paths].sort()), settle_ms: 50, ...parts });
  await watch.want([root], exclusions);
};
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-watch-'));
  told = [];
});
afterEach(() => {
  watch.close();
  rmSync(root, { recursive: true, force: true });
});
const at = (...names: string[]) => names.map((name) => join(root, name)).sort();
const toldOf = (...names: string[]) =>
  vi.waitFor(() => expect([...new Set(told.flat())].sort()).toEqual(at(...names)), { timeout: 10_000, interval: 10 });

it('tells of files that are written, changed and moved in, in new folders too, each once for a write', async () => {
  mkdirSync(join(root, 'old'));
  writeFileSync(join(root, 'old/there'), 'was there before');
  await start();
  expect(watch.state()).toEqual({ folders: 2, reason: null });
  writeFileSync(join(root, 'one'), '1');
  for (let index = 0; index < 20; index += 1) appendFileSync(join(root, 'one'), 'more');
  await toldOf('one');
  expect(told.flat()).toHaveLength(1);
  appendFileSync(join(root, 'old/there'), '!');
  mkdirSync(join(root, 'new/deeper'), { recursive: true });
  writeFileSync(join(root, 'new/deeper/two'), '2');
  await toldOf('one', 'old/there', 'new/deeper/two');
  await vi.waitFor(() => expect(watch.state().folders).toBe(4));
  writeFileSync(join(root, 'three.part'), '3');
  renameSync(join(root, 'three.part'), join(root, 'new/deeper/three'));
  await vi.waitFor(() => expect(told.flat()).toContain(join(root, 'new/deeper/three')), { timeout: 10_000 });
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

it('has all that it watches looked at after more files than it keeps in mind', async () => {
  await start({ files_maximum: 10 });
  for (let index = 0; index < 50; index += 1) writeFileSync(join(root, `${index}`), 'x');
  await vi.waitFor(() => expect(told).toContainEqual([root]), { timeout: 10_000, interval: 10 });
  told = [];
  writeFileSync(join(root, 'later'), 'x');
  await toldOf('later');
});

it('ends with the folders that are wanted', async () => {
  await start();
  await watch.want([], []);
  expect(watch.state()).toEqual({ folders: 0, reason: null });
  const other = mkdtempSync(join(tmpdir(), 'palisade-watch-'));
  await watch.want([other], []);
  writeFileSync(join(root, 'unwatched'), 'x');
  writeFileSync(join(other, 'watched'), 'x');
  await vi.waitFor(() => expect(told).toEqual([[join(other, 'watched')]]), { timeout: 10_000 });
  rmSync(other, { recursive: true });
});

it('says how many folders are not watched, and watches the others', async () => {
  for (let index = 0; index < 5; index += 1) mkdirSync(join(root, `${index}`));
  await start({ folders_maximum: 3 });
  expect(watch.state()).toEqual({ folders: 3, reason: 'More than 3 folders are not watched: 3 folders are not watched.' });
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
    const watch = createWatch({ onWritten() {} });
    await watch.want([process.argv[1]], []);
    process.stdout.write(JSON.stringify(watch.state()));
    watch.close();`;
  const line = `${LIMIT}; exec "${process.execPath}" --input-type=module-typescript -e "$1" "$2"`;
  const said = spawnSync('unshare', ['-rU', 'sh', '-c', line, 'sh', script, root], { encoding: 'utf8' });
  const state = JSON.parse(said.stdout);
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
  await start();
  writeFileSync(
    join(root, 'passwd'),
    'root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/bin/false\nmaria:x:1:1::/home/no-such-maria:/bin/sh\n',
  );
  expect(await everybodysFolders(join(root, 'passwd'))).toContain('/home/no-such-maria/Downloads');
});
