import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { z } from 'zod';

const answerSchema = z.union([z.object({ bytes: z.base64() }), z.object({ error: z.string() })]);
const BIN_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin', '/opt/homebrew/bin'];
/** Time of files in archives, so that a run can be repeated. */
const MTIME = new Date(1_700_000_000_000);
const PATIENCE_MS = 60_000;

/** Where a program is, undefined where the machine has none. */
export function findProgram(name: string): string | undefined {
  return BIN_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

type Options = Readonly<Record<string, string | number | boolean | Buffer>>;

/** Writers of files that are independent of the readers here: Python's library, and programs of the machine. */
export interface Writers {
  /** Answers bytes that Python's library wrote; `op` is one of independent-writers.py. */
  python(op: string, inner: Buffer, name: string, options?: Options): Promise<Buffer>;
  /** Runs a program in a folder with these files; answers the content of `output` then, or its printed output. */
  run(
    program: string,
    args: readonly string[],
    files: Readonly<Record<string, Buffer>>,
    output?: string,
    input?: Buffer,
  ): Promise<Buffer>;
  close(): void;
}

/** @throws where there is no Python */
function startPython(): ChildProcessWithoutNullStreams {
  const python = findProgram('python3');
  if (python === undefined) throw new Error('There is no python3 on this machine.');
  return spawn(python, [join(import.meta.dirname, 'independent-writers.py')]);
}

/** Opens the writers; programs start when they are first needed. */
export function openWriters(): Writers {
  let child: ChildProcessWithoutNullStreams | undefined;
  const waiting: ((line: string) => void)[] = [];
  const ask = (request: object): Promise<string> => {
    if (child === undefined) {
      child = startPython();
      child.stderr.pipe(process.stderr);
      createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line));
    }
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.push(resolve);
    child.stdin.write(`${JSON.stringify(request)}\n`);
    return promise;
  };
  return {
    async python(op, inner, name, options = {}) {
      const sent = Object.fromEntries(
        Object.entries({ ...options, inner, name }).map(([key, value]) => [
          key,
          Buffer.isBuffer(value) ? value.toString('base64') : value,
        ]),
      );
      const answer = answerSchema.parse(JSON.parse(await ask({ op, ...sent })));
      if ('error' in answer) throw new Error(answer.error);
      return Buffer.from(answer.bytes, 'base64');
    },
    async run(program, args, files, output, input) {
      const folder = mkdtempSync(join(tmpdir(), 'palisade-writer-'));
      try {
        for (const [name, bytes] of Object.entries(files)) {
          const path = join(folder, name);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, bytes);
          utimesSync(path, MTIME, MTIME);
        }
        const running = promisify(execFile)(findProgram(program) ?? program, [...args], {
          cwd: folder,
          encoding: 'buffer',
          maxBuffer: 256 * 1024 ** 2,
          timeout: PATIENCE_MS,
          env: { PATH: BIN_FOLDERS.join(':'), HOME: folder, LC_ALL: 'C.UTF-8', SOURCE_DATE_EPOCH: `${MTIME.getTime() / 1000}` },
        });
        running.child.stdin?.end(input);
        const { stdout } = await running;
        return output === undefined ? stdout : readFileSync(join(folder, output));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    close() {
      child?.stdin.end();
    },
  };
}
