import { readFileSync } from 'node:fs';

const MIB = 1024 ** 2;

/** Memory limits of an engine process. Bytes, on top of its memory after it compiled the rules. */
export interface EngineMemory {
  /** A process above this limit is killed, and its file is not read further. */
  most: number;
  /** A process above this limit after its file is replaced. */
  grown: number;
}

/**
 * The largest ordinary file is matched in one piece of 64 MB, plus a member of 16 MB and 7-Zip's memory. Only a malicious file needs more: the limit for those is 300 MB,
 * and some MB can be added between two checks.
 */
export const ENGINE_MEMORY: EngineMemory = { most: 256 * MIB, grown: 64 * MIB };

/** Interval between memory checks of a process that reads a file. ms. */
export const MEMORY_LOOK_MS = 25;

/** RLIMIT_DATA, for growth that is faster than the checks. An idle engine has 0.7 GB of it, mostly untouched. Beyond it allocation fails and the process ends. Bytes. */
const DATA_MOST = 1536 * MIB;

/** Environment of an engine process: each thread that allocates would keep an arena of its own (glibc, mallopt(3)). Other C libraries ignore it. */
export const FEW_ARENAS = { MALLOC_ARENA_MAX: '1' };

/** Limit of the JavaScript heap in MB, which the kernel does not limit separately. Members and windows are outside of it. */
const HEAP_MB = 256;

/** Options of `fork` for a process that reads untrusted bytes, with kernel limits where available. */
export function boundedProcess(): { execPath?: string; execArgv: string[] } {
  const flags = ['--expose-gc', `--max-old-space-size=${HEAP_MB}`];
  if (process.platform === 'win32') return { execArgv: flags };
  // The shell execs the process: same id, same channel.
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

/** Whether a process has ended or was killed. The kernel knows this before the exit event arrives here. False if the kernel does not say. */
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
