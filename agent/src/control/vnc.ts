import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createConnection, Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Desktop } from './desktop.ts';

/** A VNC server of this desktop, for one connection. Nobody else on this computer can reach it. */
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

function hasProgram(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
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

/** Whether a VNC server listens where wayvnc and others do by themselves, on this computer alone. */
async function isServed(port = USUAL_PORT): Promise<boolean> {
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

/** Asks it to clean up behind itself, and does not wait for long: x11vnc can stand still in its own handler of the signal. */
function end(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  child.once('exit', () => clearTimeout(timer));
}

/** x11vnc, which speaks over a socket that it inherits: it listens on no port, and ends with its connection. */
function openX11vnc({ display, xauthority, is_own }: Extract<Desktop, { kind: 'x11' }>, path: string): Promise<Vnc> {
  const options = [
    ...['-inetd', '-display', display, '-nopw', '-norc', '-noremote', '-nocmds', '-nobell', '-quiet', '-o', '/dev/null'],
    // It looks at the screen every 10 ms, and gathers what changes for 10 ms before it sends it; while somebody types or points it sends at once.
    ...['-wait', '10', '-defer', '10', '-setdefer', '-1'],
    ...(xauthority === undefined ? [] : ['-auth', xauthority]),
    // Memory of another user cannot be shared.
    ...(is_own ? [] : ['-noshm']),
  ];
  const child = spawn('/bin/sh', ['-c', 'exec x11vnc "$@" <&3 >&3', 'sh', ...options], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: path },
  });
  const stream = child.stdio[3];
  if (!(stream instanceof Socket)) throw new TypeError('a program has no socket');
  child.on('error', (error) => stream.destroy(error));
  child.on('exit', () => stream.destroy());
  return Promise.resolve({
    stream,
    stop() {
      stream.destroy();
      end(child);
    },
  });
}

/** TigerVNC's scraping server by its names: Debian's x0vncserver is a script around it, which takes other options. */
const TIGERVNC = ['X0tigervnc', 'x0vncserver'] as const;

/** TigerVNC's scraping server, on a socket in a folder of the agent's alone. */
async function openTigervnc(
  program: (typeof TIGERVNC)[number],
  { display, xauthority }: Extract<Desktop, { kind: 'x11' }>,
  { folder, path }: { folder: string; path: string },
): Promise<Vnc> {
  const socket_path = join(folder, 'screen.vnc');
  await rm(socket_path, { force: true });
  const child = spawn(
    program,
    [
      `-display=${display}`,
      '-rfbport=-1',
      `-rfbunixpath=${socket_path}`,
      '-rfbunixmode=384',
      '-SecurityTypes=None',
      '-AlwaysShared',
    ],
    { stdio: 'ignore', env: { PATH: path, HOME: folder, ...(xauthority === undefined ? {} : { XAUTHORITY: xauthority }) } },
  );
  let is_over = false;
  child.on('error', () => (is_over = true));
  child.on('exit', () => (is_over = true));
  const until = Date.now() + START_MS;
  while (!is_over && Date.now() < until) {
    const stream = await connected({ path: socket_path }).catch(() => undefined);
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

/** How this desktop can be shown, or what is missing for it. */
export async function findVnc(desktop: Desktop, parts: { folder: string; path: string; port?: number }): Promise<VncFound> {
  if (desktop.kind === 'x11') {
    if (hasProgram('x11vnc', parts.path)) return { open: () => openX11vnc(desktop, parts.path) };
    const tigervnc = TIGERVNC.find((program) => hasProgram(program, parts.path));
    if (tigervnc !== undefined) return { open: () => openTigervnc(tigervnc, desktop, parts) };
  }
  // What somebody has started, and lets anybody on this computer in.
  const port = parts.port ?? USUAL_PORT;
  if (desktop.kind !== 'none' && (await isServed(port)))
    return {
      async open() {
        const stream = await connected({ host: '127.0.0.1', port });
        return { stream, stop: () => stream.destroy() };
      },
    };
  return { missing: desktop.kind === 'x11' ? INSTALL : desktop.kind === 'wayland' ? WAYLAND : NO_DESKTOP };
}
