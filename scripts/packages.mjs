// What the tests need of the system: found, or installed with the system's package manager where that is permitted.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** Where programs lie. */
const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin', '/opt/homebrew/bin'];

/** How to become root without a question: [] as root, sudo when it asks nothing, undefined otherwise. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return (await run('sudo', ['-n', 'true'], { quiet: true })).code === 0 ? ['sudo', '-n'] : undefined;
}

/**
 * Installs Debian packages. Answers undefined when they are there, else the reason why not, in one sentence.
 * @param {string[]} names
 */
export async function installPackages(names) {
  if (!existsSync('/usr/bin/apt-get')) return 'this system has no apt-get';
  const prefix = await rootPrefix();
  if (prefix === undefined) return 'installing packages needs root, or sudo without a password';
  process.stdout.write(`palisade: installing ${names.join(', ')} with apt-get...\n`);
  const apt = async (/** @type {string[]} */ args) => {
    const [command = '', ...rest] = [...prefix, 'apt-get', '-q', '-y', ...args];
    return await run(command, rest, { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } });
  };
  await apt(['update']);
  const { code, output } = await apt(['install', '--no-install-recommends', ...names]);
  return code === 0 ? undefined : `apt-get failed: ${output.trim().split('\n').at(-1) ?? ''}`;
}

const CHROMIUM_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Path of a Chromium, or the one line that says what to install. */
export async function findChromium() {
  const find = () => [process.env.CHROMIUM_PATH, ...CHROMIUM_PATHS].find((path) => path !== undefined && existsSync(path));
  const found = find();
  if (found !== undefined) return { path: found };
  const reason = await installPackages(['chromium']);
  const installed = find();
  if (installed !== undefined) return { path: installed };
  return {
    missing: `The browser journeys need Chromium (${reason ?? 'it was installed, but is not where it is looked for'}). Install the package "chromium", or set CHROMIUM_PATH to a Chromium or Chrome.`,
  };
}

/** Where server/test/redis.ts looks for it. */
const REDIS_PATHS = [
  '/usr/bin/redis-server',
  '/usr/bin/valkey-server',
  '/usr/local/bin/redis-server',
  '/opt/homebrew/bin/redis-server',
];

/** Path of a Redis or Valkey, or undefined. */
export const findRedis = () => REDIS_PATHS.find((path) => existsSync(path));

/** Folder of PostgreSQL's server programs, the newest version first, or undefined. */
export function findPostgres() {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return ['/usr/local/bin', '/opt/homebrew/bin', ...versions.map((version) => join(root, version, 'bin'))].findLast((folder) =>
    existsSync(join(folder, 'initdb')),
  );
}

/** Undefined when clamd and its test files are there for the tests, else why not, in one sentence. CI installs them; a person's machine gets no daemon unasked. */
export async function missingClamd() {
  const find = () => existsSync('/usr/sbin/clamd') && existsSync('/usr/share/clamav-testfiles');
  if (find()) return undefined;
  const packages = ['clamav-daemon', 'clamav-testfiles'];
  if (!process.env.CI) return `no clamd on this machine (install the packages ${packages.join(' and ')})`;
  const reason = await installPackages(packages);
  return find() ? undefined : `clamd could not be installed: ${reason ?? 'its programs were not found'}`;
}

/** Undefined when there is a Redis or Valkey for the tests, else why not, in one sentence. As with clamd, CI installs it. */
export async function missingRedis() {
  const find = () => findRedis() !== undefined;
  if (find()) return undefined;
  if (!process.env.CI) return 'no Redis on this machine (install the package redis-server, or valkey-server)';
  const reason = await installPackages(['redis-server']);
  return find() ? undefined : `Redis could not be installed: ${reason ?? 'its program was not found'}`;
}

/** Where server/test/dovecot.ts looks for it. */
const DOVECOT_PATHS = ['/usr/sbin/dovecot', '/usr/local/sbin/dovecot', '/opt/homebrew/sbin/dovecot'];

/** Undefined when there is an IMAP server for the tests, else why not, in one sentence. As with clamd, CI installs it. */
export async function missingDovecot() {
  const find = () => DOVECOT_PATHS.some((path) => existsSync(path));
  if (find()) return undefined;
  if (!process.env.CI) return 'no Dovecot on this machine (install the package dovecot-imapd)';
  const reason = await installPackages(['dovecot-imapd']);
  return find() ? undefined : `Dovecot could not be installed: ${reason ?? 'its program was not found'}`;
}

/** Where server/test/coturn.ts looks for the relay and its client. */
const COTURN_PATHS = ['/usr/bin/turnserver', '/usr/bin/turnutils_uclient'];

/** Undefined when there is a relay for the tests, else why not, in one sentence. As with clamd, CI installs it. */
export async function missingCoturn() {
  const find = () => COTURN_PATHS.every((path) => existsSync(path));
  if (find()) return undefined;
  if (!process.env.CI) return 'no coturn on this machine (install the package coturn)';
  const reason = await installPackages(['coturn']);
  return find() ? undefined : `coturn could not be installed: ${reason ?? 'its programs were not found'}`;
}

/** Where server/test/s3.ts looks for OpenStack Swift, whose S3 interface the tests speak with. */
const SWIFT = '/usr/lib/python3/dist-packages/swift/common/middleware/s3api/__init__.py';

