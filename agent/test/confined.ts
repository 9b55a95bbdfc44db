import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/**
 * A computer of its own for tests that attack the agent: user and mount namespaces in which /home, /tmp, /etc, /var/lib and /run are in memory, with the people anna (1000) and
 * ben (1001). The agent runs in it with exactly the capabilities of its unit; attackers run as a person without any. The outside stays unchanged.
 */

export const ANNA = 1_000;
const UNIT = new URL('../install/palisade-agent.service', import.meta.url);
const ATTACKER = new URL('./attacker.py', import.meta.url);
const PYTHON = '/usr/bin/python3';

/** Every capability that the unit's bounding set names, for setpriv(1). */
export const unitsCapabilities = () =>
  /^CapabilityBoundingSet=(.*)$/mu
    .exec(readFileSync(UNIT, 'utf8'))?.[1]
    ?.split(' ')
    .map((name) => `+${name.replace('CAP_', '').toLowerCase()}`)
    .join(',') ?? '';

function probe(): string | undefined {
  if (process.platform !== 'linux') return 'this is no Linux';
  if (process.getuid?.() !== 0) return 'several users can be mapped into a user namespace by root alone';
  const missing = ['unshare', 'nsenter', 'setpriv', 'mkfifo'].filter(
    (name) => spawnSync(name, ['--version']).error !== undefined,
  );
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  if (!existsSync(PYTHON)) return `the attacker needs ${PYTHON} for renameat2`;
  const tried = spawnSync('unshare', ['-U', '-m', 'true'], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no user namespace can be made: ${tried.stderr.trim()}`;
}

/** Why these tests cannot run here; undefined where they can. */
export const not_confined: string | undefined = probe();
if (not_confined !== undefined) process.stdout.write(`skipped, because the agent cannot be attacked here: ${not_confined}\n`);

const REPOSITORY = new URL('../..', import.meta.url).pathname;
/** Part of a script that makes a namespace, before it mounts others over /home and /tmp, in which the repository may lie. */
export const MOUNT_REPOSITORY = `mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/palisade
mount --rbind '${REPOSITORY}' /mnt/palisade`;
/** A path of the repository as such a namespace has it. Programs of the system stay where they are. */
export const inside = (path: string) =>
  path.startsWith(REPOSITORY) ? join('/mnt/palisade', path.slice(REPOSITORY.length)) : path;

const SET_UP = `set -e
echo made
read mapped
kept=$(mktemp -d)
mount -t tmpfs none "$kept"
cp -a /etc/. "$kept" 2>/dev/null || true
mount --move "$kept" /etc
rmdir "$kept" 2>/dev/null || true
${MOUNT_REPOSITORY}
for folder in /home /var/lib /run; do mount -t tmpfs -o mode=755 none "$folder"; done
mount -t tmpfs -o mode=1777 none /tmp
printf 'root:x:0:0:root:/root:/bin/sh\\nanna:x:1000:1000::/home/anna:/bin/sh\\nben:x:1001:1001::/home/ben:/bin/sh\\n' > /etc/passwd
printf 'root:x:0:\\nanna:x:1000:\\nben:x:1001:\\nfriends:x:1100:anna\\n' > /etc/group
mkdir -m 700 /var/lib/agent
for name in anna ben; do mkdir -m 755 /home/$name /home/$name/Downloads /home/$name/.config; chown -R $name:$name /home/$name; done
echo ready
exec sleep infinity`;

export interface Computer {
  /** Runs a shell script as root, or as a person without any capability. Answers its output. */
  shell(script: string, uid?: number): string;
  /** Starts one. */
  start(script: string, uid?: number): ChildProcess;
  /** Starts `attacker.py` as a person, without any rights of root. `onSaid` is given each line that it says. */
  attack(words: readonly string[], onSaid?: (line: string) => void, uid?: number): ChildProcess;
  /** Starts the agent's code for tests (`run-files.ts`) with the unit's capabilities. */
  agent(): AgentUnderTest;
  end(): void;
}

export interface AgentUnderTest {
  pid: number;
  ask(question: Record<string, unknown>, within_ms?: number): Promise<Record<string, unknown>>;
  /** Asks it to end as systemd does, and answers after how many ms it was gone. */
  stop(): Promise<number>;
  /** The most memory that it has had, in bytes. */
  peak(): number;
}

/** The agent gives up a job of a person after 130 s: what answers later than this is a hang. ms. */
const ANSWER_MS = 150_000;
/** Beyond it an agent that does not end is killed, and the test fails by the time. ms. */
const END_MS = 15_000;
const BUNDLE = join(REPOSITORY, 'agent/dist/attacked');
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', MALLOC_ARENA_MAX: '1' };

/** The flags that the agent is started with on a device. */
function nodeFlags(): string[] {
  const text = readFileSync(new URL('../install/palisade-agent', import.meta.url), 'utf8');
  const line = text.split('\n').find((one) => one.startsWith('exec ')) ?? '';
  return line.split(' ').filter((word) => word.startsWith('--'));
}

/** Bundles the agent's code with `run-files.ts` in place of its main program, as it is bundled for devices. */
export function bundleAgentForAttacks(): void {
  const packing = new URL('../../scripts/agent-package.mjs', import.meta.url).href;
  const code = `import { bundleAgent } from '${packing}';\nawait bundleAgent('${BUNDLE}', { 'run-files': 'test/run-files.ts' });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: REPOSITORY });
}

