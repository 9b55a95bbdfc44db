// Starts the built server for a benchmark, stores results, and computes medians.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { login } from '@palisade/contract/auth';
import { z } from 'zod';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Prints a result and writes it to bench/results (ignored by Git), with the time, the machine and its load. */
export function keepResult(name: string, result: object): void {
  const text = JSON.stringify({ at: new Date().toISOString(), machine: describeMachine(), ...result }, null, 2);
  mkdirSync(join(ROOT, 'bench/results'), { recursive: true });
  writeFileSync(join(ROOT, `bench/results/${name}.json`), `${text}\n`);
  console.log(text);
}

function describeMachine(): Record<string, string | number> {
  return {
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    cpu: cpus()[0]?.model ?? '',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
  };
}

/** Median of the values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export interface BenchServer {
  url: string;
  pid: number;
  /** Time from the start of the process until it prints its address, in ms. */
  started_ms: number;
  /** Registers an account and signs in; returns the token. */
  signIn(name?: string): Promise<{ token: string; email: string; password: string }>;
  stop(): Promise<void>;
}

/** Starts the built server as `npm start` does, on a free port. */
export async function startServer(
  data_dir = mkdtempSync(join(tmpdir(), 'palisade-bench-')),
  environment: Record<string, string> = {},
): Promise<BenchServer> {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  const began = performance.now();
  const child = spawn(process.execPath, scripts.start.split(' ').slice(2), {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: data_dir, SCANNER_URL: 'none', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const address = /Palisade runs at (\S+)/.exec(chunk.toString())?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error('The server did not start. Run npm start once, so that it is built.')));
  });
  const started_ms = performance.now() - began;
  return {
    url,
    pid: child.pid ?? 0,
    started_ms,
    async signIn(name = 'bench') {
      const account = { email: `${name}@example.com`, username: name, password: 'a password for measuring' };
      const post = (path: string) =>
        fetch(`${url}/api${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(account),
        });
      await post('/auth/register');
      const token = login.reply?.parse(await (await post('/auth/login')).json()).access_token ?? '';
      return { token, email: account.email, password: account.password };
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(data_dir, { recursive: true, force: true });
    },
  };
}
