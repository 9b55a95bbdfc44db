import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createConnection, Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { statForeign } from '#files/foreign.ts';
import { kernelText } from '#files/kernel.ts';
import { isProgram, openOwn, removeOwn } from '#files/own-state.ts';
import { groupOf } from '#files/people.ts';
import type { Desktop } from './desktop.ts';

/** A VNC server of a desktop, for one connection. Other users of this computer cannot reach it. */
export interface Vnc {
  stream: Duplex;
  stop(): void;
}

export type VncFound = { open(): Promise<Vnc> } | { missing: string };

const USUAL_PORT = 5900;
const START_MS = 10_000;
const LOOK_MS = 50;
const BANNER = 'RFB ';
const GRACE_MS = 1_000;

const NO_DESKTOP = 'Nobody is signed in to a desktop on this computer, or its desktop is not one of X11.';
const INSTALL =
  'No VNC server is installed on this computer. Install the package x11vnc (Debian, Ubuntu: apt install x11vnc; Fedora: dnf install x11vnc), or tigervnc-scraping-server.';
const WAYLAND =
  'This desktop runs on Wayland, where no other program may look at the screen. With a compositor of wlroots (Sway, for one) install wayvnc and run “wayvnc 127.0.0.1 5900” in it; elsewhere sign in to a session of X11 (“on Xorg”).';

async function hasProgram(name: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter)) if (await isProgram(join(folder, name))) return true;
  return false;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function connected(where: { path: string } | { host: string; port: number }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(where);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** User ids whose sockets listen on a port, from /proc/net/tcp (proc_net(5)): state 0A means listening, and the eighth field is the user id. */
export function usersOfPort(list: string, port: number): Set<number> {
  const users = new Set<number>();
  for (const line of list.split('\n').slice(1)) {
    const [, local = '', , state, , , , uid = ''] = line.trim().split(/ +/u);
    const [, hex = ''] = local.split(':');
    if (state === '0A' && /^[0-9A-F]{4}$/u.test(hex) && Number.parseInt(hex, 16) === port && /^\d+$/u.test(uid))
      users.add(Number(uid));
  }
  return users;
}

/** Whether all sockets that listen on a port belong to this user. */
function isPortOf(port: number, uid: number): boolean {
  const lists = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => kernelText(path));
  const users = new Set(lists.flatMap((list) => [...usersOfPort(list, port)]));
  return users.size === 1 && users.has(uid);
}

/** Whether a VNC server of this user listens on the local port that wayvnc and others use by default. */
async function isServed(port: number, uid: number): Promise<boolean> {
  if (!isPortOf(port, uid)) return false;
  const socket = await connected({ host: '127.0.0.1', port }).catch(() => undefined);
  if (socket === undefined) return false;
  return await new Promise((resolve) => {
    const end = (is: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(is);
    };
    const timer = setTimeout(() => end(false), 1_000);
    socket.once('data', (bytes) => end(bytes.toString('latin1').startsWith(BANNER)));
    socket.once('error', () => end(false));
  });
}

/** Sends SIGTERM for a clean exit, and SIGKILL soon after: x11vnc can hang in its signal handler. */
function end(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  child.once('exit', () => clearTimeout(timer));
}

/** Writes the checked contents to a file that only the agent can access: a VNC server with the agent's rights opens no path that another user can change. */
async function keepXauthority(folder: string, xauthority: Buffer | undefined): Promise<string | undefined> {
  if (xauthority === undefined) return undefined;
  const path = join(folder, 'screen.xauthority');
  await removeOwn(path);
  const file = await openOwn(path, 'wx');
  try {
    await file.writeFile(xauthority);
  } finally {
    await file.close();
  }
  return path;
}

type X11 = Extract<Desktop, { kind: 'x11' }>;

/**
 * The user and group that a VNC server of this desktop runs as, and its Xauthority file. If the agent is root, the server runs as the user of the desktop, with the primary group and no
 * other: a bug of the VNC server, or an X server that attacks it, gains only the rights of that user and no capability. The user may see everything, because it is their own screen.
 */
async function rightsOf(
  { uid, xauthority, xauthority_path }: X11,
  folder: string,
): Promise<{ auth: string | undefined; identity: { uid: number; gid: number } | undefined }> {
  if (process.geteuid?.() !== 0 || uid === 0) return { auth: await keepXauthority(folder, xauthority), identity: undefined };
  return { auth: xauthority === undefined ? undefined : xauthority_path, identity: { uid, gid: await groupOf(uid) } };
}

