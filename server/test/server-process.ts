import { spawn } from 'node:child_process';

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { fileURLToPath } from 'node:url';
import { login, register } from '@palisade/contract/auth';
import { builtProgram } from '@palisade/scanner/test/built-programs';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { readAnswer, replyOf } from './harness.ts';

/** A program of the server, of the build where there is one. */
export function programOf(source: string): string {
  return builtProgram(source) ?? fileURLToPath(new URL(`../src/${source}`, import.meta.url));
}

const MAIN = programOf('main.ts');

/** The flags of `npm start`, so that the measured server is the one that people run. */
const { start } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).scripts;
const FLAGS = start.split(' ').filter((word) => word.startsWith('--'));
const PASSWORD = 'a long enough password';

/** Runs the server as a person does, to its end; for starts that must fail. */
export function runServer(environment: Record<string, string>): Promise<{ code: number | null; errors: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], SCANNER_URL: 'none', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, errors })));
}

/** Runs `palisade` with a command, to its end. */
export function runCommand(
  name: string,
  environment: Record<string, string>,
  args: readonly string[] = [],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [programOf('palisade.ts'), name, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

/** Runs `palisade update-signatures` to its end. */
export function runUpdate(environment: Record<string, string>): Promise<{ code: number | null; output: string }> {
  return runCommand('update-signatures', environment);
}

/** Makes an account at a server and signs in with it. */
export async function registerAt(url: string, name: string): Promise<string> {
  const post = (path: string, body: unknown) =>
    fetch(`${url}/api${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const email = `${name}@example.com`;
  await readAnswer(register, await post(register.path, { email, username: name, password: PASSWORD }));
  return replyOf(await readAnswer(login, await post(login.path, { email, password: PASSWORD }))).access_token;
}

export interface ServerProcess {
  url: string;
  /** As `fetch`, of a path of the server. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  pid: number;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  signIn(name: string): Promise<string>;
  /** Standard error of the process so far. */
  errors(): string;
  /** The settings of the keys that it shares with others. */
  keys: Record<string, string>;
}

/** Servers of one test on one PostgreSQL database have the keys in common, as they must. */
function sharedKeys({ DATABASE_URL }: Record<string, string>): Record<string, string> {
  if (DATABASE_URL === undefined) return {};
  const folder = join(tmpdir(), `palisade-keys-${createHash('sha256').update(DATABASE_URL).digest('hex').slice(0, 16)}`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return Object.fromEntries(
    ['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((name) => [`${name}_KEY_FILE`, join(folder, `${name.toLowerCase()}.key`)]),
  );
}

/**
 * For use in a test: the server ends with it. Starts the server in a process of its own on a free port and waits until it says its address. `main` is that of another
 * version.
 */
export async function startServer(environment: Record<string, string>, main = MAIN): Promise<ServerProcess> {
  const keys = sharedKeys(environment);
  const child = spawn(process.execPath, [...FLAGS, main], {
    // A clamd of this machine is no part of a test.
    env: { PATH: process.env['PATH'], PORT: '0', SCANNER_URL: 'none', ...keys, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
    process.stderr.write(chunk);
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const address = /Palisade runs at (\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  });
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  onTestFinished(async () => {
    await kill('SIGKILL');
  });
  return {
    url,
    fetch: (path, init) => fetch(`${url}${path}`, init),
    pid: child.pid ?? 0,
    kill,
    keys,
    errors: () => errors,
    signIn: (name) => registerAt(url, name),
  };
}

/** The processes whose parent is `pid`, from /proc. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
        return Number(parent) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** The engine processes of a server. One that has just been forked and does not run its own program yet is none: its parent waits for that, and would stand still with it. */
export function enginesOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('yara-process');
    } catch {
      return false;
    }
  });
}
