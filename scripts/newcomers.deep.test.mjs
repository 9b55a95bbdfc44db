import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asPlainUser, emptyHome, freshClone, must, registrySettings } from './bare-machine.mjs';
import { NEEDS } from './packages.mjs';

/** The fast gate on two busy cores. ms. */
const PATIENCE_MS = 1_800_000;

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** Folders without which no optional program, compiler or package manager is found. The programs themselves are hidden by name. */
const HIDDEN_FOLDERS = [
  '/usr/lib/postgresql',
  '/usr/lib/python3',
  '/usr/share/clamav-testfiles',
  '/usr/lib/chromium',
  '/usr/lib/gcc',
];
const HIDDEN_PROGRAMS =
  /^(apt.*|python.*|gcc.*|g\+\+.*|cc|c\+\+|make|chromium.*|clamd|clam.*|freshclam|redis.*|valkey.*|dovecot|doveadm|turn.*|nginx|caddy|haproxy|prom.*|nft|conntrack|unshare|Xvfb|x11vnc|x0vncserver|xterm|xdotool|sway|wayvnc|foot|openssl|gpg|cpio|ar|mke2fs|7z.*|bsdtar|bsdcpio|pdf.*|qpdf|munpack|ripmime|uude.*|uuen.*|tnef|cabextract|unar|lsar|arj|genisoimage|mksquashfs|m?copy|mkfs.*|compress|unzip|zip|zstd|lz4|mmdebstrap|faketime|upx.*|curl|sudo)$/;

/** Puts folders of links over the machine's own, in this mount namespace alone, and runs a command. $1 is a folder; hidden programs, whose names match $2, have no link. */
const HIDE = `set -e
mount --make-rprivate /
place="$1/$$"; hidden=$2; shift 2
mkdir "$place"
for folder in bin sbin; do
  mkdir "$place/real-$folder" "$place/$folder"
  mount --bind "/usr/$folder" "$place/real-$folder"
  ls "$place/real-$folder" | grep -vE "$hidden" | sed "s|^|$place/real-$folder/|" | xargs -d '\\n' ln -s -t "$place/$folder"
  mount --bind "$place/$folder" "/usr/$folder"
done
# Links such as ../lib/node_modules/npm are relative to /usr/bin.
for folder in lib share libexec; do ln -s "/usr/$folder" "$place/$folder"; done
mkdir "$place/empty"
for folder in ${HIDDEN_FOLDERS.join(' ')}; do if [ -d "$folder" ]; then mount --bind "$place/empty" "$folder"; fi; done
exec "$@"`;

/**
 * The last lines of `npm test` in a fresh clone.
 * @param {object} run
 * @param {string[]} [run.around] a command that runs what follows it
 * @param {{ at: string, TZ: string }} [run.moment] another time. Packages are installed before it begins: certificates of registries are not valid for years.
 * @param {{ uid?: number, gid?: number }} [run.as]
 */
async function fastGate({ around = [], moment, as = {} }) {
  const place = mkdtempSync(join(tmpdir(), 'palisade-newcomer-'));
  must('chmod', ['755', place]);
  onTestFinished(() => rmSync(place, { recursive: true, force: true }), PATIENCE_MS);
  const temporary = join(place, 'tmp');
  mkdirSync(temporary, { mode: 0o777 });
  must('chmod', ['1777', temporary]);
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: emptyHome(place),
    TMPDIR: temporary,
    ...registrySettings(),
    ...(moment === undefined ? {} : { TZ: moment.TZ }),
  };
  const cwd = freshClone(place);
  const gate = [...around, 'npm', 'test'];
  if (moment !== undefined) {
    const [installer = '', ...rest] = [...around, 'node', 'scripts/bootstrap.mjs'];
    must(installer, rest, { cwd, env, ...as });
    // An offset is the same for all processes; from a moment, each process would begin anew.
    gate.unshift('faketime', '-f', `+${Math.round((Date.parse(moment.at) - Date.now()) / 1_000)}`);
  }
  const [program = '', ...args] = gate;
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...as });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const closing = output.slice(output.lastIndexOf('\n== result'));
  // The output of a failed run is shown and names the failure.
  if (code !== 0) process.stdout.write(output);
  process.stdout.write(closing);
  return { code, closing };
}

/** Runs what follows without any optional program. */
function withoutPrograms() {
  const place = mkdtempSync(join(tmpdir(), 'palisade-hidden-'));
  must('chmod', ['755', place]);
  onTestFinished(() => rmSync(place, { recursive: true, force: true }), PATIENCE_MS);
  return ['unshare', '--mount', 'sh', '-c', HIDE, 'sh', place, HIDDEN_PROGRAMS.source];
}

/** Other moments, by the clock of a place. */
const MOMENTS = [
  { when: 'on the last day of February 2031', at: '2031-03-01T03:25:00Z', TZ: 'America/St_Johns' },
  { when: 'while the clocks go forward', at: '2031-03-30T00:55:00Z', TZ: 'Europe/Berlin' },
];
const SAID = /needs Chromium[\s\S]*To run the skipped tests: sudo apt-get install -y [\s\S]* 0 failed, /;

/** One run stands for all: what differs on a newcomer's machine differs at once. NEWCOMERS=apart says which of them fails. */
const isTogether = process.env.NEWCOMERS !== 'apart';

describe.runIf(isRoot && isTogether && NEEDS.libfaketime.isThere())('npm test in a fresh clone', { timeout: PATIENCE_MS }, () => {
  test('passes for a plain user without any optional program, while the clocks go forward', async () => {
    const { uid, gid } = asPlainUser();
    const plain = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    const { code, closing } = await fastGate({ around: [...withoutPrograms(), ...plain], moment: MOMENTS[1] });
    expect(code).toBe(0);
    expect(closing).toMatch(SAID);
  });
});

describe.runIf(isRoot && !isTogether)('npm test in a fresh clone', { timeout: PATIENCE_MS }, () => {
  test('passes without any optional program, and says what it skipped', async () => {
    const { code, closing } = await fastGate({ around: withoutPrograms() });
    expect(code).toBe(0);
    expect(closing).toMatch(SAID);
  });

  test('passes for a plain user', async () => {
    const { code, closing } = await fastGate({ as: asPlainUser() });
    expect(code).toBe(0);
    expect(closing).toMatch(/ 0 failed, /);
  });

  test.runIf(NEEDS.libfaketime.isThere()).each(MOMENTS)('passes $when', async (moment) => {
    const { code, closing } = await fastGate({ moment });
    expect(code).toBe(0);
    expect(closing).toMatch(/ 0 failed, /);
  });
});
