// Plain JavaScript for any Node >= 18: installs what a fresh clone needs. `--build` also builds. Up-to-date parts are skipped. `--production` installs only the packages for building and
// running, and keeps installed tools for tests and checks.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findNode, LEAST_NODE, ROOT } from './node-runtime.mjs';

const PACKAGES = join(ROOT, 'node_modules');
const INSTALLED = join(PACKAGES, '.stamp');
/** npm's list of the packages in node_modules. npm writes it after it has installed all of them. */
const LISTED = join(PACKAGES, '.package-lock.json');
/** Exists while npm changes node_modules, and contains the ids of the processes. If it is left over from an interruption, node_modules is not trusted. */
const CHANGING = join(ROOT, '.installing');
/** Lock file with the id of the process that installs and builds here. */
const TURN = join(ROOT, '.preparing');
const ADVICE = 'its own message is above. Check the network and the disk space, then run the command again.';
const LOOK_AGAIN_MS = 200;
const HELD_MS = 60 * 60_000;
const LEAKED = join(ROOT, 'server', 'passwords', 'leaked.bin');
const LEAKED_FROM = ['package-lock.json', 'scripts/leaked-passwords.mjs'];
const BUILT = join(ROOT, 'server', 'dist', '.stamp');
const BUILT_FROM = [
  'package-lock.json',
  'scripts/build.mjs',
  'scripts/entry-points.mjs',
  'scripts/icons.mjs',
  'contract/src',
  'contract/package.json',
  'scanner/src',
  'scanner/package.json',
  'scam/src',
  'scam/package.json',
  'names/src',
  'names/package.json',
  'scripts/agent-package.mjs',
  'agent/src',
  'agent/install',
  'agent/package.json',
  'server/signatures/rules',
  'server/src',
  'server/migrations',
  'server/package.json',
  'web/icons.json',
  'web/index.html',
  'web/package.json',
  'web/public',
  'web/src',
  'web/vite.config.ts',
];

/** @param {string} line @returns {never} */
function fail(line) {
  process.stderr.write(`palisade: ${line}\n`);
  process.exit(1);
}

