import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The command of `npm start`, without npm. */
function startCommand(): string[] {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  return scripts.start.split(' ').slice(2);
}

export interface Product {
  url: string;
  data_dir: string;
  /** Undefined for the SQLite file in `data_dir`. */
  database_url?: string | undefined;
  /** Standard error of the server so far. */
  errors(): string;
  /** Kills the server, or the first of several, without a shutdown, like a failing machine. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs the built product on a free port, as `npm start` does. */
export async function startProduct(data_dir: string, environment: Record<string, string> = {}): Promise<Product> {
  const child = spawn(process.execPath, startCommand(), {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: data_dir, SCANNER_URL: 'none', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
    process.stderr.write(chunk);
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const address = /Palisade runs at (\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  });
  return {
    url,
    data_dir,
    database_url: environment['DATABASE_URL'],
    errors: () => errors,
    async crash() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
