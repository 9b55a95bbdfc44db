// bootstrap.mjs in a small repository, with a double of npm that installs folders by the lock file as npm does.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

/** Takes part in the tests alone: a run that FAKE_NPM says is "killed" ends half way, with bootstrap; one that is "failed" or "idle" adds nothing; one that is "orphaned" still runs for a while after bootstrap was killed. */
const FAKE_NPM = `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync, existsSync, readdirSync } = require('node:fs');
const args = process.argv.slice(2);
appendFileSync('calls', args.filter((arg) => !/^--(ignore|log|no-fund|no-audit|include=optional)/.test(arg)).join(' ') + '\\n');
if (args[0] === 'install' && process.env.FAKE_NPM === 'failed') process.exit(1);
if (args[0] === 'install' && process.env.FAKE_NPM === 'idle') process.exit(0);
const LIST = 'node_modules/.package-lock.json';
if (args[0] === 'ci' && existsSync('node_modules')) for (const name of readdirSync('node_modules')) rmSync('node_modules/' + name, { recursive: true });
const there = existsSync(LIST) ? JSON.parse(readFileSync(LIST)).packages : {};
const all = Object.entries(JSON.parse(readFileSync('package-lock.json')).packages).filter(([place]) => place !== '');
const wanted = Object.fromEntries(all.filter(([, { dev }]) => !dev || !args.includes('--omit=dev')));
for (const place of Object.keys(there)) if (!(place in wanted)) rmSync(place, { recursive: true });
const missing = Object.keys(wanted).filter((place) => there[place]?.integrity !== wanted[place].integrity);
for (const [at, place] of missing.entries()) {
  mkdirSync(place, { recursive: true });
  writeFileSync(place + '/package.json', JSON.stringify({ ...wanted[place], at: process.pid }));
  if (at + 1 < missing.length / 2) continue;
  if (process.env.FAKE_NPM === 'orphaned') {
    process.kill(process.ppid, 'SIGKILL');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    appendFileSync('calls', 'the first npm ended\\n');
    process.exit(0);
  }
  if (process.env.FAKE_NPM === 'killed') { process.kill(process.ppid, 'SIGKILL'); process.exit(1); }
}
mkdirSync('node_modules', { recursive: true });
writeFileSync(LIST, JSON.stringify({ packages: wanted }));
`;

/** The packages of the lock file: two of production, two of tests. @param {string} version */
const lockOf = (version) => ({
  packages: {
    '': {},
    'node_modules/fastify': { version, integrity: `sha512-fastify-${version}` },
    'node_modules/zod': { version: '4.0.0', integrity: 'sha512-zod' },
    'node_modules/knip': { version, integrity: `sha512-knip-${version}`, dev: true },
    'node_modules/vitest': { version: '5.0.0', integrity: 'sha512-vitest', dev: true },
  },
});

