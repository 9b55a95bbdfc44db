import { readFileSync } from 'node:fs';

const MIB = 1024 ** 2;

/** Memory limits of an engine process. Bytes, on top of its memory after it compiled the rules. */
export interface EngineMemory {
  /** A process that holds more is ended: the file that it reads is not read on. */
  most: number;
  /** A process that still holds more when its file is done is replaced. */
  grown: number;
}

/**
 * The largest ordinary file is matched in one piece of 64 MB, beside which a member of 16 MB and 7-Zip's memory lie. A file that needs more is made for it: the bar for a hostile file is
 * 300 MB, and between two looks some MB come on top.
 */
export const ENGINE_MEMORY: EngineMemory = { most: 256 * MIB, grown: 64 * MIB };

/** Interval between memory checks of a process that reads a file. ms. */
export const MEMORY_LOOK_MS = 25;

/**
 * The kernel's own bound on what a process may write to (RLIMIT_DATA), for what is faster than a look. An engine has 0.7 GB of it at rest, most of it never touched. Beyond it memory is refused, and the process
 * ends. Bytes.
 */
const DATA_MOST = 1536 * MIB;

/** Environment of an engine process: each thread that allocates would keep an arena of its own (glibc, mallopt(3)). Other C libraries ignore it. */
export const FEW_ARENAS = { MALLOC_ARENA_MAX: '1' };

/** The heap of JavaScript's own objects, which no kernel bounds apart from the rest. MB. Members and windows lie outside of it. */
const HEAP_MB = 256;

/** Options of `fork` for a process that reads hostile bytes: bounded by the kernel where there is one that can. */
export function boundedProcess(): { execPath?: string; execArgv: string[] } {
  const flags = ['--expose-gc', `--max-old-space-size=${HEAP_MB}`];
  if (process.platform === 'win32') return { execArgv: flags };
  // The shell becomes the process: the same id, the same channel.
  return {
    execPath: '/bin/sh',
    execArgv: ['-c', `ulimit -d ${DATA_MOST / 1024} 2>/dev/null; exec "$0" "$@"`, process.execPath, ...flags],
  };
}

/** Resident memory of a process, in bytes; undefined where the kernel does not say (other systems than Linux), and for one that is gone. */
export function residentBytes(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

const SIGKILL_BIT = 1n << 8n;

/** Answers whether a process has ended or was killed. The kernel knows this before the end is reported here. False where the kernel does not say. */
export function isGone(pid: number | undefined): boolean {
  if (pid === undefined) return true;
  if (process.platform !== 'linux') return false;
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s+([\da-f]+)$/gm)].map(([, mask]) => BigInt(`0x${mask}`));
    return /^State:\s+[ZX]/m.test(status) || pending.some((mask) => (mask & SIGKILL_BIT) !== 0n);
  } catch {
    return true;
  }
}
