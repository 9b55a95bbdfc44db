import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { boundedProcess, ENGINE_MEMORY, residentBytes } from '#scanner/engine/process-memory.ts';
import { Chance } from './chance.ts';

/** Limits of each file of 10 MB or less: processor time, and memory beside that of an idle engine. */
export const BARS = { cpu_ms: 10_000, memory_bytes: ENGINE_MEMORY.most } as const;
/** A candidate is read for so long: enough to tell which files of a small size cost most, and a reader that does not look at the clock stands out. */
const CANDIDATE_MS = 200;
const LOOK_EVERY_MS = 25;
/** Ticks of a second in /proc (sysconf(_SC_CLK_TCK) on Linux). */
const TICKS = 100;

const costSchema = z.object({
  ms: z.number(),
  size: z.int(),
  work: z.number(),
  unread: z.array(z.string()),
  media_type: z.string().nullable(),
  peak: z.number(),
  now: z.number(),
});
const readySchema = z.object({ idle: z.number() });

/** Cost of reading a file; `ended` says why the process was ended over it. */
export interface Cost {
  ms: number;
  size: number;
  work: number;
  unread: string[];
  memory: number;
  ended?: 'time' | 'memory' | 'died';
}

/** Processor time of a process. ms; 0 for one that is gone. */
function cpuOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
  } catch {
    return 0;
  }
}

/** An engine process for one file after the other, which is ended over one that takes more than the bars, and begun anew. */
export class Reading {
  private child: ChildProcess | undefined;
  private idle = 0;
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  private async started(): Promise<ChildProcess> {
    if (this.child !== undefined) return this.child;
    const child = fork(new URL('./reader-search-process.ts', import.meta.url), [], {
      ...boundedProcess(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('message', (message) => {
        this.idle = readySchema.parse(message).idle;
        resolve();
      });
      child.once('exit', () => reject(new Error('The process ended before it was ready.')));
    });
    child.removeAllListeners('exit');
    return child;
  }

  /** Reads one file. @param time_ms instead of the product's own limit */
  async cost(reader: string, numbers: readonly number[], bytes: number, time_ms?: number): Promise<Cost> {
    const child = await this.started();
    const before = cpuOf(child.pid);
    return await new Promise<Cost>((resolve) => {
      const done = (cost: Cost) => {
        clearInterval(watch);
        child.removeAllListeners('message');
        child.removeAllListeners('exit');
        if (cost.ended !== undefined) {
          child.kill('SIGKILL');
          this.child = undefined;
        }
        resolve(cost);
      };
      const ended = (why: 'time' | 'memory' | 'died', memory = 0) =>
        done({ ms: cpuOf(child.pid) - before, size: bytes, work: 0, unread: [], memory, ended: why });
      const watch = setInterval(() => {
        const resident = (residentBytes(child.pid) ?? 0) - this.idle;
        if (resident > BARS.memory_bytes) ended('memory', resident);
        else if (cpuOf(child.pid) - before > BARS.cpu_ms) ended('time', resident);
      }, LOOK_EVERY_MS);
      child.once('message', (message) => {
        const { peak, now, ms, size, work, unread } = costSchema.parse(message);
        // As the pool does with an engine that has grown.
        if (now - this.idle > ENGINE_MEMORY.grown) {
          child.kill('SIGKILL');
          this.child = undefined;
        }
        done({ ms, size, work, unread, memory: Math.max(0, peak - this.idle) });
      });
      child.once('exit', () => ended('died'));
      child.send({ reader, numbers, bytes, time_ms, folder: this.folder });
    });
  }

  end(): void {
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }
}

/** A list of numbers and the cost of its file. */
export interface Found {
  numbers: readonly number[];
  cost: Cost;
}

const LENGTH = { least: 6, most: 48 } as const;
const KEPT = 12;

function fresh(chance: Chance): number[] {
  return Array.from({ length: LENGTH.least + chance.below(LENGTH.most - LENGTH.least) }, () => chance.next());
}

/** The list with some of it changed, or crossed with another one. */
function changed(chance: Chance, numbers: readonly number[], other: readonly number[]): number[] {
  const list = [...numbers];
  for (let turn = 1 + chance.below(3); turn > 0; turn -= 1) {
    const at = chance.below(list.length);
    const old = list[at] ?? 0;
    const way = chance.below(6);
    if (way === 0) list[at] = chance.next();
    else if (way === 1) list[at] = old + 1;
    else if (way === 2) list[at] = Math.max(0, old - 1);
    else if (way === 3 && list.length < LENGTH.most) list.splice(at, 0, chance.below(16));
    else if (way === 4 && list.length > 1) list.splice(at, 1);
    else list.splice(at, list.length, ...other.slice(at));
    if (list.length === 0) list.push(chance.next());
  }
  return list;
}

/** Cost of a file, for choosing among those of one size: ended ones cost most. */
const weight = ({ ms, memory, ended }: Cost) => (ended === undefined ? ms + memory / 2 ** 20 : Number.MAX_SAFE_INTEGER);

/**
 * Looks for the files of a reader that cost most: a quarter of the candidates by chance, the others changed from the worst so far.
 * @param bytes of each candidate; what it finds is worth trying at ten megabytes
 */
export async function searchWorst(
  reading: Reading,
  reader: string,
  order: { seed: number; candidates: number; bytes: number },
): Promise<Found[]> {
  const chance = new Chance(order.seed);
  let worst: Found[] = [];
  for (let index = 0; index < order.candidates; index += 1) {
    const parent = worst[chance.below(Math.max(1, worst.length))];
    const mate = worst[chance.below(Math.max(1, worst.length))];
    const numbers =
      parent === undefined || mate === undefined || index % 4 === 0
        ? fresh(chance)
        : changed(chance, parent.numbers, mate.numbers);
    const cost = await reading.cost(reader, numbers, order.bytes, CANDIDATE_MS);
    worst = [...worst, { numbers, cost }].sort((one, other) => weight(other.cost) - weight(one.cost)).slice(0, KEPT);
  }
  return worst;
}
