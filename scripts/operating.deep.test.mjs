// Runs the commands of docs/operating.md, and those of the head of deploy/palisade.service, in order on a Debian of their own, as the users that the document names.
// systemd does not run there: `systemctl` is a stand-in that writes its arguments down, and the server is started as the unit says.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstScan, makeDebian, must, registrySettings, startServer } from './bare-machine.mjs';
import { ROOT } from './node-runtime.mjs';
import { NEEDS } from './packages.mjs';
import { freePort } from './postgres.mjs';
import { startS3 } from './s3.mjs';

/** Installing and building on a busy machine. ms. */
const PATIENCE_MS = 900_000;
const isPossible =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  process.getuid?.() === 0 &&
  NEEDS.mmdebstrap.isThere() &&
  NEEDS['an S3 server'].isThere();

const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');
const UNIT = read('deploy/palisade.service');
const HOME = '/opt/palisade';
const DATA = '/var/lib/palisade';
const TAG = 'v99.0.0';
const CACHE = '/root/.npm';

/** Words with a space between them that are no command. */
const NO_COMMANDS = new Set(['pair=5/10m, read=3000/1m', 'Authorization: Bearer', 'storage: low', 'store: away', 'clock: off']);
const isProgram = (/** @type {string} */ path) =>
  existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile() && (statSync(join(ROOT, path)).mode & 0o100) !== 0;

/** The commands of a document in its order: lines of its blocks without their comments, and words in the text that are a command. @param {string} text */
function commandsIn(text) {
  return text.split(/^```sh\n([\s\S]*?)^```$/m).flatMap((part, index) => {
    const is_block = index % 2 === 1;
    if (is_block)
      return part
        .trim()
        .split('\n')
        .map((line) => line.replace(/\s{2,}#.*$/, ''));
    const words = [...part.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
    return words.filter((word) => (word.includes(' ') || isProgram(word)) && !NO_COMMANDS.has(word));
  });
}

/**
 * A command of the document. `as` are the users that run it, one after the other, in the clone. `elsewhere` is the file that runs it in place of this one, or the reason why
 * it cannot run. `fill` puts values in place of examples, `input` is typed, and `says` is in the output.
 * @typedef {{ command: string, as?: string[], elsewhere?: string, before?: () => unknown, fill?: () => Record<string, string>, input?: string, says?: RegExp, after?: () => unknown }} Step
 */

/** The machine: one process in a mount and a process namespace, which others enter. */
const machine = { root: '', pid: 0, end: () => {} };
/** Arguments of nsenter for a program of a user. @param {string} user @param {string[]} command */
const inside = (user, command) => [
  ...['--target', `${machine.pid}`, '--mount', '--pid', '--root', '--wd'],
  ...['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', ...command],
];
const environment = () => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
  npm_config_cache: CACHE,
  npm_config_prefer_offline: 'true',
  ...registrySettings(),
});

/** Runs a line of shell in the clone, and answers its exit code and what it printed. @param {string} user @param {string} line @param {string} [input] */
async function shell(user, line, input = '') {
  const child = spawn('nsenter', inside(user, ['sh', '-c', `cd ${HOME} 2>/dev/null; ${line}`]), {
    env: { ...environment(), HOME: user === 'root' ? '/root' : DATA },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  // A program that reads nothing may be gone already.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, output };
}

/** Runs a line of shell that prepares something. @param {string} line */
async function prepare(line) {
  const { code, output } = await shell('root', line);
  if (code !== 0) throw new Error(`${line} failed: ${output}`);
  return output.trim();
}

/** @param {number} pid */
const childOf = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);

async function startMachine() {
  const place = mkdtempSync(join(tmpdir(), 'palisade-operating-'));
  const root = join(place, 'root');
  // Debian's Node with npm from the registry, as in the image: Debian's npm brings 400 packages. The lists of packages stay, for apt-get in it.
  makeDebian(root, ['ca-certificates', 'git', 'nodejs'], ['--skip=cleanup/apt/lists']);
  const npm = ['install', '--prefix', join(root, 'usr/local'), '--ignore-scripts', '--no-audit', '--no-fund', 'npm@10.9.9'];
  must('npm', npm);
  for (const [name, text] of Object.entries({
    npm: '#!/bin/sh\nexec node /usr/local/node_modules/npm/bin/npm-cli.js "$@"\n',
    systemctl: '#!/bin/sh\necho "$*" >> /root/systemctl\n',
  }))
    writeFileSync(join(root, 'usr/local/bin', name), text, { mode: 0o755 });
  must('git', ['clone', '--quiet', '--bare', '--no-hardlinks', ROOT, join(root, 'srv/palisade.git')]);
  // Packages that this machine fetched before are taken from its cache.
  const cache = must('npm', ['config', 'get', 'cache'], { cwd: place });
  for (const folder of [cache, join(root, CACHE)]) mkdirSync(folder, { recursive: true });
  const enter = `mount --make-rprivate / && mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount --bind "$2" "$1${CACHE}" && exec chroot "$1" sh -c 'echo ready; exec sleep infinity'`;
  const holder = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', root, cache], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  Object.assign(machine, {
    root,
    pid: childOf(holder.pid ?? 0),
    end() {
      holder.kill('SIGKILL');
      rmSync(place, { recursive: true, force: true });
    },
  });
}