function newRepository() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-bootstrap-'));
  const write = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const name of ['bootstrap.mjs', 'node-runtime.mjs']) {
    mkdirSync(join(folder, 'scripts'), { recursive: true });
    cpSync(join(ROOT, 'scripts', name), join(folder, 'scripts', name));
  }
  write('package.json', '{ "workspaces": ["server"] }');
  write('server/package.json', '{ "name": "@palisade/server" }');
  write('scripts/native-packages.mjs', '');
  write(
    'scripts/leaked-passwords.mjs',
    "import { writeFileSync } from 'node:fs';\nwriteFileSync('server/passwords/leaked.bin', '');\n",
  );
  write('server/passwords/.keep', '');
  write('bin/npm', FAKE_NPM);
  chmodSync(join(folder, 'bin/npm'), 0o755);
  write('package-lock.json', JSON.stringify(lockOf('1.0.0')));
  const argsOf = (/** @type {'start' | 'test'} */ command) => [
    'scripts/bootstrap.mjs',
    ...(command === 'start' ? ['--production'] : []),
  ];
  const PATH = [join(folder, 'bin'), process.env.PATH].join(delimiter);
  const environmentOf = (/** @type {string} */ npm) => ({ ...process.env, CI: 'true', PATH, FAKE_NPM: npm });
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').split('\n').slice(0, -1);
  return {
    /** A mark in the repository's folder, as a killed command leaves it. @param {string} name @param {string} text */
    leave: (name, text) => write(name, text),
    isThere: (/** @type {string} */ name) => existsSync(join(folder, name)),
    /** The next version of the lock file, as `git pull` brings it. @param {string} version */
    pull: (version) => write('package-lock.json', JSON.stringify(lockOf(version))),
    /** One run; answers the calls of npm. @param {'start' | 'test'} command @param {{ npm?: 'killed' | 'failed' | 'idle' | 'orphaned' }} [how] */
    run(command, { npm = undefined } = {}) {
      write('calls', '');
      const { stderr, signal, status } = spawnSync(process.execPath, argsOf(command), {
        cwd: folder,
        encoding: 'utf8',
        // The pipes of an orphan would be waited for.
        ...(npm === 'orphaned' ? { stdio: 'ignore' } : {}),
        env: environmentOf(npm ?? ''),
      });
      if (npm === 'killed' || npm === 'orphaned') expect(signal).toBe('SIGKILL');
      else expect(status, stderr).toBe(npm === 'failed' ? 1 : 0);
      return calls();
    },
    /** Runs that begin at once; answers the calls of npm. @param {('start' | 'test')[]} commands */
    async runTogether(commands) {
      write('calls', '');
      const ends = commands.map(async (command) => {
        const child = spawn(process.execPath, argsOf(command), {
          cwd: folder,
          stdio: ['ignore', 'ignore', 'pipe'],
          env: environmentOf(''),
        });
        const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
        expect(code, said).toBe(0);
      });
      await Promise.all(ends);
      return calls();
    },
    /** The installed packages: name, version, and the run of npm that put each in place. */
    packages() {
      const names = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.') && name !== '@palisade');
      return Object.fromEntries(
        names.map((name) => {
          const { version, at } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
          return [name, { version, at }];
        }),
      );
    },
    hasLink: () => existsSync(join(folder, 'node_modules/@palisade/server/package.json')),
  };
}

const ALL = ['fastify', 'knip', 'vitest', 'zod'];
const PRODUCTION = ['fastify', 'zod'];
const CI_FOR = { start: ['ci --omit=dev'], test: ['ci --include=dev'] };
const ADD_FOR = { start: ['install --no-save --omit=dev'], test: ['install --no-save --include=dev'] };
const SET_OF = { start: PRODUCTION, test: ALL };

