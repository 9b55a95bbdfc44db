import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The result of an atomic transaction. */
export type NftResult = { ok: true } | { ok: false; message: string };

/** An nft that was started and waits for its transaction: while it starts, the transaction is made. */
export interface Begun {
  /** Gives it the transaction, as `apply` does. Once. */
  load(text: string): Promise<NftResult>;
  /** Ends without loading anything. Does nothing after `load`. */
  cancel(): void;
}

/** The nft program, in the network namespace that it is run in. */
export interface Nft {
  /** Loads a transaction. @throws Error only where the program could not be started or its file not be written. */
  apply(text: string): Promise<NftResult>;
  /** Starts one for a transaction that is about to come. */
  begin(): Promise<Begun>;
  /** Asks the kernel whether it would take a transaction (`nft -c`). */
  check(text: string): Promise<NftResult>;
  /** Lists something. Undefined where it is not there. */
  list(what: readonly string[]): Promise<string | undefined>;
  /** Lists the counters of a table with their values, to be read by `readCounters`. Undefined where it is not there. */
  listCounters(table: readonly string[]): Promise<string | undefined>;
  /** The same as JSON. */
  listJson(what: readonly string[]): Promise<readonly unknown[] | undefined>;
}

const OUTPUT_MAXIMUM = 64 * 1024 ** 2;
const TIMEOUT_MS = 30_000;
const FIRST_LINES = 3;
const MESSAGE_LENGTH = 400;
const listingSchema = z.object({ nftables: z.array(z.unknown()) });

/** A named counter of the kernel's. */
export interface CounterNow {
  name: string;
  packets: number;
  bytes: number;
}

const COUNTER = /counter (\w+) \{[^{}]*?packets (\d+) bytes (\d+)/gu;

/** Reads what `listCounters` lists. It is asked for twice a minute all day, and as JSON it would take three times as long to make and to read. */
export function readCounters(listing: string): CounterNow[] {
  return Array.from(listing.matchAll(COUNTER), ([, name = '', packets, bytes]) => ({
    name,
    packets: Number(packets),
    bytes: Number(bytes),
  }));
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function startProgram(command: readonly string[], args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const [file = '', ...before] = command;
  const { promise: ended, resolve, reject } = Promise.withResolvers<Ended>();
  const options = { maxBuffer: OUTPUT_MAXIMUM, timeout: TIMEOUT_MS };
  const child = execFile(file, [...before, ...args], options, (error, stdout, stderr) => {
    if (error === null) resolve({ code: 0, stdout, stderr });
    else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
    else reject(error);
  });
  return { child, ended };
}

/** Runs a program to its end. @throws Error when it could not be started. */
export function runProgram(command: readonly string[], args: readonly string[]): Promise<Ended> {
  return startProgram(command, args).ended;
}

/** The reason that nft gives, on one line. */
function reasonOf({ code, stderr }: Ended): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.replace(/^\S+\.nft:\d+:\d+-\d+: /u, '').trim())
    .filter((line) => line !== '' && !/^\^|^In file included from /u.test(line));
  return lines.slice(0, FIRST_LINES).join(' ').slice(0, MESSAGE_LENGTH) || `nft ended with ${code}`;
}

const PIPE = '.fifo';
/** Interval between looks whether a starting nft has opened its pipe, in ms. */
const LOOK_MS = 1;

/**
 * @param command the program with what goes before its arguments
 * @param folder where transactions are written, readable by nobody else. Not standard input: that of a child of Node is a socket, which nft cannot open.
 */
export function createNft(command: readonly string[], folder: string): Nft {
  /** For this agent only: an nft started by an earlier agent opens none of these pipes. */
  const pipe = join(folder, `${randomBytes(8).toString('hex')}${PIPE}`);
  let has_pipe: Promise<boolean> | undefined;

  /** In one go: a write to the disk's cache is not worth a turn through the thread pool. */
  function write(text: string): string {
    const path = join(folder, `${randomBytes(8).toString('hex')}.nft`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return path;
  }
  const resultOf = (ended: Ended): NftResult => (ended.code === 0 ? { ok: true } : { ok: false, message: reasonOf(ended) });

  async function withFile(text: string, args: readonly string[]): Promise<NftResult> {
    const path = write(text);
    try {
      return resultOf(await runProgram(command, [...args, '-f', path]));
    } finally {
      // Not awaited: the result in the kernel is reported at once.
      void rm(path, { force: true }).catch(() => undefined);
    }
  }

  async function makePipe(): Promise<boolean> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // An nft that waits at the pipe of a killed agent then reads nothing and ends.
    for (const name of readdirSync(folder).filter((entry) => entry.endsWith(PIPE))) {
      closeSync(openSync(join(folder, name), constants.O_RDWR | constants.O_NONBLOCK));
      rmSync(join(folder, name), { force: true });
    }
    return await runProgram(['mkfifo'], ['-m', '600', pipe]).then(
      ({ code }) => code === 0,
      () => false,
    );
  }

  /** The writing end, once an nft has opened the other; undefined where it ended before. */
  async function meet(child: ChildProcess): Promise<number | undefined> {
    while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      try {
        return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
    return undefined;
  }

  function beginAtPipe(): Begun {
    const { child, ended } = startProgram(command, ['-f', pipe]);
    ended.catch(() => undefined);
    let is_over = false;
    return {
      async load(text) {
        is_over = true;
        const path = write(text);
        try {
          const end = await meet(child);
          if (end === undefined) return resultOf(await ended);
          try {
            // The file holds the complete transaction. One line through the pipe arrives completely or not at all, so that an agent killed in between has loaded nothing.
            writeSync(end, `include "${path}"\n`);
          } finally {
            closeSync(end);
          }
          return resultOf(await ended);
        } finally {
          void rm(path, { force: true }).catch(() => undefined);
        }
      },
      cancel() {
        if (!is_over) child.kill('SIGKILL');
        is_over = true;
      },
    };
  }

  async function list(what: readonly string[], options: readonly string[]): Promise<string | undefined> {
    const ended = await runProgram(command, [...options, 'list', ...what]);
    return ended.code === 0 ? ended.stdout : undefined;
  }

  const apply = (text: string) => withFile(text, []);
  return {
    apply,
    async begin() {
      has_pipe ??= makePipe();
      return (await has_pipe) ? beginAtPipe() : { load: apply, cancel: () => {} };
    },
    check: (text) => withFile(text, ['-c']),
    list: (what) => list(what, ['-s', '-t']),
    listCounters: (table) => list(['counters', 'table', ...table], []),
    async listJson(what) {
      const text = await list(what, ['-j']);
      return text === undefined ? undefined : listingSchema.parse(JSON.parse(text)).nftables;
    },
  };
}