/** Undefined when there is a server that speaks S3 for the tests, else why not, in one sentence. As with clamd, CI installs it. */
export async function missingS3() {
  const find = () => existsSync(SWIFT) && existsSync('/usr/bin/python3');
  if (find()) return undefined;
  if (!process.env.CI) return 'no S3 server on this machine (install the package python3-swift)';
  const reason = await installPackages(['python3-swift']);
  return find() ? undefined : `OpenStack Swift could not be installed: ${reason ?? 'its files were not found'}`;
}

/** Where server/test/proxies.ts looks for them, by the name of their package. */
const PROXY_PATHS = {
  nginx: ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/local/bin/nginx', '/opt/homebrew/bin/nginx'],
  caddy: ['/usr/bin/caddy', '/usr/local/bin/caddy', '/opt/homebrew/bin/caddy'],
  haproxy: ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/local/bin/haproxy', '/opt/homebrew/bin/haproxy'],
};

/** Undefined when nginx, Caddy and HAProxy are there for the tests, else which are not and why, in one sentence. As with clamd, CI installs them. */
export async function missingProxies() {
  const find = () =>
    Object.entries(PROXY_PATHS)
      .filter(([, paths]) => !paths.some((path) => existsSync(path)))
      .map(([name]) => name);
  const missing = find();
  if (missing.length === 0) return undefined;
  if (!process.env.CI) return `no ${missing.join(', no ')} on this machine (install the packages ${missing.join(' ')})`;
  const reason = await installPackages(missing);
  const still = find();
  return still.length === 0
    ? undefined
    : `${still.join(', ')} could not be installed: ${reason ?? 'the programs were not found'}`;
}

/** Undefined when Prometheus' own checker of metrics is there, else why not, in one sentence. As with clamd, CI installs it. */
export async function missingPromtool() {
  const find = () => PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, 'promtool')));
  if (find()) return undefined;
  if (!process.env.CI) return 'no promtool on this machine (install the package prometheus)';
  const reason = await installPackages(['prometheus']);
  return find() ? undefined : `promtool could not be installed: ${reason ?? 'it was not found'}`;
}

/** Undefined when all the programs are there, else which are not and why, in one sentence. CI installs them. @param {Readonly<Record<string, string>>} programs by the name of their package */
async function missingOf(programs) {
  const find = () =>
    Object.entries(programs)
      .filter(([, program]) => !PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, program))))
      .map(([name]) => name);
  const missing = find();
  if (missing.length === 0) return undefined;
  if (!process.env.CI) return `not on this machine: ${missing.join(', ')} (packages)`;
  const reason = await installPackages(missing);
  const still = find();
  return still.length === 0
    ? undefined
    : `${still.join(', ')} could not be installed: ${reason ?? 'the programs were not found'}`;
}

/** What tests of the device's firewall, and the journey of a device, need of a system, by the name of their package. */
export const KERNEL_PROGRAMS = {
  nftables: 'nft',
  iptables: 'iptables-restore',
  conntrack: 'conntrack',
  iproute2: 'ip',
  'util-linux': 'unshare',
  python3: 'python3',
  // What the command that a person copies runs, and what makes the certificate that it meets.
  curl: 'curl',
  openssl: 'openssl',
};

/** Undefined when rules can be loaded in namespaces of the tests' own, as far as programs go, else which are missing and why, in one sentence. As with clamd, CI installs them. */
export const missingKernelPrograms = () => missingOf(KERNEL_PROGRAMS);

/**
 * Programs that write or open files for the comparison of the scanner's readers (scanner/test/grammar), by the name of their package: all that a minimal Debian
 * is without.
 */
export const READERS = {
  python3: 'python3',
  openssl: 'openssl',
  gnupg: 'gpg',
  cpio: 'cpio',
  binutils: 'ar',
  e2fsprogs: 'mke2fs',
  'p7zip-full': '7z',
  'libarchive-tools': 'bsdtar',
  'poppler-utils': 'pdfdetach',
  qpdf: 'qpdf',
  mpack: 'munpack',
  ripmime: 'ripmime',
  uudeview: 'uudeview',
  tnef: 'tnef',
  cabextract: 'cabextract',
  unar: 'unar',
  arj: 'arj',
  genisoimage: 'genisoimage',
  'squashfs-tools': 'mksquashfs',
  mtools: 'mcopy',
  dosfstools: 'mkfs.vfat',
  ncompress: 'compress',
  unzip: 'unzip',
  zip: 'zip',
  zstd: 'zstd',
  lz4: 'lz4',
};

/** Undefined when the programs that the readers are compared with are there, else which are not and why, in one sentence. As with clamd, CI installs them. */
export const missingReaders = () => missingOf(READERS);

/** What a desktop in memory is made of, and what shows it, by the name of their packages. */
const DESKTOP_PROGRAMS = {
  xvfb: 'Xvfb',
  xterm: 'xterm',
  x11vnc: 'x11vnc',
  'tigervnc-scraping-server': 'x0vncserver',
  xdotool: 'xdotool',
};

/** Undefined when control of a desktop can be tried, else what is missing and why, in one sentence. As with clamd, CI installs it. */
export const missingDesktop = () => missingOf(DESKTOP_PROGRAMS);

/** What a desktop of Wayland in memory is made of, and what shows it, by the name of their packages. */
const WAYLAND_PROGRAMS = { sway: 'sway', wayvnc: 'wayvnc', foot: 'foot' };

/** Undefined when control of a desktop of Wayland can be tried, else what is missing and why, in one sentence. As with clamd, CI installs it. */
export const missingWayland = () => missingOf(WAYLAND_PROGRAMS);
