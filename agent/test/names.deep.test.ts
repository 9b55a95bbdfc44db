import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** `NAMES_TRIALS=1000` takes a quarter of an hour. */
const TRIALS = z.coerce.number().int().positive().default(36).parse(process.env['NAMES_TRIALS']);
const SEED = process.env['NAMES_SEED'] ?? '1';
/** The program of systemd-resolved: a given one, else the installed one. */
const RESOLVED = [process.env['SYSTEMD_RESOLVED'], '/usr/lib/systemd/systemd-resolved'].find((path) => path && existsSync(path));
const MS_PER_TRIAL = 20_000;

/** Files and network of its own. The disks are small, so that they fill in a moment. */
const SET_UP = `set -e
mount --make-rprivate /
kept=$(mktemp -d)
mount -t tmpfs -o mode=755,size=1m none "$kept"
for name in ld.so.cache ld.so.conf ld.so.conf.d passwd group services protocols; do cp -a "/etc/$name" "$kept" 2>/dev/null || true; done
echo 'hosts: files dns' > "$kept/nsswitch.conf"
echo '127.0.0.1 localhost' > "$kept/hosts"
echo 'systemd-resolve:x:996:996::/:/usr/sbin/nologin' >> "$kept/passwd"
echo 'systemd-resolve:x:996:' >> "$kept/group"
mkdir "$kept/systemd"
printf '[Resolve]\\nDNS=10.9.9.1\\n' > "$kept/systemd/resolved.conf"
mount --move "$kept" /etc
for folder in /run /var/lib; do mount -t tmpfs -o mode=755,size=1m none "$folder"; done
mkdir -p /run/systemd/resolve
chown 996:996 /run/systemd/resolve
ip link set lo up
ip link add name v0 type veth peer name v1
ip addr add 10.9.9.1/24 dev v0
ip link set v0 up
ip link set v1 up
exec "$@"`;

function probe(): string | undefined {
  if (process.platform !== 'linux') return 'this is no Linux';
  if (process.getuid?.() !== 0) return 'root alone gives a resolver its own user';
  const missing = ['unshare', 'ip', 'getent', 'curl'].filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  const tried = spawnSync('unshare', ['-m', '-n', 'true'], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no namespace can be made: ${tried.stderr.trim()}`;
}
const reason = probe();
if (reason !== undefined) process.stdout.write(`skipped, because names cannot be taken up here: ${reason}\n`);
else if (RESOLVED === undefined)
  process.stdout.write('systemd-resolved is not installed: names are taken up by the file alone\n');

const trialSchema = z.object({
  way: z.string(),
  fault: z.string(),
  was_on: z.boolean(),
  took: z.number().optional(),
  took_later: z.number().optional(),
  is_as_before: z.boolean(),
  said: z.string(),
});

test.skipIf(reason !== undefined)(
  'names work within 2 s whatever happens to the agent, and the settings from before come back',
  async () => {
    const program = new URL('./names-trials.ts', import.meta.url).pathname;
    const own = readlinkSync('/proc/self/ns/mnt');
    const words = [process.execPath, program, own, RESOLVED ?? '', `${TRIALS}`, SEED];
    const running = spawn('unshare', ['-m', '-n', 'sh', '-c', SET_UP, 'sh', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = (await text(running.stdout)).trim().split('\n');
    const trials = lines.map((line) => trialSchema.parse(JSON.parse(line)));
    const slowest = Math.max(...trials.map(({ took, took_later }) => Math.max(took ?? 0, took_later ?? 0)));
    const on = trials.filter(({ was_on }) => was_on).length;
    process.stdout.write(`${trials.length} trials, ${on} of them while on; slowest name ${Math.round(slowest)} ms\n`);
    expect(trials).toHaveLength(TRIALS);
    expect(trials.filter((trial) => trial.took === undefined || trial.took_later === undefined)).toEqual([]);
    expect(trials.filter(({ is_as_before }) => !is_as_before)).toEqual([]);
    expect(on).toBeGreaterThan(TRIALS / 5);
  },
  60_000 + TRIALS * MS_PER_TRIAL,
);