/** The settings of /etc/palisade/palisade.env. @type {Record<string, string>} */
const settings = {};
/** @param {Record<string, string>} changed */
function configure(changed) {
  Object.assign(settings, changed);
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(machine.root, 'etc/palisade/palisade.env'), lines.join(''));
}

/** @type {Awaited<ReturnType<typeof startServer>> | undefined} */
let server;
/** Starts the server as the unit says. */
async function startUnit() {
  const [, user = ''] = /^User=(.*)$/m.exec(UNIT) ?? [];
  const [, fixed = ''] = /^Environment=(.*)$/m.exec(UNIT) ?? [];
  const [, program = '', script = ''] = /^ExecStart=(\S+) -c '(.*)'$/m.exec(UNIT) ?? [];
  // StateDirectory
  await prepare(`install -d -o ${user} -g ${user} -m 700 ${DATA}`);
  const of_unit = Object.fromEntries(fixed.split(' ').map((pair) => pair.split('=', 2)));
  server = await startServer('nsenter', inside(user, [program, '-c', `cd ${HOME}; umask 077; ${script.replaceAll('$$', '$')}`]), {
    env: { ...environment(), ...of_unit, ...settings },
  });
}
async function stopUnit() {
  const running = server;
  server = undefined;
  if (running === undefined) return;
  process.kill(childOf(running.pid), 'SIGTERM');
  expect(await running.ended).toBe(0);
}

const at = (/** @type {string} */ path) => `http://127.0.0.1:${settings['PORT']}${path}`;
/** Names of the engines that read a file of the first person. */
async function engines() {
  const person = { email: 'maria@example.com', password: 'a long enough password' };
  const json = { 'content-type': 'application/json' };
  const signed_in = await fetch(at('/api/auth/login'), { method: 'POST', headers: json, body: JSON.stringify(person) });
  const { access_token } = await signed_in.json();
  const form = new FormData();
  form.append('file', new Blob(['Good evening.\n']), 'second.txt');
  const headers = { authorization: `Bearer ${access_token}` };
  const scan = await (await fetch(at('/api/antivirus/scan'), { method: 'POST', headers, body: form })).json();
  return scan.engines.map((/** @type {{ name: string }} */ { name }) => name);
}

const digest = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex');
const LIST = `${digest('a listed file')},Listed\n`;
/** A feed of signatures that is the list. */
const feed = { url: '', end: () => {} };
async function startFeed() {
  const listening = createServer((_, answer) => void answer.end(LIST)).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  Object.assign(feed, { url: `http://127.0.0.1:${port}/list.csv`, end: () => void listening.close() });
}

/** Until both engines read, of which clamd passes a test first. */
const readByBoth = () =>
  expect.poll(engines, { timeout: 120_000, interval: 1_000 }).toEqual(expect.arrayContaining(['YARA-X', 'ClamAV']));

/** Output of the step before. */
let said = '';
const s3 = { url: '', end: () => {} };
/** Commit of the version that the upgrade takes. */
let newer = '';

