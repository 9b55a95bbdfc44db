// Table of the system programs that tests need. Each gate installs its programs with apt if possible; otherwise the tests that need a missing program are skipped.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** Folders that are searched for programs. */
const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** @param {string[]} names alternative names of one program, in order of preference @returns {string | undefined} its path */
const findProgram = (...names) =>
  names.flatMap((name) => PROGRAM_FOLDERS.map((folder) => join(folder, name))).find((path) => existsSync(path));

/** Folder of the newest installed PostgreSQL server programs, or undefined. */
export function findPostgres() {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(a) - Number(b)) : [];
  return ['/usr/local/bin', '/opt/homebrew/bin', ...versions.map((version) => join(root, version, 'bin'))].findLast((folder) =>
    existsSync(join(folder, 'initdb')),
  );
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

/** Path of a Chromium, or undefined. CHROMIUM_PATH takes precedence. */
const findChromium = () => [process.env.CHROMIUM_PATH, ...CHROMIUM_PATHS].find((path) => path !== undefined && existsSync(path));

/** Chromium without windows: journeys take three quarters of the time with it, but it cannot share a screen. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';

/** Environment variables for journeys (e2e/playwright.config.ts); undefined without Chromium. @returns {Record<string, string> | undefined} */
export function chromiumEnvironment() {
  const chromium = findChromium();
  return chromium && { CHROMIUM_PATH: chromium, CHROMIUM_OF_PAGES: existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : chromium };
}

/** Path of a Redis or Valkey, or undefined. */
export const findRedis = () => findProgram('redis-server', 'valkey-server');

/** Programs that write or read files for comparisons with the scanner's readers (scanner/test/grammar), by package name. */
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

/** Programs by the name of their package. @typedef {Readonly<Record<string, string>>} Programs */

/** Makes a need from packages with one program each. @param {Programs} programs @returns {Need} */
const ofPrograms = (programs) => ({
  packages: Object.keys(programs),
  isThere: () => Object.values(programs).every((program) => findProgram(program) !== undefined),
});

/**
 * The need of a group of tests: Debian packages, and a check whether their programs are installed.
 * @typedef {{ packages: string[], isThere: () => boolean }} Need
 */

/** Needs by the name in the title of a skipped test (`needs clamd`). @satisfies {Record<string, Need>} */
export const NEEDS = {
  Chromium: { packages: ['chromium'], isThere: () => findChromium() !== undefined },
  'a Chromium without windows': ofPrograms({ 'chromium-headless-shell': 'chromium-headless-shell' }),
  PostgreSQL: { packages: ['postgresql'], isThere: () => findPostgres() !== undefined },
  clamd: {
    packages: ['clamav-daemon', 'clamav-testfiles'],
    isThere: () => findProgram('clamd') !== undefined && existsSync('/usr/share/clamav-testfiles'),
  },
  Redis: { packages: ['redis-server'], isThere: () => findRedis() !== undefined },
  Dovecot: { packages: ['dovecot-imapd'], isThere: () => findProgram('dovecot') !== undefined },
  coturn: { packages: ['coturn'], isThere: () => findProgram('turnserver') !== undefined },
  'an S3 server': {
    packages: ['python3-swift'],
    isThere: () =>
      existsSync('/usr/bin/python3') && existsSync('/usr/lib/python3/dist-packages/swift/common/middleware/s3api/__init__.py'),
  },
  'nginx, Caddy and HAProxy': ofPrograms({ nginx: 'nginx', caddy: 'caddy', haproxy: 'haproxy' }),
  dig: ofPrograms({ 'bind9-dnsutils': 'dig' }),
  kdig: ofPrograms({ 'knot-dnsutils': 'kdig' }),
  dnsperf: ofPrograms({ dnsperf: 'dnsperf' }),
  'the stream module of nginx': {
    packages: ['libnginx-mod-stream'],
    isThere: () => existsSync('/usr/lib/nginx/modules/ngx_stream_module.so'),
  },
  promtool: ofPrograms({ prometheus: 'promtool' }),
  'a kernel with nftables': ofPrograms({
    nftables: 'nft',
    conntrack: 'conntrack',
    iptables: 'iptables',
    iproute2: 'ip',
    'util-linux': 'unshare',
    python3: 'python3',
    // The install command for a new device uses curl, and its test uses a certificate made by openssl.
    curl: 'curl',
    openssl: 'openssl',
  }),
  'a desktop of X11': ofPrograms({
    xvfb: 'Xvfb',
    xterm: 'xterm',
    x11vnc: 'x11vnc',
    'tigervnc-scraping-server': 'x0vncserver',
    xdotool: 'xdotool',
  }),
  'a desktop of Wayland': ofPrograms({ sway: 'sway', wayvnc: 'wayvnc', foot: 'foot' }),
  'other readers': ofPrograms(READERS),
  mmdebstrap: ofPrograms({ mmdebstrap: 'mmdebstrap' }),
  'mmdebstrap, dpkg-deb and rpmbuild': ofPrograms({ mmdebstrap: 'mmdebstrap', dpkg: 'dpkg-deb', rpm: 'rpmbuild' }),
  'an emulated arm64': ofPrograms({ mmdebstrap: 'mmdebstrap', 'qemu-user-static': 'qemu-aarch64-static' }),
  libfaketime: { packages: ['faketime'], isThere: () => findProgram('faketime') !== undefined },
};

/** Needs of the fast gate. The deep gate has all needs. @type {(keyof typeof NEEDS)[]} */
export const FAST_NEEDS = ['Chromium', 'PostgreSQL'];

/** Command prefix for root rights: [] as root, sudo if it asks for no password, otherwise undefined. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return (await run('sudo', ['-n', 'true'], { quiet: true })).code === 0 ? ['sudo', '-n'] : undefined;
}

/**
 * Installs missing packages of the needs with one apt call, if root rights, apt and the network allow it.
 * @param {(keyof typeof NEEDS)[]} names
 */
export async function install(names) {
  const packages = [...new Set(names.filter((name) => !NEEDS[name].isThere()).flatMap((name) => NEEDS[name].packages))];
  if (packages.length === 0) return;
  const prefix = existsSync('/usr/bin/apt-get') ? await rootPrefix() : undefined;
  if (prefix === undefined) return;
  process.stdout.write(`palisade: installing the Debian packages ${packages.join(', ')} for these tests...\n`);
  const apt = async (/** @type {string[]} */ args) => {
    const [command = '', ...rest] = [...prefix, 'apt-get', '-q', '-y', ...args];
    return await run(command, rest, { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } });
  };
  await apt(['update']);
  // Unknown packages are left out, because apt would otherwise install none.
  const known = [];
  for (const name of packages) if ((await run('apt-cache', ['show', name], { quiet: true })).code === 0) known.push(name);
  const { code, output } = await apt(['install', '--no-install-recommends', ...known]);
  if (code !== 0) process.stdout.write(`palisade: apt-get failed: ${output.trim().split('\n').at(-1) ?? ''}\n`);
}

/** One command that installs the needs of skipped tests; undefined if there is none. @param {string[]} needs names from the titles of skipped tests */
export function installHint(needs) {
  const packages = needs.flatMap((need) => (need in NEEDS ? NEEDS[/** @type {keyof typeof NEEDS} */ (need)].packages : []));
  return packages.length === 0
    ? undefined
    : `To run the skipped tests: sudo apt-get install -y ${[...new Set(packages)].join(' ')}`;
}
