import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { firstScan, must, registrySettings, shareNetwork, startServer } from './bare-machine.mjs';
import { ROOT } from './node-runtime.mjs';
import { NEEDS } from './packages.mjs';

// npm start on a Debian for arm64 whose programs qemu emulates. No package is configured, which would take foreign programs and an hour.

/** Installing and building by emulated programs. ms. */
const PATIENCE_MS = 3_600_000;
const NEED = 'an emulated arm64';
const isPossible = process.platform === 'linux' && process.arch === 'x64' && process.getuid?.() === 0 && NEEDS[NEED].isThere();

/** The programs of `npm start`, and the shell of npm. */
const PACKAGES = [
  ...['nodejs', 'npm', 'git', 'ca-certificates', 'libstdc++6', 'base-files', 'base-passwd', 'libc-bin'],
  ...['dash', 'coreutils', 'sed', 'grep', 'findutils', 'tar', 'gzip', 'util-linux'],
];
/** The first bytes of a program for arm64, and which of their bits count (elf(5)). */
const MAGIC = String.raw`\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`;
const MASK = String.raw`\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff`;
/** Has the kernel start programs for arm64 with qemu, in this user namespace alone (Linux 6.7 or newer), and runs the command $2 in the folder $1. */
const ENTER = `set -e
mount --make-rprivate /
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
printf '%s' ':qemu-aarch64:M::${MAGIC}:${MASK}:/usr/bin/qemu-aarch64-static:FP' > /proc/sys/fs/binfmt_misc/register
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
exec chroot "$1" /bin/sh -c "$2"`;
const NAMESPACES = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child'];

/** A Debian for arm64 with these packages unpacked, and the means of this machine to reach the registry. */
function newRoot() {
  const place = mkdtempSync(join(tmpdir(), 'palisade-arm64-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }), PATIENCE_MS);
  const root = join(place, 'root');
  must('mmdebstrap', [
    '--architectures=arm64',
    '--variant=extract',
    `--include=${PACKAGES.join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    'bookworm',
    root,
  ]);
  for (const folder of ['proc', 'sys', 'srv', 'root', 'dev']) mkdirSync(join(root, folder), { recursive: true });
  if (!existsSync(join(root, 'bin/sh'))) symlinkSync('dash', join(root, 'bin/sh'));
  // The scripts of base-passwd, which are not run, make these.
  for (const name of ['passwd', 'group'])
    copyFileSync(join(root, `usr/share/base-passwd/${name}.master`), join(root, 'etc', name));
  shareNetwork(root);
  return root;
}

test.runIf(isPossible)(
  'npm start runs on an emulated arm64, to a page and a true verdict',
  { timeout: PATIENCE_MS },
  async () => {
    const root = newRoot();
    must('git', ['clone', '--quiet', '--no-hardlinks', ROOT, join(root, 'srv/palisade')]);
    writeFileSync(join(root, 'srv/start'), 'cd /srv/palisade && exec npm start\n');
    const command = ['sh', '-c', ENTER, 'sh', root, '. /srv/start'];
    const server = await startServer('unshare', [...NAMESPACES, ...command], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', PORT: '0', ...registrySettings() },
    });
    expect(await firstScan(server.url)).toEqual({ 'eicar.com': 'infected', 'letter.txt': 'clean' });
    await server.stop('SIGKILL');
  },
);