/** Starts x11vnc on an inherited socket: it listens on no port, and exits when the connection ends. */
async function openX11vnc(desktop: X11, { folder, path }: { folder: string; path: string }): Promise<Vnc> {
  const { auth, identity } = await rightsOf(desktop, folder);
  const options = [
    ...['-inetd', '-display', desktop.display, '-nopw', '-norc', '-noremote', '-nocmds', '-nobell', '-quiet', '-o', '/dev/null'],
    // Polls the screen every 10 ms and collects changes for 10 ms before it sends them; during input it sends immediately.
    ...['-wait', '10', '-defer', '10', '-setdefer', '-1'],
    ...(auth === undefined ? [] : ['-auth', auth]),
  ];
  const child = spawn('/bin/sh', ['-c', 'exec x11vnc "$@" <&3 >&3', 'sh', ...options], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: path },
    cwd: '/',
    ...identity,
  });
  const stream = child.stdio[3];
  if (!(stream instanceof Socket)) throw new TypeError('a program has no socket');
  child.on('error', (error) => stream.destroy(error));
  child.on('exit', () => stream.destroy());
  return {
    stream,
    stop() {
      stream.destroy();
      end(child);
    },
  };
}

/** Program names of TigerVNC's scraping server. Debian's x0vncserver is a wrapper script with other options, so it comes second. */
const TIGERVNC = ['X0tigervnc', 'x0vncserver'] as const;

/** Modes of its socket: 0600 and 0666. The option takes decimal numbers. */
const [OWN_MODE, OPEN_MODE] = [0o600, 0o666];

/**
 * Starts TigerVNC's scraping server on a socket in a folder that only its user and root can enter: the agent's own, or, if it runs as another user, one that this user makes in /tmp under an
 * unpredictable name. The agent as root without CAP_DAC_OVERRIDE can enter that folder, and the socket's mode 0666 lets it connect.
 */
async function openTigervnc(
  program: (typeof TIGERVNC)[number],
  desktop: X11,
  { folder, path }: { folder: string; path: string },
): Promise<Vnc> {
  const { auth, identity } = await rightsOf(desktop, folder);
  const room = identity === undefined ? folder : `/tmp/.palisade-${randomBytes(16).toString('hex')}`;
  const socket_path = join(room, 'screen.vnc');
  if (identity === undefined) await removeOwn(socket_path);
  const made = identity === undefined ? '' : `mkdir -m 700 ${room} && `;
  const options = [
    '-rfbport=-1',
    `-rfbunixpath=${socket_path}`,
    `-rfbunixmode=${identity === undefined ? OWN_MODE : OPEN_MODE}`,
    '-SecurityTypes=None',
    '-AlwaysShared',
  ];
  const child = spawn('/bin/sh', ['-c', `${made}exec "$@"`, 'sh', program, `-display=${desktop.display}`, ...options], {
    stdio: 'ignore',
    env: { PATH: `${path}:/usr/bin:/bin`, HOME: room, ...(auth === undefined ? {} : { XAUTHORITY: auth }) },
    cwd: '/',
    ...identity,
  });
  let is_over = false;
  child.on('error', () => (is_over = true));
  child.on('exit', () => {
    is_over = true;
    if (identity !== undefined) spawn('/bin/rm', ['-rf', room], { stdio: 'ignore', cwd: '/', ...identity }).on('error', () => {});
  });
  const until = Date.now() + START_MS;
  while (!is_over && Date.now() < until) {
    const stats = await statForeign(socket_path).catch(() => undefined);
    const is_its = stats?.isSocket() === true && (identity === undefined || stats.uid === BigInt(identity.uid));
    const stream = is_its ? await connected({ path: socket_path }).catch(() => undefined) : undefined;
    if (stream !== undefined)
      return {
        stream,
        stop() {
          stream.destroy();
          end(child);
        },
      };
    await wait(LOOK_MS);
  }
  child.kill('SIGKILL');
  throw new Error(`The VNC server ${program} did not start.`);
}

/** Finds a way to show this desktop, or the reason why there is none. */
export async function findVnc(desktop: Desktop, parts: { folder: string; path: string; port?: number }): Promise<VncFound> {
  if (desktop.kind === 'x11') {
    if (await hasProgram('x11vnc', parts.path)) return { open: () => openX11vnc(desktop, parts) };
    for (const program of TIGERVNC)
      if (await hasProgram(program, parts.path)) return { open: () => openTigervnc(program, desktop, parts) };
  }
  // A VNC server that the session's user started.
  const port = parts.port ?? USUAL_PORT;
  if (desktop.kind !== 'none' && (await isServed(port, desktop.uid)))
    return {
      async open() {
        const stream = await connected({ host: '127.0.0.1', port });
        // Another user may have taken the port in the meantime.
        if (!isPortOf(port, desktop.uid)) {
          stream.destroy();
          throw new Error('The VNC server on this computer belongs to another user.');
        }
        return { stream, stop: () => stream.destroy() };
      },
    };
  return { missing: desktop.kind === 'x11' ? INSTALL : desktop.kind === 'wayland' ? WAYLAND : NO_DESKTOP };
}
