import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The result of an atomic transaction. */
export type NftResult = { ok: true } | { ok: false; message: string };

/** A started nft process that waits for its transaction, which is compiled while nft starts. */
export interface Begun {
  /** Loads the transaction, with the result of `apply`. May be called once. */
  load(text: string): Promise<NftResult>;
  /** Ends the process without loading anything. Does nothing after `load`. */
  cancel(): void;
}

/** Access to nftables through the nft program. */
export interface Nft {
  /** Loads a transaction. @throws Error only if the program cannot be started or the file of the transaction cannot be written. */
  apply(text: string): Promise<NftResult>;
  /** Starts an nft process for a later transaction. */
  begin(): Promise<Begun>;
  /** Checks whether the kernel would accept a transaction (`nft -c`). */
  check(text: string): Promise<NftResult>;
  /** Runs `nft list`. Undefined if the object does not exist. */
  list(what: readonly string[]): Promise<string | undefined>;
  /** Lists the counters of a table with their values, for `readCounters`. Undefined if the table does not exist. */
  listCounters(table: readonly string[]): Promise<string | undefined>;
  /** `list` with parsed JSON output. */
  listJson(what: readonly string[]): Promise<readonly unknown[] | undefined>;
}

const OUTPUT_MAXIMUM = 64 * 1024 ** 2;
const TIMEOUT_MS = 30_000;
const FIRST_LINES = 3;
const MESSAGE_LENGTH = 400;
const listingSchema = z.object({ nftables: z.array(z.unknown()) });

/** A named counter in the kernel. */
export interface CounterNow {
  name: string;
  packets: number;
  bytes: number;
}

const COUNTER = /counter (\w+) \{[^{}]*?packets (\d+) bytes (\d+)/gu;

/** Parses the output of `listCounters`. It is text because JSON takes three times as long, and the counters are read twice a minute. */
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

/** Runs a program until it exits. @throws Error when it could not be started. */
export function runProgram(command: readonly string[], args: readonly string[]): Promise<Ended> {
  return startProgram(command, args).ended;
}

/** The error message of nft, on one line. */
function reasonOf({ code, stderr }: Ended): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.replace(/^\S+\.nft:\d+:\d+-\d+: /u, '').trim())
    .filter((line) => line !== '' && !/^\^|^In file included from /u.test(line));
  return lines.slice(0, FIRST_LINES).join(' ').slice(0, MESSAGE_LENGTH) || `nft ended with ${code}`;
}

const PIPE = '.fifo';
/** Interval between checks whether a starting nft has opened its pipe, in ms. */
const LOOK_MS = 1;

/**
 * @param command the program and its leading arguments
 * @param folder for files of transactions, which only the agent can read. Standard input is not used: Node gives a child process a socket, which nft cannot open.
 */
export function createNft(command: readonly string[], folder: string): Nft {
  /** The name is random, so that an nft process of an earlier agent does not open this pipe. */
  const pipe = join(folder, `${randomBytes(8).toString('hex')}${PIPE}`);
  let has_pipe: Promise<boolean> | undefined;

  /** Writes synchronously, because a thread-pool call costs more than a write to the page cache. */
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
      // Not awaited, so that the result is reported at once.
      void rm(path, { force: true }).catch(() => undefined);
    }
  }

  async function makePipe(): Promise<boolean> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Opening and closing the pipe of a killed agent makes an nft that waits at it read end-of-file and exit.
    for (const name of readdirSync(folder).filter((entry) => entry.endsWith(PIPE))) {
      closeSync(openSync(join(folder, name), constants.O_RDWR | constants.O_NONBLOCK));
      rmSync(join(folder, name), { force: true });
    }
    return await runProgram(['mkfifo'], ['-m', '600', pipe]).then(
      ({ code }) => code === 0,
      () => false,
    );
  }

  /** Opens the writing end of the pipe when nft has opened the reading end; undefined if nft exits before. */
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
            // The file holds the whole transaction, and one short line through a pipe is atomic: an agent that is killed in between has loaded nothing.
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
