// The two sets of packages with the real npm, in a fresh clone of a plain user.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { asPlainUser, emptyHome, firstScan, freshClone, must, registrySettings, startServer } from './bare-machine.mjs';

/** Three installations on a busy machine. ms. */
const PATIENCE_MS = 900_000;

/** Every file of the installed packages with its inode and the time of its last change. @param {string} clone */
function installedFiles(clone) {
  const files = readdirSync(join(clone, 'node_modules'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/^node_modules\/\.(?!bin\/)/.test(relative(clone, path)));
  return new Map(
    files.map((path) => {
      const { ino, mtimeMs } = lstatSync(path);
      return [path, `${ino} ${mtimeMs}`];
    }),
  );
}

test.runIf(process.platform === 'linux')(
  'npm start runs without the tools of tests, which are added to its packages, and a killed installation is mended',
  { timeout: PATIENCE_MS },
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'palisade-sets-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }), PATIENCE_MS);
    must('chmod', ['755', place]);
    const clone = freshClone(place);
    const options = {
      cwd: clone,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: emptyHome(place),
        PORT: '0',
        DATA_DIR: join(clone, 'data'),
        ...registrySettings(),
      },
      ...asPlainUser(),
    };
    const vitest = join(clone, 'node_modules/vitest');
    const start = () => startServer('npm', ['start'], options);

    const server = await start();
    expect(await firstScan(server.url)).toEqual({ 'eicar.com': 'infected', 'letter.txt': 'clean' });
    await server.stop();
    for (const name of ['vitest', 'typescript', 'knip', '@biomejs/biome', '@playwright/test', '@tabler/icons'])
      expect(existsSync(join(clone, 'node_modules', name)), name).toBe(false);

    // Both bootstrap and npm, while npm puts packages in place.
    const killed = spawn('node', ['scripts/bootstrap.mjs'], { ...options, stdio: 'ignore', detached: true });
    const ended = new Promise((resolve) => killed.once('close', resolve));
    while (!existsSync(vitest) && killed.exitCode === null) await sleep(5);
    expect(readFileSync(join(clone, '.installing'), 'utf8')).toMatch(/^\d+ \d+$/);
    process.kill(-(killed.pid ?? Number.NaN), 'SIGKILL');
    await ended;
    const mended = await start();
    expect(mended.output()).toContain('palisade: installing');
    await mended.stop();
    expect(existsSync(vitest)).toBe(false);

    const before = installedFiles(clone);
    expect(before.size).toBeGreaterThan(10_000);
    must('node', ['scripts/bootstrap.mjs'], options);
    const after = installedFiles(clone);
    expect([...before].filter(([path, state]) => after.get(path) !== state)).toEqual([]);
    must('node', [join(vitest, 'vitest.mjs'), '--version'], {
      ...options,
      env: { ...options.env, PATH: `${clone}/node_modules/.bin:${options.env.PATH}` },
    });

    const again = await start();
    expect(again.output()).not.toMatch(/installing|building/);
    await again.stop();
    expect([...installedFiles(clone)].filter(([path, state]) => after.get(path) !== state)).toEqual([]);
    expect(existsSync(vitest)).toBe(true);
    // The lock file is the one of the commit.
    expect(must('git', ['-c', `safe.directory=${clone}`, 'status', '--porcelain'], { cwd: clone })).toBe('');
  },
);