describe.skipIf(process.platform === 'win32')('bootstrap', () => {
  test('installs for npm start what production needs, and nothing again', () => {
    const repository = newRepository();
    expect(repository.run('start')).toEqual(CI_FOR.start);
    expect(Object.keys(repository.packages())).toEqual(PRODUCTION);
    expect(repository.hasLink()).toBe(true);
    expect(repository.run('start')).toEqual([]);
  });

  test('adds for npm test the rest to what is there, and a later npm start leaves all of it', () => {
    const repository = newRepository();
    repository.run('start');
    const before = repository.packages();
    expect(repository.run('test')).toEqual(ADD_FOR.test);
    expect(Object.keys(repository.packages())).toEqual(ALL);
    expect(repository.packages()).toMatchObject(before);
    expect(repository.run('start')).toEqual([]);
    expect(repository.run('test')).toEqual([]);
    expect(Object.keys(repository.packages())).toEqual(ALL);
  });

  test('installs everything at once for npm test in a fresh clone', () => {
    const repository = newRepository();
    expect(repository.run('test')).toEqual(CI_FOR.test);
    expect(repository.run('start')).toEqual([]);
    expect(Object.keys(repository.packages())).toEqual(ALL);
  });

  const commands = /** @type {const} */ (['start', 'test']);
  const pairs = commands.flatMap((first) => commands.map((next) => ({ first, next })));

  test.each(pairs)('mends by npm $next an npm $first that was killed in a fresh clone', ({ first, next }) => {
    const repository = newRepository();
    repository.run(first, { npm: 'killed' });
    expect(repository.run(next)).toEqual(CI_FOR[next]);
    expect(Object.keys(repository.packages())).toEqual(SET_OF[next]);
    expect(repository.run(next)).toEqual([]);
  });

  test.each(commands)('mends by npm %s an npm test that was killed while it added to what npm start had installed', (next) => {
    const repository = newRepository();
    repository.run('start');
    repository.run('test', { npm: 'killed' });
    expect(repository.run(next)).toEqual(CI_FOR[next]);
    expect(Object.keys(repository.packages())).toEqual(SET_OF[next]);
    expect(repository.run(next)).toEqual([]);
  });

  test.each(pairs)('changes only what a new lock file changed, by npm $next after npm $first', ({ first, next }) => {
    const repository = newRepository();
    repository.run(first);
    const before = repository.packages();
    repository.pull('1.1.0');
    const set = first === 'test' ? 'test' : next;
    expect(repository.run(next)).toEqual(ADD_FOR[set]);
    const after = repository.packages();
    expect(Object.keys(after)).toEqual(SET_OF[set]);
    expect(after.fastify?.version).toBe('1.1.0');
    expect(after.zod).toEqual(before.zod);
    expect(repository.run(next)).toEqual([]);
  });

  test('mends an upgrade that was killed, also when the lock file went back', () => {
    const repository = newRepository();
    repository.run('test');
    repository.pull('1.1.0');
    repository.run('test', { npm: 'killed' });
    repository.pull('1.0.0');
    expect(repository.run('test')).toEqual(CI_FOR.test);
    expect(Object.values(repository.packages()).map(({ version }) => version)).toEqual(['1.0.0', '1.0.0', '5.0.0', '4.0.0']);
  });

  test('waits for an npm that still runs after its bootstrap was killed, then mends', () => {
    const repository = newRepository();
    repository.run('start', { npm: 'orphaned' });
    expect(repository.run('start')).toEqual(['the first npm ended', ...CI_FOR.start]);
    expect(Object.keys(repository.packages())).toEqual(PRODUCTION);
  });

  test('installs once for commands that begin at once', async () => {
    const repository = newRepository();
    expect(await repository.runTogether(['start', 'start', 'start', 'start'])).toEqual(CI_FOR.start);
    expect(Object.keys(repository.packages())).toEqual(PRODUCTION);
  });

  // An empty file is that of a command that was killed before it had written its id, or whose disk was full.
  test.each(['', '4194304'])('does not wait for a killed command whose mark says "%s"', async (text) => {
    const repository = newRepository();
    repository.leave('.preparing', text);
    expect(await repository.runTogether(['start', 'start', 'start', 'start'])).toEqual(CI_FOR.start);
    expect(repository.isThere('.preparing')).toBe(false);
  });

  test('leaves npm start as it was where npm test cannot add its packages', () => {
    const repository = newRepository();
    repository.run('start');
    const before = repository.packages();
    expect(repository.run('test', { npm: 'failed' })).toEqual(ADD_FOR.test);
    expect(repository.run('start')).toEqual([]);
    expect(repository.packages()).toEqual(before);
    expect(repository.run('test')).toEqual(ADD_FOR.test);
  });

  test('installs anew where npm ends well and has not added what is missing', () => {
    const repository = newRepository();
    repository.run('start');
    expect(repository.run('test', { npm: 'idle' })).toEqual([...ADD_FOR.test, ...CI_FOR.test]);
    expect(Object.keys(repository.packages())).toEqual(ALL);
  });
});