/** The commands of the unit's head. @type {Step[]} */
const INSTALLING = [
  { command: 'useradd --system --home-dir /var/lib/palisade --shell /usr/sbin/nologin palisade', as: ['root'] },
  {
    command: 'git clone <repository> /opt/palisade && cd /opt/palisade && npm run build',
    as: ['root'],
    fill: () => ({ '<repository>': '/srv/palisade.git' }),
  },
  { command: 'ln -s /opt/palisade/bin/palisade /usr/local/bin/palisade', as: ['root'] },
  { command: 'install -D -g palisade -m 640 /dev/null /etc/palisade/palisade.env', as: ['root'] },
  {
    command: 'cp /opt/palisade/deploy/palisade.service /etc/systemd/system/ && systemctl enable --now palisade',
    as: ['root'],
    before: async () =>
      configure({
        PORT: `${await freePort()}`,
        PUBLIC_URL: 'https://palisade.example.com',
        ADMIN_EMAILS: 'maria@example.com',
        RESET_DELIVERY: 'outbox',
        SCANNER_URL: 'none',
        SIGNATURE_FEEDS: `sha256+${feed.url}#sha256=${digest(LIST)}`,
      }),
    async after() {
      expect(await prepare('cat /root/systemctl')).toBe('enable --now palisade');
      await startUnit();
      expect(await firstScan(at(''))).toEqual({ 'eicar.com': 'infected', 'letter.txt': 'clean' });
    },
  },
];

/** The commands of docs/operating.md. @type {Step[]} */
const OPERATING = [
  {
    command: 'palisade move-storage',
    as: ['palisade', 'root'],
    async before() {
      await stopUnit();
      configure({ STORAGE_URL: s3.url });
    },
    says: /\d files \(\d+ bytes\) moved, 0 failed/,
  },
  { command: 'ssh -L', elsewhere: 'needs a second machine' },
  { command: 'apt-get install clamav-daemon clamav-freshclam', as: ['root'], input: 'y\n' },
  { command: 'cp server/clamd/clamd.conf /etc/clamav/clamd.conf', as: ['root'] },
  {
    command: 'service clamav-daemon restart',
    as: ['root'],
    // In place of freshclam, which fetches 200 MB: the names that the service looks for, and one signature.
    before: () =>
      prepare(
        'cd /var/lib/clamav && mkdir -p main.inc daily.inc && echo 44d88612fea8a8f36de82e1278abb02f:68:Eicar > eicar.hdb && chown -R clamav .',
      ),
    says: /Starting ClamAV/,
    async after() {
      configure({ SCANNER_URL: 'clamd+unix:///run/clamav/clamd.ctl' });
      await startUnit();
      await readByBoth();
    },
  },
  { command: 'palisade accept-keys quarantine', as: ['palisade', 'root'], says: /^palisade: quarantine: the key in/ },
  { command: 'palisade update-signatures', as: ['palisade', 'root'], says: /^palisade: ok {5}http/ },
  { command: 'palisade verify', as: ['root', 'palisade'], says: /The audit log is intact/ },
  {
    command: 'palisade verify --head <head>',
    as: ['palisade'],
    fill: () => ({ '<head>': /later: (\S+)$/m.exec(said)?.[1] ?? '' }),
    says: /The audit log is intact/,
  },
  { command: 'palisade accept-keys audit', as: ['palisade', 'root'], says: /the log is accepted up to entry/ },
  { command: 'palisade outbox', as: ['palisade', 'root'], says: /^To: maria@example\.com$/m },
  { command: 'palisade help', as: ['palisade', 'root'], says: /^Usage: palisade/ },
  { command: 'bin/palisade', as: ['palisade', 'root'], says: /^Usage: palisade/ },
  { command: 'runuser -u palisade -- palisade help', as: ['root'], says: /^Usage: palisade/ },
  { command: 'docker exec <container> palisade help', elsewhere: 'scripts/check-image.mjs' },
  { command: 'npm run check:image', elsewhere: 'scripts/check-image.mjs' },
  { command: 'deploy/make-secrets.sh', as: ['root'], input: 'smtp://user:password@mail.example.com:587\n' },
  {
    command: 'gh attestation verify oci://<image>@<digest> --repo <owner>/<repository>',
    elsewhere: 'needs a released image and GitHub',
  },
  { command: 'npm run agent:packages', elsewhere: 'scripts/agent-packages.deep.test.mjs' },
  { command: 'install -d -o palisade -m 700 /var/backups/palisade', as: ['root'] },
  {
    command: 'palisade backup /var/backups/palisade',
    as: ['root', 'palisade'],
    says: /^palisade: Wrote \/var\/backups\/palisade\//,
  },
  {
    command: 'palisade restore /var/backups/palisade/palisade-2026-11-22T104500.tar',
    as: ['palisade'],
    async before() {
      await stopUnit();
      await prepare(`cd ${DATA} && find . -mindepth 1 -maxdepth 1 ! -name keys -exec rm -r {} +`);
    },
    fill: () => ({ 'palisade-2026-11-22T104500.tar': /Wrote \S+\/([^/\s]+\.tar):/.exec(said)?.[1] ?? '' }),
    says: /^palisade: All keys are in place/m,
  },
  { command: 'palisade verify', as: ['root', 'palisade'], says: /The audit log is intact/ },
  {
    command: 'palisade accept-keys audit',
    as: ['palisade'],
    says: /the log is accepted up to entry/,
    async after() {
      await startUnit();
      await readByBoth();
      await stopUnit();
    },
  },
  {
    command: 'git fetch --tags && git checkout v<version> && npm run build',
    as: ['root'],
    before() {
      const git = ['--git-dir', join(machine.root, 'srv/palisade.git'), '-c', 'user.name=a', '-c', 'user.email=a@example.com'];
      newer = must('git', [...git, 'commit-tree', '-p', 'HEAD', '-m', 'The next version', 'HEAD^{tree}']);
      must('git', [...git, 'tag', TAG, newer]);
    },
    fill: () => ({ 'v<version>': TAG }),
    async after() {
      await startUnit();
      const isReady = async () => await (await fetch(at('/api/ready'))).json();
      await expect
        .poll(isReady, { timeout: 120_000, interval: 500 })
        .toMatchObject({ status: 'ready', build: { commit: newer } });
      await readByBoth();
      await stopUnit();
      expect(await prepare(`find ${DATA} ! -user palisade`)).toBe('');
    },
  },
];