/** For programs that are started: a service and each signed-in user have a share of the processor of their own; so has a session, by which the kernel groups processes. */
export const OWN_SESSION = { detached: true };

function startAgent(enter: readonly string[]): AgentUnderTest {
  const caps = ['setpriv', '--bounding-set', `-all,${unitsCapabilities()}`, '--inh-caps=-all', '--no-new-privs'];
  const program = [
    inside(process.execPath),
    ...nodeFlags(),
    inside(join(BUNDLE, 'run-files.cjs')),
    inside(join(REPOSITORY, 'server/signatures/rules')),
  ];
  const [command = '', ...args] = [...enter, ...caps, ...program];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: ENVIRONMENT,
    cwd: '/',
    ...OWN_SESSION,
  });
  const waiting = new Map<number, (answer: Record<string, unknown>) => void>();
  const refusals = new Set<(error: Error) => void>();
  child.once('exit', (code, signal) => {
    for (const refuse of refusals) refuse(new Error(`the agent ended: ${code ?? signal}`));
  });
  let number = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = z.record(z.string(), z.unknown()).parse(JSON.parse(line));
    waiting.get(Number(answer['number']))?.(answer);
  });
  const pid = child.pid ?? 0;
  return {
    pid,
    ask(question, within_ms = ANSWER_MS) {
      number += 1;
      const mine = number;
      return new Promise((resolve, reject) => {
        const refuse = (error: Error) => {
          clearTimeout(timer);
          refusals.delete(refuse);
          waiting.delete(mine);
          reject(error);
        };
        const late = () => refuse(new Error(`no answer within ${within_ms} ms: ${JSON.stringify(question)}`));
        const timer = setTimeout(late, within_ms);
        refusals.add(refuse);
        waiting.set(mine, (answer) => {
          clearTimeout(timer);
          refusals.delete(refuse);
          waiting.delete(mine);
          resolve(answer);
        });
        child.stdin.write(`${JSON.stringify({ ...question, number: mine })}\n`);
      });
    },
    async stop() {
      const began = performance.now();
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
        await gone;
        clearTimeout(timer);
      }
      return performance.now() - began;
    },
    peak() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/mu.exec(status)?.[1]) * 1_024;
    },
  };
}

/** @throws Error where the kernel refuses it */
export async function createComputer(): Promise<Computer> {
  const holder = spawn('unshare', ['-U', '-m', 'sh', '-c', SET_UP], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: holder.stdout })[Symbol.asyncIterator]();
  const { pid } = holder;
  if ((await lines.next()).value !== 'made' || pid === undefined) throw new Error('no namespace was made');
  for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${pid}/${map}`, '0 0 65536\n');
  holder.stdin.write('mapped\n');
  if ((await lines.next()).value !== 'ready') throw new Error('the namespace was not set up');
  const started = new Set<ChildProcess>([holder]);
  const enter = (uid: number) => ['nsenter', '-t', `${pid}`, '-U', '-m', '-S', `${uid}`, '-G', `${uid}`, '--'];
  const words = (script: string, uid: number) => {
    const plain = uid === 0 ? [] : ['setpriv', '--bounding-set=-all', '--no-new-privs'];
    return [...enter(uid), ...plain, 'sh', '-c', script];
  };
  function start(command: readonly string[]): ChildProcess {
    const [name = '', ...args] = command;
    const child = spawn(name, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/', ...OWN_SESSION });
    started.add(child);
    return child;
  }
  return {
    shell(script, uid = 0) {
      const [name = '', ...args] = words(script, uid);
      return execFileSync(name, args, { encoding: 'utf8', cwd: '/' });
    },
    start: (script, uid = 0) => start(words(script, uid)),
    attack(said, onSaid = () => {}, uid = ANNA) {
      const code = readFileSync(ATTACKER, 'utf8');
      const child = start([...enter(uid), 'setpriv', '--bounding-set=-all', '--no-new-privs', PYTHON, '-c', code, ...said]);
      if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', onSaid);
      return child;
    },
    agent() {
      return startAgent(enter(0));
    },
    end() {
      for (const child of started) {
        try {
          if (child.pid !== undefined && child !== holder) process.kill(-child.pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
      holder.kill('SIGKILL');
    },
  };
}
