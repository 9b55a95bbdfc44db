import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { takeExclusive } from './exclusive.ts';
import { newId } from './id.ts';

/** A data folder that this server uses exclusively. */
export interface Home {
  /** The folder's id, created at the first start and never changed. It identifies the folder in a database that several servers share. */
  id: string;
  /** Releases the folder for the next server. */
  release(): void;
}

/** Another server uses the data folder. `message` is one line that says which, and what to do. */
export class HomeTakenError extends Error {
  override name = 'HomeTakenError';
}

export const HOME_FILE = 'home';
/** Locked by the operating system for as long as the process lives, which is enough on one machine. */
const LOCK_FILE = 'server.lock';
/** Names the holder, for people and for another machine that mounts the folder over a network, where the lock may not work. */
const HOLDER_FILE = 'server.json';

/** Zombie and dead (proc_pid_stat(5), field 3). */
const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x']);

const ALIVE_EVERY_MS = 15_000;
/** A server on another machine is considered gone after this many ms of silence. */
const GONE_AFTER_MS = 60_000;

const holderSchema = z.object({
  run: z.string(),
  pid: z.int(),
  /** Start time of the process in the kernel's units (field 22 of proc_pid_stat(5)): it distinguishes processes that reuse an id. */
  process_began: z.string(),
  host: z.string(),
  /** The kernel's boot id; empty where the system has none. Containers of one machine share it. */
  boot: z.string(),
  started_at: z.string(),
});
type Holder = z.infer<typeof holderSchema>;

function readOr<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Identifies a process to other processes of its machine. */
export type ProcessIdentity = Pick<Holder, 'pid' | 'process_began' | 'host' | 'boot'>;

/** This process. */
export function thisProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    process_began: processBegan(process.pid),
    host: hostname(),
    boot: readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), ''),
  };
}

/** Whether a process of this machine has ended; false for a process of another machine or container, whose state is unknown here. */
export function hasEnded({ pid, process_began, host, boot }: ProcessIdentity): boolean {
  const me = thisProcess();
  return boot !== '' && boot === me.boot && host === me.host && process_began !== '' && processBegan(pid) !== process_began;
}

/** Start time of the process with this id; empty if there is none, if it is a zombie, or if the system does not say. */
function processBegan(pid: number): string {
  // The name in parentheses may hold any characters, so fields are counted after it.
  const fields = readOr(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [state = ''] = fields;
  return ENDED_STATES.has(state) ? '' : (fields[19] ?? '');
}

function readHolder(path: string): Holder | undefined {
  const content: unknown = readOr<unknown>(() => JSON.parse(readFileSync(path, 'utf8')), undefined);
  return holderSchema.safeParse(content).data;
}

/** Writes a file atomically: after a crash it has all of its content or does not exist. */
function writeWhole(path: string, content: string): void {
  const made = `${path}.${newId()}`;
  try {
    writeFileSync(made, content, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(made, path);
  } finally {
    rmSync(made, { force: true });
  }
}

/** Overwrites a file in place, which needs no free space. */
function writeInPlace(path: string, content: string): void {
  const file = openSync(path, 'r+');
  try {
    writeSync(file, content, 0);
  } finally {
    closeSync(file);
  }
}

/** Age of a file in ms, by the clock of its disk, which may be on another machine. */
function ageOf(path: string): number {
  const probe = `${path}.${newId()}`;
  try {
    writeFileSync(probe, '');
    return statSync(probe).mtimeMs - statSync(path).mtimeMs;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** The reason why the holder named in the file is considered alive; undefined if it is gone. This process already holds the lock of the operating system. */
function whyAlive(holder: Holder, me: Holder, path: string): string | undefined {
  if (holder.boot !== '' && holder.boot === me.boot) {
    const began = processBegan(holder.pid);
    return began !== '' && began === holder.process_began && holder.pid !== me.pid ? 'which is still running' : undefined;
  }
  // The same host after a reboot, or a system without boot ids: a live holder would still have the lock.
  if (holder.host === me.host) return undefined;
  const age_ms = ageOf(path);
  return age_ms < GONE_AFTER_MS ? `last active ${Math.max(0, Math.round(age_ms / 1000))} s ago` : undefined;
}

function refusal(folder: string, holder: Holder | undefined, why?: string): HomeTakenError {
  const who =
    holder === undefined
      ? 'another server'
      : `another server (process ${holder.pid} on ${holder.host}, started ${holder.started_at}${why === undefined ? '' : `, ${why}`})`;
  const gone = why?.startsWith('last') ? ` If that machine no longer runs, start again in ${GONE_AFTER_MS / 1000} s.` : '';
  return new HomeTakenError(
    `The data folder ${folder} is in use by ${who}. Stop that server, or set DATA_DIR to a separate folder.${gone}`,
  );
}

/** The id of a data folder, created if missing. @throws Error when the file does not hold a valid id. */
export function homeId(folder: string): string {
  const path = join(folder, HOME_FILE);
  const text = readOr(() => readFileSync(path, 'utf8').trim(), '');
  if (z.uuid().safeParse(text).success) return text;
  if (readOr(() => statSync(path).size, 0) > 0)
    throw new Error(`The file ${path} doesn’t contain the data folder’s ID. Restore it from a backup of this folder.`);
  const id = newId();
  writeWhole(path, `${id}\n`);
  return id;
}

/**
 * Takes a data folder, created if missing, for this server alone. Leftovers of a killed server do not block the next one. `onLost` is called when another machine has taken
 * the folder, which it may after this server has been silent for a minute. @throws HomeTakenError while another server has it.
 */
export function takeHome({ folder, onLost }: { folder: string; onLost: (error: HomeTakenError) => void }): Home {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, HOLDER_FILE);
  const unlock = takeExclusive(join(folder, LOCK_FILE));
  const before = readHolder(path);
  if (unlock === undefined) throw refusal(folder, before);
  const me: Holder = {
    run: newId(),
    ...thisProcess(),
    started_at: new Date().toISOString(),
  };
  const content = `${JSON.stringify(me)}\n`;
  try {
    const why = before && whyAlive(before, me, path);
    if (why !== undefined) throw refusal(folder, before, why);
    writeWhole(path, content);
    const id = homeId(folder);
    const timer = setInterval(() => {
      const holder = readHolder(path);
      if (holder !== undefined && holder.run !== me.run) {
        clearInterval(timer);
        onLost(refusal(folder, holder));
        return;
      }
      readOr(() => writeInPlace(path, content), undefined);
    }, ALIVE_EVERY_MS).unref();
    return {
      id,
      release() {
        clearInterval(timer);
        if (readHolder(path)?.run === me.run) rmSync(path, { force: true });
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}
