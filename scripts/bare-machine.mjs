// Clean environments for tests of the README's commands: a folder of links as the only PATH, an empty HOME, an unprivileged user, a fresh clone.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

/** User id of the user nobody on Debian. */
const PLAIN_USER = 65534;

/** Runs a command. Throws with its error output if it fails. @param {string} command @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} [options] */
export function must(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { maxBuffer: 2 ** 28, ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? ''}${stdout}${stderr}`);
  return stdout.trim();
}

/** npm settings for reaching the registry from a machine without this machine's configuration. */
export function registrySettings() {
  const names = ['cafile', 'registry'];
  // npm reads the global configuration from a folder beside its Node, so it must not run on the packaged Node.
  const PATH = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter);
  const values = names.map((name) => must('npm', ['config', 'get', name], { cwd: ROOT, env: { ...process.env, PATH } }));
  return Object.fromEntries(
    names.flatMap((name, at) => (['', 'null'].includes(values[at] ?? '') ? [] : [[`npm_config_${name}`, values[at] ?? '']])),
  );
}

/** Copies the DNS settings and certificates with which this machine reaches registries into a root folder. @param {string} root */
export function shareNetwork(root) {
  for (const path of ['/etc/resolv.conf', '/etc/hosts', registrySettings()['npm_config_cafile'] ?? '']) {
    if (!existsSync(path)) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(path, join(root, path), { dereference: true });
  }
}

/** Installs Debian 12 into a folder. @param {string} root @param {string[]} packages @param {string[]} [options] of mmdebstrap */
export function makeDebian(root, packages, options = []) {
  const settings = ['--variant=minbase', '--aptopt=APT::Install-Recommends "false"', `--include=${packages.join(',')}`];
  must('mmdebstrap', [...settings, ...options, 'bookworm', root]);
  shareNetwork(root);
}

/** Clones the last commit into a folder that belongs to the unprivileged user. @param {string} place */
export function freshClone(place) {
  const clone = join(place, 'palisade');
  must('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone]);
  if (process.getuid?.() === 0) must('chown', ['-R', `${PLAIN_USER}:${PLAIN_USER}`, clone]);
  return clone;
}

/** Names of the programs in Debian's package coreutils. */
function coreutils() {
  const listed = must('dpkg', ['-L', 'coreutils']).split('\n');
  return listed.flatMap((path) => /^(?:\/usr)?\/bin\/([\w.[-]+)$/.exec(path)?.[1] ?? []);
}

/**
 * Makes a folder for PATH that contains only node, npm, git, sh and coreutils.
 * @param {string} place @param {{ node: string, npm: string }} programs `npm` is the path of npm-cli.js
 */
export function barePath(place, { node, npm }) {
  const folder = join(place, 'bin');
  mkdirSync(folder);
  const programs = ['git', 'sh', ...coreutils()];
  const found = readdirSync('/usr/bin').filter((name) => programs.includes(name));
  for (const name of found) symlinkSync(realpathSync(join('/usr/bin', name)), join(folder, name));
  if (!found.includes('sh')) symlinkSync('/bin/sh', join(folder, 'sh'));
  symlinkSync(node, join(folder, 'node'));
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\nexec node ${npm} "$@"\n`);
  chmodSync(join(folder, 'npm'), 0o755);
  return folder;
}

/** Makes an empty home folder of the unprivileged user. @param {string} place */
export function emptyHome(place) {
  const home = join(place, 'home');
  mkdirSync(home);
  if (process.getuid?.() === 0) must('chown', [`${PLAIN_USER}:${PLAIN_USER}`, home]);
  return home;
}

/** Spawn options for a process of the unprivileged user; empty if this process is not root. */
export const asPlainUser = () => (process.getuid?.() === 0 ? { uid: PLAIN_USER, gid: PLAIN_USER } : {});

/**
 * Starts the server with a command and waits for its address. On failure it throws with the whole output.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnOptions} options
 */
export async function startServer(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once('close', resolve));
  /** @type {Promise<string>} */
  const address = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes) => {
        output += bytes;
        const url = /Palisade runs at (\S+)/.exec(output)?.[1];
        if (url !== undefined) resolve(url);
      });
    ended.then((code) => reject(new Error(`the command ended with ${code}:\n${output}`)));
  });
  return {
    url: await address,
    pid: child.pid ?? 0,
    ended,
    output: () => output,
    /** Stops the server like `kill -TERM` of npm. `unshare` ignores SIGTERM while it waits for its child; SIGKILL ends both. @param {NodeJS.Signals} [signal] */
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return await ended;
    },
  };
}

/** Registers, signs in and scans two files, like a new user. Returns the verdicts by file name. @param {string} url */
export async function firstScan(url) {
  const json = { 'content-type': 'application/json' };
  const person = { email: 'maria@example.com', username: 'maria', password: 'a long enough password' };
  const page = await fetch(url);
  if (!page.ok || !(await page.text()).includes('<div id="root"')) throw new Error(`the page answered ${page.status}`);
  const registered = await fetch(`${url}/api/auth/register`, { method: 'POST', headers: json, body: JSON.stringify(person) });
  if (!registered.ok) throw new Error(`registering answered ${registered.status}`);
  const signedIn = await fetch(`${url}/api/auth/login`, { method: 'POST', headers: json, body: JSON.stringify(person) });
  const { access_token } = await signedIn.json();
  const authorization = `Bearer ${access_token}`;
  // The EICAR test file, assembled at runtime, so that no file of the project contains it.
  const eicar = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join('');
  for (const [name, content] of Object.entries({ 'eicar.com': eicar, 'letter.txt': 'Good day.\n' })) {
    const form = new FormData();
    form.append('file', new Blob([content]), name);
    const answer = await fetch(`${url}/api/antivirus/scan`, { method: 'POST', headers: { authorization }, body: form });
    if (!answer.ok) throw new Error(`the upload of ${name} answered ${answer.status}`);
  }
  const until = Date.now() + 60_000;
  for (;;) {
    const scans = await (await fetch(`${url}/api/antivirus/scans`, { headers: { authorization } })).json();
    const verdicts = Object.fromEntries(scans.map((/** @type {any} */ scan) => [scan.filename, scan.scan_status]));
    if (!Object.values(verdicts).includes('pending') || Date.now() > until) return verdicts;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
