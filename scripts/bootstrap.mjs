// Plain JavaScript for any Node >= 18: makes a fresh clone runnable. `--build` builds as well. Up-to-date parts are left alone. `--production` installs only what building and
// running need, and leaves alone the tools of tests and checks that an earlier run brought.
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
/** npm's list of the packages in node_modules. npm writes it when it has put all of them in place. */
const LISTED = join(PACKAGES, '.package-lock.json');
/** Is there while npm changes node_modules, and has the ids of the processes. After an interruption no package in node_modules is trusted. */
const CHANGING = join(ROOT, '.installing');
/** Holds the id of the one command that installs and builds here. */
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

/** @param {string} path @returns {string} empty where there is no such file */
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
  // Put in place whole, and in place of a file that other copies of the tree may be linked to.
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** @param {string} path of a lock file @returns {[string, any][]} its packages, without the workspaces and their links */
function packagesOf(path) {
  const { packages } = JSON.parse(read(path) || '{"packages":{}}');
  return Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && link !== true);
}

/** The C library of this machine by npm's name; undefined beyond Linux. */
function ownLibc() {
  if (process.platform !== 'linux') return undefined;
  // Its part on the network may take seconds.
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
 * Whether node_modules has the locked packages already, by the list that npm keeps there: only a workspace changed. Optional packages of other
 * platforms are missing everywhere.
 * @param {boolean} with_tools whether packages that only tests and checks need count
 * @param {string} [libc] counts packages for this C library as well, which npm 9 leaves out; Palisade runs without them
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

/** The workspaces' links among the packages, as npm makes them. */
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

/** Answers whether a process still installs. Another program may have its id by now. @param {number} id */
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
 * Answers whether a process whose id stands in a file still installs. A file is not believed for more than an hour: other processes may have its ids by then.
 * @param {string} path
 */
function isHeld(path) {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - changed < HELD_MS && read(path).split(' ').map(Number).some(isInstalling);
}

/** Removes the file of a command that was killed. It is moved first: if another command has taken its place meanwhile, that command's file goes back. */
function clearTurn() {
  const moved = `${TURN}.${process.pid}`;
  try {
    renameSync(TURN, moved);
  } catch {
    // There is none, or another command has moved it.
    return;
  }
  if (isHeld(moved)) renameSync(moved, TURN);
  else rmSync(moved);
}

/** Takes the turn where no other command has it. Answers whether it did. */
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
  // Another command moves a file away in which it has not yet read an id.
  return read(TURN) === `${process.pid}`;
}

/** Waits until this command is the only one here: two at once would change what the other one makes. An npm whose command was killed is waited for as well. */
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

/** @param {boolean} wants_tools whether this run needs the packages of tests and checks as well */
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

/** Adds to node_modules what it lacks; where that does not give the locked packages, installs all of them again. @param {boolean} with_tools */
async function installPackages(with_tools) {
  const sets = [with_tools ? '--include=dev' : '--omit=dev', '--include=optional'];
  if (existsSync(LISTED)) {
    process.stdout.write('palisade: installing what is missing...\n');
    const node = findNode();
    const code = await npm(['install', '--no-save', ...sets], node === undefined ? [] : [dirname(node)]);
    if (code === 0 && isInstalled(with_tools)) return proveNativePackages();
    if (code !== 0) {
      // npm has put back what it had changed, unless it was killed.
      if (code !== null) rmSync(CHANGING);
      fail(`npm install failed; ${ADVICE}`);
    }
    process.stdout.write('palisade: Not all packages could be added. They are installed anew.\n');
  }
  process.stdout.write('palisade: installing (once, about half a minute)...\n');
  if ((await npm(['ci', ...sets])) !== 0) fail(`npm ci failed; ${ADVICE}`);
  // npm silently leaves out an optional package that refuses the Node that npm runs on. Run again on the packaged Node, it adds what is missing.
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

/** Stops with the sentences of scripts/native-packages.mjs where a binary does not load. */
function proveNativePackages() {
  const node = findNode();
  if (node === undefined) return;
  const { status } = spawnSync(node, [join(ROOT, 'scripts', 'native-packages.mjs')], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(1);
}

/**
 * Runs npm without the scripts of packages. Every package brings its binary, but npm compiles each one that has a `binding.gyp`, and a machine without Python and a compiler
 * fails at it.
 * @param {string[]} command @param {string[]} [first] folders before those of the PATH @returns {Promise<number | null>} the exit code
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

/** The table of leaked passwords is made, not kept with the source. @param {string} node */
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
 * `npm start` begins with `exec`, so that no shell stands between npm and the server and a signal to npm reaches it. Windows knows neither the word nor the
 * signals: there a file of that name runs the rest of the line.
 */
function installExec() {
  if (process.platform !== 'win32') return;
  writeFileSync(join(PACKAGES, '.bin', 'exec.cmd'), '@%*\r\n');
}

/**
 * The packaged Node on the path of npm's scripts. npm makes this link itself, but npm 10 takes it away when it runs a second time on another Node.
 * @param {string} node
 */
function linkNode(node) {
  const link = join(PACKAGES, '.bin', 'node');
  if (process.platform === 'win32' || !node.startsWith(PACKAGES) || existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), node), link);
}

/** The pre-commit hook of a working copy: checks what changed. */
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