/** @param {string} path @returns {string} empty if there is no such file */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** @param {string} path @returns {string[]} files at or below, in a stable order */
function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/** @param {string[]} paths */
function digest(paths) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const path of paths.flatMap((name) => filesBelow(join(ROOT, name)))) {
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

/** @param {string} path @param {string} text */
function stamp(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  // Replaced atomically, and not written in place, because the file may be hard-linked from other copies of the tree.
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** @param {string} path of a lock file @returns {[string, any][]} its packages, without the workspaces and their links */
function packagesOf(path) {
  const { packages } = JSON.parse(read(path) || '{"packages":{}}');
  return Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && link !== true);
}

/** Name of this machine's C library in npm's terms; undefined on systems other than Linux. */
function ownLibc() {
  if (process.platform !== 'linux') return undefined;
  // The network part of the report may take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = /** @type {any} */ (process.report.getReport());
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

/** @param {{ os?: string[], cpu?: string[], libc?: string[] }} locked @param {string} [libc] */
function isForHere({ os, cpu, libc: wanted }, libc) {
  const has_libc = wanted === undefined || (libc !== undefined && wanted.includes(libc));
  return os?.includes(process.platform) && cpu?.includes(process.arch) && has_libc;
}

/**
 * Whether node_modules contains the locked packages, by npm's list: then at most a workspace has changed. Optional packages of other
 * platforms do not count.
 * @param {boolean} with_tools whether development packages count
 * @param {string} [libc] also counts packages for this C library. npm 9 does not install them; Palisade works without them
 */
function isInstalled(with_tools, libc) {
  const wanted = new Map(packagesOf(join(ROOT, 'package-lock.json')));
  const there = new Map(packagesOf(LISTED));
  const same = (/** @type {string} */ place) =>
    wanted.get(place)?.version === there.get(place)?.version && wanted.get(place)?.integrity === there.get(place)?.integrity;
  return (
    there.size > 0 &&
    [...there.keys()].every(same) &&
    [...wanted].every(
      ([place, { dev, optional, ...locked }]) =>
        there.has(place) || (dev === true && !with_tools) || (optional === true && !isForHere(locked, libc)),
    )
  );
}

/** Links the workspaces into node_modules, as npm does. */
function linkWorkspaces() {
  const { workspaces } = JSON.parse(read(join(ROOT, 'package.json')));
  for (const workspace of workspaces) {
    const { name } = JSON.parse(read(join(ROOT, workspace, 'package.json')));
    const link = join(PACKAGES, name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(process.platform === 'win32' ? join(ROOT, workspace) : join('..', '..', workspace), link, 'junction');
  }
}

/** Whether a process is still installing. Its id may have been reused by another program. @param {number} id */
function isInstalling(id) {
  if (id === 0 || id === process.pid) return false;
  try {
    process.kill(id, 0);
    return process.platform !== 'linux' || /npm|bootstrap/.test(read(`/proc/${id}/cmdline`));
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * Whether a process whose id is in a lock file is still installing. A file expires after an hour, because its ids may have been reused.
 * @param {string} path
 */
function isHeld(path) {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - changed < HELD_MS && read(path).split(' ').map(Number).some(isInstalling);
}

/** Removes the lock file of a killed command. The file is renamed first: if it turns out to belong to a running command, it is renamed back. */
function clearTurn() {
  const moved = `${TURN}.${process.pid}`;
  try {
    renameSync(TURN, moved);
  } catch {
    // There is no lock file, or another command has renamed it.
    return;
  }
  if (isHeld(moved)) renameSync(moved, TURN);
  else rmSync(moved);
}

/** Tries to take the lock. Returns whether it succeeded. */
function tryTurn() {
  if (isHeld(TURN) || isHeld(CHANGING)) return false;
  clearTurn();
  try {
    writeFileSync(TURN, `${process.pid}`, { flag: 'wx' });
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== 'EEXIST') fail(`This folder can’t be written to: ${message}.`);
    return false;
  }
  // Verified by reading it back, because another command may have removed the file before the id was written.
  return read(TURN) === `${process.pid}`;
}

/** Waits for the lock, because concurrent commands would change each other's files. It also waits for an npm process whose parent command was killed. */
async function takeTurn() {
  for (let is_first = true; !tryTurn(); is_first = false) {
    if (is_first) process.stdout.write('palisade: waiting for another installation...\n');
    await sleep(LOOK_AGAIN_MS);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  process.once('exit', () => {
    if (read(TURN) === `${process.pid}`) rmSync(TURN);
  });
}

/** @param {boolean} wants_tools whether this run also needs development packages */
async function install(wants_tools) {
  if (existsSync(CHANGING)) rmSync(LISTED, { force: true });
  const with_tools = wants_tools || packagesOf(LISTED).some(([, { dev }]) => dev === true);
  const wanted = `${digest(['package-lock.json'])}${with_tools ? ' with tools' : ''}`;
  if (!existsSync(LISTED) || read(INSTALLED) !== wanted) {
    rmSync(INSTALLED, { force: true });
    if (!isInstalled(with_tools)) {
      writeFileSync(CHANGING, `${process.pid}`);
      await installPackages(with_tools);
      rmSync(CHANGING);
    }
  }
  linkWorkspaces();
  stamp(INSTALLED, wanted);
}

/** Adds missing packages to node_modules. If the result differs from the lock file, installs all packages again. @param {boolean} with_tools */
async function installPackages(with_tools) {
  const sets = [with_tools ? '--include=dev' : '--omit=dev', '--include=optional'];
  if (existsSync(LISTED)) {
    process.stdout.write('palisade: installing what is missing...\n');
    const node = findNode();
    const code = await npm(['install', '--no-save', ...sets], node === undefined ? [] : [dirname(node)]);
    if (code === 0 && isInstalled(with_tools)) return proveNativePackages();
    if (code !== 0) {
      // After a failure npm has rolled back its changes, unless it was killed.
      if (code !== null) rmSync(CHANGING);
      fail(`npm install failed; ${ADVICE}`);
    }
    process.stdout.write('palisade: Not all packages could be added. They are installed anew.\n');
  }
  process.stdout.write('palisade: installing (once, about half a minute)...\n');
  if ((await npm(['ci', ...sets])) !== 0) fail(`npm ci failed; ${ADVICE}`);
  // npm silently skips an optional package that does not support npm's Node. A second run on the packaged Node adds it.
  const node = findNode();
  const is_older = Number(process.versions.node.split('.', 1)[0]) < LEAST_NODE;
  if (
    is_older &&
    node !== undefined &&
    !isInstalled(with_tools, ownLibc()) &&
    (await npm(['install', '--no-save', ...sets], [dirname(node)])) !== 0
  )
    fail(`npm install failed; ${ADVICE}`);
  proveNativePackages();
}

/** Exits with the messages of scripts/native-packages.mjs if a binary does not load. */
function proveNativePackages() {
  const node = findNode();
  if (node === undefined) return;
  const { status } = spawnSync(node, [join(ROOT, 'scripts', 'native-packages.mjs')], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(1);
}

/**
 * Runs npm without install scripts of packages. All packages include binaries, but npm would compile those with a `binding.gyp`, which fails on a machine without Python and a
 * compiler.
 * @param {string[]} command @param {string[]} [first] folders to put before PATH @returns {Promise<number | null>} the exit code
 */
async function npm(command, first = []) {
  const options = ['--ignore-scripts', '--loglevel=error', '--no-fund', '--no-audit'];
  const child = spawn('npm', [...command, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
    env: { ...process.env, PATH: [...first, process.env.PATH ?? ''].join(delimiter) },
  });
  child.once('error', (error) => fail(`npm could not be run: ${error.message}. Install npm 9 or newer.`));
  if (child.pid !== undefined) writeFileSync(CHANGING, `${process.pid} ${child.pid}`);
  return await new Promise((resolve) => child.once('close', resolve));
}

/** Makes the table of leaked passwords, which is not in the repository. @param {string} node */
function tabulate(node) {
  const made = `${LEAKED}.stamp`;
  const wanted = digest(LEAKED_FROM);
  if (read(made) === wanted && existsSync(LEAKED)) return;
  const run = spawnSync(node, [join(ROOT, 'scripts', 'leaked-passwords.mjs')], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (run.status !== 0) fail('The table of leaked passwords could not be made; see above.');
  stamp(made, wanted);
}

/** @param {string} node */
function build(node) {
  const wanted = digest(BUILT_FROM);
  if (read(BUILT) === wanted && existsSync(join(ROOT, 'web', 'dist', 'index.html'))) return;
  process.stdout.write('palisade: building...\n');
  const run = spawnSync(node, [join(ROOT, 'scripts', 'build.mjs')], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (run.status !== 0) fail('The build failed; its own message is above.');
  stamp(BUILT, wanted);
}

/**
 * `npm start` uses `exec`, so that there is no shell between npm and the server, and signals to npm reach the server. Windows has neither `exec` nor these
 * signals: there this file named `exec` runs the rest of the line.
 */
function installExec() {
  if (process.platform !== 'win32') return;
  writeFileSync(join(PACKAGES, '.bin', 'exec.cmd'), '@%*\r\n');
}

/**
 * Links the packaged Node into the PATH of npm's scripts. npm makes this link itself, but npm 10 removes it when it runs again on another Node.
 * @param {string} node
 */
function linkNode(node) {
  const link = join(PACKAGES, '.bin', 'node');
  if (process.platform === 'win32' || !node.startsWith(PACKAGES) || existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), node), link);
}

/** Installs the pre-commit hook, which checks the changes. */
function installHooks() {
  if (process.env.CI || !existsSync(join(ROOT, '.git'))) return;
  spawnSync('git', ['config', '--local', 'core.hooksPath', '.githooks'], { cwd: ROOT, stdio: 'ignore' });
}

if (Number(process.versions.node.split('.', 1)[0]) < 18)
  fail(`Node ${process.versions.node} is too old. Install Node 18 or newer.`);
await takeTurn();
await install(!process.argv.includes('--production'));
const node = findNode();
if (node === undefined) {
  fail(
    `There is no packaged Node for ${process.platform} ${process.arch} that runs here. Install Node ${LEAST_NODE} or newer and try again.`,
  );
}
linkNode(node);
installExec();
installHooks();
tabulate(node);
if (process.argv.includes('--build')) build(node);
