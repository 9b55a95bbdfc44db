import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** What became of a transaction: all of it, or nothing. */
export type NftResult = { ok: true } | { ok: false; message: string };

/** The nft program, in the network namespace that it is run in. */
export interface Nft {
  /** Loads a transaction. @throws Error only where the program could not be started or its file not be written. */
  apply(text: string): Promise<NftResult>;
  /** Asks the kernel whether it would take a transaction (`nft -c`). */
  check(text: string): Promise<NftResult>;
  /** Lists something. Undefined where it is not there. */
  list(what: readonly string[]): Promise<string | undefined>;
  /** The same as JSON. */
  listJson(what: readonly string[]): Promise<readonly unknown[] | undefined>;
}

const OUTPUT_MAXIMUM = 64 * 1024 ** 2;
const TIMEOUT_MS = 30_000;
const FIRST_LINES = 3;
const MESSAGE_LENGTH = 400;
const listingSchema = z.object({ nftables: z.array(z.unknown()) });

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. @throws Error when it could not be started. */
export function runProgram(command: readonly string[], args: readonly string[]): Promise<Ended> {
  const [file = '', ...before] = command;
  return new Promise((resolve, reject) => {
    execFile(file, [...before, ...args], { maxBuffer: OUTPUT_MAXIMUM, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(error);
    });
  });
}

/** The reason that nft gives, on one line. */
function reasonOf({ code, stderr }: Ended): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.replace(/^\S+\.nft:\d+:\d+-\d+: /u, '').trim())
    .filter((line) => line !== '' && !/^\^/u.test(line));
  return lines.slice(0, FIRST_LINES).join(' ').slice(0, MESSAGE_LENGTH) || `nft ended with ${code}`;
}

/**
 * @param command the program with what goes before its arguments
 * @param folder where transactions are written, readable by nobody else. Not standard input: that of a child of Node is a socket, which nft cannot open.
 */
export function createNft(command: readonly string[], folder: string): Nft {
  async function withFile(text: string, args: readonly string[]): Promise<NftResult> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${randomBytes(8).toString('hex')}.nft`);
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(text);
      } finally {
        await file.close();
      }
      const ended = await runProgram(command, [...args, '-f', path]);
      return ended.code === 0 ? { ok: true } : { ok: false, message: reasonOf(ended) };
    } finally {
      // Nobody waits for it: what is in the kernel is said at once.
      void rm(path, { force: true }).catch(() => undefined);
    }
  }

  async function list(what: readonly string[], options: readonly string[]): Promise<string | undefined> {
    const ended = await runProgram(command, [...options, 'list', ...what]);
    return ended.code === 0 ? ended.stdout : undefined;
  }

  return {
    apply: (text) => withFile(text, []),
    check: (text) => withFile(text, ['-c']),
    list: (what) => list(what, ['-s', '-t']),
    async listJson(what) {
      const text = await list(what, ['-j']);
      return text === undefined ? undefined : listingSchema.parse(JSON.parse(text)).nftables;
    },
  };
}
