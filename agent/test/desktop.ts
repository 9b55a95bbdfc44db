import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';

// A desktop of its own: a screen in memory (Xvfb), and a terminal on it.

const PROGRAMS = { Xvfb: 'xvfb', xterm: 'xterm', x11vnc: 'x11vnc', xdotool: 'xdotool' } as const;
/** Where a program lies; undefined where it is not on this machine. */
const find = (program: string) =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
const missing = Object.entries(PROGRAMS).filter(([program]) => find(program) === undefined);
/** TigerVNC's scraping server: by Debian's name, where x0vncserver is a script around it, or by its own. */
export const TIGERVNC = ['X0tigervnc', 'x0vncserver'].map(find).find((path) => path !== undefined);
/** Why there is no desktop here; undefined where there is one. */
export const NO_DESKTOP =
  missing.length === 0 ? undefined : `not on this machine: ${missing.map(([, name]) => name).join(', ')} (packages)`;

export interface TestDesktop {
  folder: string;
  environment: NodeJS.ProcessEnv;
  /** Input of the terminal: each line that its shell has read, as it was. */
  typed(): string;
  /** Actions of the person at this computer. */
  person(...command: string[]): void;
  close(): Promise<void>;
}

const ended = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => child.once('exit', () => resolve()));

/** Whether a program still runs that was started with this folder. */
const isTold = (folder: string) =>
  readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/u.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(folder);
    } catch {
      return false;
    }
  });

export async function startDesktop(): Promise<TestDesktop> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-desktop-'));
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp', '-noreset'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const display = await new Promise<string>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('Xvfb ended')));
    server.stdio[3]?.once('data', (bytes: Buffer) => resolve(`:${bytes.toString().trim()}`));
  });
  const environment = { PATH: process.env['PATH'], HOME: folder, DISPLAY: display, LANG: 'C.UTF-8' };
  const typed = join(folder, 'typed');
  const ready = join(folder, 'ready');
  const script = join(folder, 'read.sh');
  writeFileSync(script, `: > ${ready}\nwhile IFS= read -r line; do printf '%s\\n' "$line" >> ${typed}; done\n`);
  const terminal = spawn('xterm', ['-geometry', '120x40+0+0', '-e', '/bin/sh', script], { env: environment, stdio: 'ignore' });
  await eventually(() => {
    if (!existsSync(ready)) throw new Error('the terminal is not there yet');
  });
  return {
    folder,
    environment,
    typed: () => (existsSync(typed) ? readFileSync(typed, 'utf8') : ''),
    person: (...command) => void execFileSync('xdotool', command, { env: environment }),
    async close() {
      terminal.kill();
      server.kill();
      await Promise.all([ended(terminal), ended(server)]);
      // The VNC server that the agent started is ended by the agent.
      await eventually(() => {
        if (isTold(folder)) throw new Error('a program of this desktop still runs');
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
