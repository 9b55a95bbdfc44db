import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FILES, nodeArchive, PROCESSORS } from './agent-package.mjs';
import { makeDeb, makeRpm, stageTree } from './agent-packages.mjs';
import { must } from './bare-machine.mjs';
import { NEEDS } from './packages.mjs';

// Installs, upgrades and purges the agent's packages in a small Debian that the test makes, and compares the files before and after. The agent is not started: there is no systemd in it.

const PATIENCE_MS = 900_000;
const NEED = 'mmdebstrap, dpkg-deb and rpmbuild';
const [X64, ARM64] = PROCESSORS;
const isPossible =
  NEEDS[NEED].isThere() && process.getuid?.() === 0 && process.arch === 'x64' && existsSync(join(FILES, 'palisade-agent.tar.gz'));
if (!isPossible) process.stdout.write('skipped: the packages of the agent are tried as root, with a built agent\n');

/** Paths that package managers and the system itself write; the rest of the root must not change. */
const THEIRS = [
  './var/lib/dpkg',
  './var/lib/rpm',
  './var/log',
  './var/cache',
  './proc',
  './sys',
  './dev',
  './tmp',
  './root/packages',
  './root/.rpmdb',
];

(isPossible ? describe : describe.skip)(`the packages of the agent${isPossible ? '' : ` [needs ${NEED}]`}`, () => {
  const place = mkdtempSync(join(tmpdir(), 'palisade-packages-'));
  const root = join(place, 'root');
  const out = join(root, 'root/packages');
  /** @type {{ deb: string[], rpm: string[] }} */
  const made = { deb: [], rpm: [] };

  /** @param {string[]} command */
  const within = (...command) =>
    must('chroot', [root, ...command], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' } });
  const files = () =>
    must('find', ['.', '-xdev', ...THEIRS.flatMap((path) => ['-path', path, '-prune', '-o']), '-print'], { cwd: root })
      .split('\n')
      // dpkg takes an empty /opt away with the last package in it.
      .filter((path) => path !== './opt')
      .sort();
  const writeState = () => {
    for (const folder of ['var/lib/palisade-agent/quarantine', 'run/palisade-agent'])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'var/lib/palisade-agent/quarantine/1'), 'sealed');
  };
  const installed = () => ({
    version: JSON.parse(readFileSync(join(root, 'opt/palisade-agent/version.json'), 'utf8')).version,
    usage: within('sh', '-c', 'palisade-agent 2>&1 || true').split('\n', 1)[0],
    units: existsSync(join(root, 'usr/lib/systemd/system/palisade-agent.service')),
    state: existsSync(join(root, 'var/lib/palisade-agent/quarantine/1')),
  });

  beforeAll(() => {
    must('mmdebstrap', ['--variant=essential', '--include=libstdc++6,rpm', 'bookworm', root]);
    mkdirSync(out, { recursive: true });
    for (const version of ['1.0.0', '1.0.1']) {
      const tree = join(place, version);
      stageTree(tree, X64);
      writeFileSync(join(tree, 'opt/palisade-agent/version.json'), JSON.stringify({ version }));
      if (version === '1.0.0') writeFileSync(join(tree, 'opt/palisade-agent/gone-in-the-next'), '');
      made.deb.push(makeDeb(tree, version, X64, out, 1));
      made.rpm.push(makeRpm(tree, version, X64, out, 1));
      rmSync(tree, { recursive: true });
    }
  }, PATIENCE_MS);
  afterAll(() => rmSync(place, { recursive: true, force: true }), PATIENCE_MS);

  test.each(
    /** @type {const} */ ([
      {
        kind: 'deb',
        install: ['dpkg', '--install'],
        upgrade: ['dpkg', '--install'],
        purge: ['dpkg', '--purge', 'palisade-agent'],
      },
      // The root has no packages in RPM's own list, so that libraries are not found there.
      {
        kind: 'rpm',
        install: ['rpm', '--install', '--nodeps'],
        upgrade: ['rpm', '--upgrade', '--nodeps'],
        purge: ['rpm', '--erase', 'palisade-agent'],
      },
    ]),
  )(
    '$kind: installs, upgrades and purges, and leaves nothing behind',
    { timeout: PATIENCE_MS },
    ({ kind, install, upgrade, purge }) => {
      const [first = '', second = ''] = made[kind].map((path) => `/root/packages/${basename(path)}`);
      const before = files();
      expect(within(...install, first)).toContain('palisade-agent enrol SERVER');
      writeState();
      const usage = 'palisade-agent: what protects this computer for its Palisade server';
      expect(installed()).toEqual({ version: '1.0.0', usage, units: true, state: true });
      expect(existsSync(join(root, 'opt/palisade-agent/gone-in-the-next'))).toBe(true);
      expect(() => within('palisade-agent', 'uninstall')).toThrow('apt-get purge palisade-agent');

      within(...upgrade, second);
      expect(installed()).toEqual({ version: '1.0.1', usage, units: true, state: true });
      expect(existsSync(join(root, 'opt/palisade-agent/gone-in-the-next'))).toBe(false);

      within(...purge);
      expect(files()).toEqual(before);
    },
  );

  test('deb: removing keeps quarantined files until the purge', { timeout: PATIENCE_MS }, () => {
    within('dpkg', '--install', `/root/packages/${basename(made.deb[0] ?? '')}`);
    writeState();
    within('dpkg', '--remove', 'palisade-agent');
    expect(existsSync(join(root, 'opt/palisade-agent/bin'))).toBe(false);
    expect(existsSync(join(root, 'var/lib/palisade-agent/quarantine/1'))).toBe(true);
    within('dpkg', '--purge', 'palisade-agent');
    expect(existsSync(join(root, 'var/lib/palisade-agent'))).toBe(false);
  });

  test.runIf(existsSync(nodeArchive(ARM64.cpu)))('arm64: has its own Node and no native engine', { timeout: PATIENCE_MS }, () => {
    const tree = join(place, 'arm64');
    stageTree(tree, ARM64);
    expect(readFileSync(join(tree, 'opt/palisade-agent/bin/node')).readUInt16LE(18)).toBe(0xb7);
    expect(existsSync(join(tree, 'opt/palisade-agent/node_modules/@litko/yara-x-linux-x64-gnu'))).toBe(false);
    expect(existsSync(join(tree, 'opt/palisade-agent/node_modules/@virustotal/yara-x/pkg/yara_x_js_bg.wasm'))).toBe(true);
    rmSync(tree, { recursive: true });
  });
});
