// `npm run check:image`: builds deploy/Containerfile with buildah on a Debian made by mmdebstrap, then starts the server in it, scans a file, backs up, restores,
// and stops it. Needs root, and the Debian packages buildah and mmdebstrap. It takes minutes, so it is not part of `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

const place = mkdtempSync(join(tmpdir(), 'palisade-image-'));
const STORE = ['--root', join(place, 'store'), '--runroot', join(place, 'run'), '--storage-driver', 'vfs'];
const PORT = '39017';
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('');

/** @param {string} line @returns {never} */
function fail(line) {
  process.stdout.write(`palisade: ${line}\n`);
  cleanUp();
  process.exit(1);
}

/** Descendants of a process, deepest first: killing buildah's processes does not end the processes in the container. @param {number} pid @returns {number[]} */
function below(pid) {
  const { stdout } = spawnSync('ps', ['--ppid', String(pid), '--no-headers', '-o', 'pid'], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => [...below(Number(line)), Number(line)]);
}

/** @type {import('node:child_process').ChildProcess | undefined} */
let server;

function cleanUp() {
  if (server?.pid !== undefined && server.exitCode === null) {
    for (const pid of [...below(server.pid), server.pid]) process.kill(pid, 'SIGKILL');
  }
  spawnSync('buildah', [...STORE, 'rm', '--all'], { stdio: 'ignore' });
  rmSync(place, { recursive: true, force: true });
}

/** Runs a command and returns its output. If it fails, prints the output and exits. @param {string} command @param {string[]} args */
function must(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) fail(`${command} ${args.at(-1)} failed:\n${(stdout + stderr).split('\n').slice(-40).join('\n')}`);
  return stdout.trim();
}

/** @param {string} name @param {() => Promise<unknown>} look @param {() => boolean} hasEnded */
async function waitFor(name, look, hasEnded) {
  for (let left = 240; left > 0 && !hasEnded(); left -= 1) {
    if (await look().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  fail(`${name} did not come.`);
}

/** @param {string} path @param {RequestInit} [init] */
const ask = (path, init) => fetch(`http://127.0.0.1:${PORT}${path}`, init);

/** @param {string} path @param {unknown} body */
const post = (path, body) =>
  ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

for (const program of ['buildah', 'mmdebstrap']) {
  if (spawnSync(program, ['--version']).status !== 0) fail(`There is no ${program}: install the package ${program}.`);
}
const began = Date.now();
const base = join(place, 'debian.tar');
process.stdout.write('palisade: making a Debian base...\n');
must('mmdebstrap', ['--quiet', '--variant=minbase', '--include=ca-certificates', 'bookworm', base]);
const scratch = must('buildah', [...STORE, 'from', 'scratch']);
must('buildah', [...STORE, 'add', scratch, base, '/']);
must('buildah', [...STORE, 'commit', scratch, 'localhost/palisade-debian']);
rmSync(base);
process.stdout.write('palisade: building the image...\n');
// This machine's package registry and its certificates.
const npm = (/** @type {string} */ name) => must('npm', ['config', 'get', name]).split('\n').at(-1) ?? '';
const authorities = [npm('cafile'), process.env.NODE_EXTRA_CA_CERTS].find((path) => path !== undefined && existsSync(path));
const registry = join(place, 'npmrc');
writeFileSync(registry, `registry=${npm('registry')}\n${authorities === undefined ? '' : 'cafile=/authorities.crt\n'}`);
const volumes = ['--volume', `${registry}:/root/.npmrc:ro`];
if (authorities !== undefined) volumes.push('--volume', `${authorities}:/authorities.crt:ro`);
const build = ['--isolation', 'chroot', '--build-arg', 'BASE=localhost/palisade-debian', '--file', 'deploy/Containerfile'];
must('buildah', [...STORE, 'build', ...build, ...volumes, '--tag', 'localhost/palisade', '.']);
const image = must('buildah', [...STORE, 'from', 'localhost/palisade']);
const size = Number(
  must('buildah', [...STORE, 'inspect', '--type', 'image', '--format', '{{len .History}}', 'localhost/palisade']),
);
const data = join(place, 'data');
mkdirSync(data, { mode: 0o700 });
// The user of the image.
must('chown', ['10001', data]);
// The container runs with the user, folder and command of the image.
const inImage = ['run', '--isolation', 'chroot', '--volume', `${data}:/data`];
const settings = ['HOST=127.0.0.1', `PORT=${PORT}`, 'SCANNER_URL=none'].flatMap((one) => ['--env', one]);
server = spawn('buildah', [...STORE, ...inImage, ...settings, image, '--', 'node', 'server/dist/main.js'], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
await waitFor(
  'The server',
  async () => (await ask('/api/ready')).ok,
  () => server?.exitCode !== null,
);
const page = await ask('/');
if (!(await page.text()).includes('<div id="root"')) fail('The web application is not in the image.');
const notices = await (await ask('/third-party-notices.txt')).text();
if (!notices.startsWith('Notices of third parties')) fail('The notices of third parties are not in the image.');
const person = { email: 'boss@example.com', username: 'boss', password: 'a long enough password' };
await post('/api/auth/register', person);
const { access_token } = await (await post('/api/auth/login', person)).json();
const form = new FormData();
form.append('file', new Blob([EICAR]), 'eicar.com');
const scan = await ask('/api/antivirus/scan', {
  method: 'POST',
  body: form,
  headers: { authorization: `Bearer ${access_token}` },
});
const { scan_status } = await scan.json();
if (scan_status !== 'infected') fail(`The engine in the image says ${scan_status} of the test file.`);
/** @param {string[]} args */
const command = (...args) => must('buildah', [...STORE, ...inImage, ...settings, image, '--', ...args]);
const who = command('id', '-u');
if (who === '0') fail('The server runs as root.');
command('palisade', 'backup', '/data/backup.tar', '--with-keys');
command('env', 'DATA_DIR=/data/restored', 'BACKUP_KEY_FILE=/data/keys/backup.key', 'palisade', 'restore', '/data/backup.tar');
command('env', 'DATA_DIR=/data/restored', 'palisade', 'verify');
command('pg_dump', '--version');
const ended = new Promise((resolve) => server?.once('exit', resolve));
const node = below(server.pid ?? 0).find((pid) =>
  /^\S*\bnode\0server\/dist\/main\.js/u.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
);
if (node === undefined) fail('The server has ended by itself.');
process.kill(node, 'SIGTERM');
await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 45_000))]);
if (server.exitCode === null) fail('The server did not stop in 45 s.');
if (server.exitCode !== 0) fail(`The server stopped with ${server.exitCode}.`);
cleanUp();
process.stdout.write(
  `palisade: the image builds (${size} steps), runs as user ${who}, scans, backs up and restores (${Math.round((Date.now() - began) / 1_000)} s).\n`,
);
