import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { join } from 'node:path';
import { openForeign, type Stats, statForeign } from '#files/foreign.ts';
import { kernelLink, kernelNames, kernelText } from '#files/kernel.ts';
import { LOCAL_DISPLAY, type LoginSession } from './login-session.ts';

/** The desktop of the login session that gave consent. `uid` is the user of that session. */
export type Desktop =
  | {
      kind: 'x11';
      display: string;
      /** Path of its X server's socket. */
      socket: string;
      uid: number;
      /** The contents of its Xauthority file, read once and checked. */
      xauthority: Buffer | undefined;
      /** The path of that file, for a program that runs with the rights of this user. */
      xauthority_path: string | undefined;
    }
  | { kind: 'wayland'; uid: number }
  | { kind: 'none' };

const SOCKETS_FOLDER = '/tmp/.X11-unix';
const PROCESSES_MAXIMUM = 20_000;
const STATUS_BYTES = 8 * 1024;
/** Processes whose environment is read to find a display. */
const ENVIRONMENTS_MAXIMUM = 64;
const ENVIRONMENT_BYTES = 128 * 1024;
/** Reading the environment of a process can block forever. Time limit in ms. */
const ENVIRONMENT_MS = 1_000;
const XAUTHORITY_BYTES = 64 * 1024;
const SOCKET_LIST_BYTES = 8 * 1024 * 1024;
const LISTENING = 0x1_0000;

interface Named {
  display: string;
  xauthority: string | undefined;
}

/** The display named by DISPLAY; undefined if DISPLAY is missing or not a local display. */
export function displayOf(environment: Record<string, string | undefined>): Named | undefined {
  const { DISPLAY, XAUTHORITY, HOME } = environment;
  if (DISPLAY === undefined || !LOCAL_DISPLAY.test(DISPLAY)) return undefined;
  const named = XAUTHORITY ?? (HOME === undefined ? undefined : join(HOME, '.Xauthority'));
  return { display: DISPLAY, xauthority: named?.startsWith('/') === true ? named : undefined };
}

function environmentOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

/** Whether all four user ids of a process (proc_pid_status(5)) equal `uid`. False for a set-uid program. */
export function isWholly(status: string, uid: number): boolean {
  const ids = /^Uid:\t(\d+)\t(\d+)\t(\d+)\t(\d+)$/mu.exec(status);
  return ids?.slice(1).every((id) => id === `${uid}`) === true;
}

/** Process ids of one user. A process cannot delay the read of its `status` file. */
function processesOf(uid: number): string[] {
  const names = kernelNames('/proc', PROCESSES_MAXIMUM).filter((name) => /^\d+$/u.test(name));
  return names.filter((name) => isWholly(kernelText(`/proc/${name}/status`, STATUS_BYTES), uid));
}