/** The commands in the head of the unit. */
const unitCommands = [...UNIT.slice(0, UNIT.indexOf('[Unit]')).matchAll(/^# {3}(.*)$/gm)].map(([, command]) => command);

test('docs/operating.md and the unit have the commands that run here, in this order', () => {
  const listed = (/** @type {Step[]} */ steps) => steps.map(({ command }) => command);
  expect(listed(INSTALLING)).toEqual(unitCommands);
  expect(listed(OPERATING)).toEqual(commandsIn(read('docs/operating.md')));
  const files = OPERATING.flatMap(({ elsewhere }) => (elsewhere?.startsWith('scripts/') ? [elsewhere] : []));
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

describe.runIf(isPossible)('on a Debian of its own', { timeout: PATIENCE_MS }, () => {
  beforeAll(async () => {
    const store = await startS3();
    if ('skipped' in store) throw new Error(store.skipped);
    Object.assign(s3, { url: store.url, end: store.stop });
    await startFeed();
    await startMachine();
  }, PATIENCE_MS);
  afterAll(async () => {
    machine.end();
    await server?.ended;
    await s3.end();
    feed.end();
  }, PATIENCE_MS);

  /** @param {Step} step */
  async function runStep({ command, as = [], before, fill, input, says = /(?:)/, after }) {
    await before?.();
    const line = Object.entries(fill?.() ?? {}).reduce((text, [example, value]) => text.replace(example, value), command);
    for (const user of as) {
      const { code, output } = await shell(user, line, input);
      if (code !== 0) throw new Error(`${line}, run by ${user}, ended with ${code}: ${output}`);
      expect(output).toMatch(says);
      expect(output).not.toContain('warning:');
      said = output;
    }
    await after?.();
  }

  test.each([...INSTALLING, ...OPERATING].filter(({ elsewhere }) => elsewhere === undefined))('$command', runStep);
});
