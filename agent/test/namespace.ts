import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Network namespaces for tests that load rules. A namespace is held by a process that sleeps in it; commands are run in it by nsenter. Rules are never loaded in the namespace of process 1: `commandIn` looks at each use, and refuses.
 */
export interface Namespace {
  pid: number;
  /** Command prefix that runs a program inside. */
  command: readonly string[];
  /** Runs a program inside. @throws Error with what it said where it fails. */
  run(program: string, ...args: string[]): string;
  /** Starts one. */
  start(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess;
}

/** Way to make a namespace here: as root, or as a plain user who is root in a user namespace of their own. */
type Way = { unshare: readonly string[]; nsenter: readonly string[] };
const WAYS: readonly Way[] = [
  { unshare: ['unshare', '-n'], nsenter: ['-n'] },
  { unshare: ['unshare', '-rn'], nsenter: ['-U', '-n', '--preserve-credentials'] },
];

function probe(): { way: Way } | { reason: string } {
  const missing = ['unshare', 'nsenter', 'ip', 'nft'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length > 0) return { reason: `not installed: ${missing.join(', ')}` };
  let said = '';
  for (const way of WAYS) {
    const [program = '', ...args] = way.unshare;
    // A kernel without nf_tables can make a namespace and load nothing in it.
    const tried = spawnSync(program, [...args, 'nft', 'add', 'table', 'inet', 'palisade_probe'], { encoding: 'utf8' });
    if (tried.status === 0) return { way };
    said = tried.stderr.trim().split('\n')[0] ?? '';
  }
  return { reason: `no network namespace can be made, or nothing loaded in it: ${said}` };
}

const probed = probe();
/** Why tests that load rules cannot run here; undefined where they can. `REQUIRE_NETNS=1` makes it a failure. */
export const no_namespaces: string | undefined = 'reason' in probed ? probed.reason : undefined;
if (no_namespaces !== undefined) {
  if (process.env['REQUIRE_NETNS'] === '1') throw new Error(`REQUIRE_NETNS is set, and ${no_namespaces}`);
  process.stdout.write(`skipped, because tests of the kernel need network namespaces: ${no_namespaces}\n`);
}

const netOf = (pid: number | 'self') => readlinkSync(`/proc/${pid}/ns/net`);

/** The namespace of this machine itself, in which no rule is ever loaded. */
const HOST = netOf('self');
function hostsOwn(): ReadonlySet<string> {
  try {
    return new Set([HOST, readlinkSync('/proc/1/ns/net')]);
  } catch {
    // A plain user may not look at process 1.
    return new Set([HOST]);
  }
}

const holders = new Set<ChildProcess>();

function refuseHost(pid: number): void {
  if (hostsOwn().has(netOf(pid))) throw new Error('this is the network of the machine itself: nothing is loaded here');
}

function waitFor<T>(read: () => T | undefined, what: string): T {
  const until = Date.now() + 10_000;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const value = read();
    if (value !== undefined) return value;
    if (Date.now() > until) throw new Error(`waited in vain for ${what}`);
    Atomics.wait(gate, 0, 0, 2);
  }
}

/** Makes a namespace with its loopback up. `beside`: another one, whose user namespace it shares, so that the two can be joined. */
export function createNamespace(beside?: Namespace): Namespace {
  if ('reason' in probed) throw new Error(probed.reason);
  const { way } = probed;
  const [program = '', ...args] =
    beside === undefined || way.unshare[1] === '-n' ? way.unshare : [...beside.command, 'unshare', '-n'];
  const holder = spawn(program, [...args, 'sleep', 'infinity'], { stdio: 'ignore' });
  holders.add(holder);
  const pid = waitFor(() => {
    if (holder.pid === undefined) return undefined;
    try {
      return hostsOwn().has(netOf(holder.pid)) || (beside !== undefined && netOf(holder.pid) === netOf(beside.pid))
        ? undefined
        : holder.pid;
    } catch {
      return undefined;
    }
  }, 'a namespace');
  refuseHost(pid);
  const namespace = namespaceOf(pid, ['nsenter', '-t', `${pid}`, ...way.nsenter, '--']);
  namespace.run('ip', 'link', 'set', 'lo', 'up');
  return namespace;
}

function namespaceOf(pid: number, command: readonly string[]): Namespace {
  return {
    pid,
    command,
    run(name, ...rest) {
      refuseHost(pid);
      return execFileSync('nsenter', [...command.slice(1), name, ...rest], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    },
    start(name, rest, env = process.env) {
      refuseHost(pid);
      return spawn('nsenter', [...command.slice(1), name, ...rest], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    },
  };
}

/** Files of an untouched computer: its settings, its programs beside the system's, and what changes while it runs. */
const FRESH = `set -e
kept=$(mktemp -d)
mount -t tmpfs none "$kept"
cp -a /etc/. "$kept" 2>/dev/null || true
mount --move "$kept" /etc
rmdir "$kept"
for folder in /opt /usr/local/bin /var/lib /var/log /run; do
  [ -d "$folder" ] || continue
  mount -t tmpfs none "$folder"
done
rm -f /etc/resolv.conf
echo ready
exec sleep infinity`;

/**
 * A computer as it comes out of its box, in the network of a namespace: what is written below /etc, /opt, /usr/local/bin, /var and /run is in memory and its own.
 * @throws Error where the kernel refuses it
 */
export async function createComputer(namespace: Namespace): Promise<Namespace> {
  const holder = namespace.start('unshare', ['-m', 'sh', '-c', FRESH]);
  holders.add(holder);
  const { pid } = holder;
  let said = '';
  holder.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await new Promise<void>((resolve, reject) => {
    holder.stdout?.once('data', () => resolve());
    holder.once('exit', () => reject(new Error(`no fresh computer could be made: ${said}`)));
  });
  if (pid === undefined) throw new Error('no fresh computer could be made');
  return namespaceOf(pid, ['nsenter', '-t', `${pid}`, '-m', ...namespace.command.slice(3)]);
}

/** Joins two namespaces by a cable: `a` has 10.77.0.1 and fd77::1, `b` has 10.77.0.2 and fd77::2. */
export function join2(a: Namespace, b: Namespace): void {
  a.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${b.pid}`);
  for (const [namespace, last] of [
    [a, 1],
    [b, 2],
  ] as const) {
    namespace.run('ip', 'addr', 'add', `10.77.0.${last}/24`, 'dev', 'eth0');
    namespace.run('ip', '-6', 'addr', 'add', `fd77::${last}/64`, 'dev', 'eth0', 'nodad');
    namespace.run('ip', 'link', 'set', 'eth0', 'up');
  }
}

export function endNamespace(namespace: Namespace): void {
  for (const holder of holders) {
    if (holder.pid === namespace.pid) holder.kill('SIGKILL');
  }
}

/** A folder of the test's own. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-agent-'));
  folders.add(folder);
  return folder;
}
const folders = new Set<string>();

/** Ends all that was made here, for a program that is no test. */
export function endNamespaces(): void {
  for (const holder of holders) holder.kill('SIGKILL');
  holders.clear();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

process.once('exit', endNamespaces);