/** The environment of a process. A child process reads it and is killed after the time limit, because the other process can block the read. */
async function environmentOfProcess(pid: string): Promise<string> {
  const child = spawn('head', ['-c', `${ENVIRONMENT_BYTES}`, `/proc/${pid}/environ`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: ENVIRONMENT_MS,
    killSignal: 'SIGKILL',
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  return Buffer.concat(pieces).toString('latin1');
}

/** The first display that a process of the login session names. With `wanted`, only that display counts. */
async function displayOfProcesses({ id, uid }: LoginSession, wanted: string | undefined): Promise<Named | undefined> {
  for (const pid of processesOf(uid).slice(-ENVIRONMENTS_MAXIMUM)) {
    const environment = environmentOf(await environmentOfProcess(pid));
    const named = displayOf(environment);
    if (named === undefined || (environment['XDG_SESSION_ID'] ?? id) !== id) continue;
    if (wanted === undefined || numberOf(wanted) === numberOf(named.display)) return named;
  }
  return undefined;
}

const numberOf = (display: string) => LOCAL_DISPLAY.exec(display)?.[1] ?? '0';

/** The contents of a regular file that this user owns; undefined for any other file, and above `XAUTHORITY_BYTES`. */
async function readXauthority(path: string, uid: number): Promise<Buffer | undefined> {
  const file = await openForeign(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return file.stats.uid === BigInt(uid) ? await file.read(XAUTHORITY_BYTES) : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Inodes of the sockets in /proc/net/unix that listen at the display's path or at its abstract name. */
export function listenersOf(list: string, path: string): Set<string> {
  const inodes = new Set<string>();
  for (const line of list.split('\n')) {
    const [, , , flags = '', , , inode = '', name = ''] = line.trim().split(/ +/u);
    if (name !== path && name !== `@${path}`) continue;
    if (/^[0-9A-F]{8}$/iu.test(flags) && (Number.parseInt(flags, 16) & LISTENING) !== 0) inodes.add(inode);
  }
  return inodes;
}

/** Whether processes of these users hold every socket that listens for a display. X11 clients try the abstract name first, which any user can bind. */
function isServedBy(path: string, uids: readonly number[]): boolean {
  const list = kernelText('/proc/net/unix', SOCKET_LIST_BYTES);
  if (list.length >= SOCKET_LIST_BYTES) return false;
  const missing = listenersOf(list, path);
  if (missing.size === 0) return false;
  for (const pid of uids.flatMap(processesOf)) {
    for (const name of kernelNames(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/u.exec(kernelLink(`/proc/${pid}/fd/${name}`))?.[1];
      if (inode !== undefined) missing.delete(inode);
    }
    if (missing.size === 0) return true;
  }
  return false;
}

/**
 * Whether the socket of a display belongs to the session's user: other users cannot change the folder, and the user owns the socket and the processes that listen on it. A
 * display manager may run the X server as root; this is accepted only for the display in logind's state file of the session.
 */
export async function isDisplayOf(display: string, session: Pick<LoginSession, 'uid' | 'display'>): Promise<boolean> {
  const { uid } = session;
  const by_root = session.display !== undefined && numberOf(session.display) === numberOf(display);
  const uids = by_root && uid !== 0 ? [uid, 0] : [uid];
  const folder = await statForeign(SOCKETS_FOLDER);
  const is_others = folder !== undefined && (folder.mode & 0o022n) !== 0n && (folder.mode & 0o1000n) === 0n;
  if (folder?.isDirectory() !== true || is_others || !isOf(folder, [0, uid])) return false;
  const path = join(SOCKETS_FOLDER, `X${numberOf(display)}`);
  const socket = await statForeign(path);
  return socket?.isSocket() === true && isOf(socket, uids) && isServedBy(path, uids);
}

const isOf = ({ uid }: Stats, uids: readonly number[]) => uids.includes(Number(uid));

async function x11Of(named: Named, session: Pick<LoginSession, 'uid' | 'display'>): Promise<Desktop> {
  if (!(await isDisplayOf(named.display, session))) return { kind: 'none' };
  return {
    kind: 'x11',
    display: named.display,
    uid: session.uid,
    xauthority_path: named.xauthority,
    socket: join(SOCKETS_FOLDER, `X${numberOf(named.display)}`),
    xauthority: named.xauthority === undefined ? undefined : await readXauthority(named.xauthority, session.uid),
  };
}

/**
 * Finds the desktop of the session that gave consent. A display from the agent's own environment comes first, because the owner of the agent sets it. Otherwise the display
 * comes from processes of the session's user, and counts only if that user also owns the socket and the X server.
 */
export async function findDesktop(environment: NodeJS.ProcessEnv, session: LoginSession | undefined): Promise<Desktop> {
  if (platform() !== 'linux') return { kind: 'none' };
  const own_uid = process.getuid?.();
  if ((environment['WAYLAND_DISPLAY'] ?? '') !== '' && own_uid !== undefined) return { kind: 'wayland', uid: own_uid };
  const own = displayOf(environment);
  if (own !== undefined && own_uid !== undefined) return await x11Of(own, { uid: own_uid, display: own.display });
  if (session === undefined) return { kind: 'none' };
  if (session.type === 'wayland') return { kind: 'wayland', uid: session.uid };
  const named = await displayOfProcesses(session, session.display);
  const found = named ?? (session.display === undefined ? undefined : { display: session.display, xauthority: undefined });
  return found === undefined ? { kind: 'none' } : await x11Of(found, session);
}
