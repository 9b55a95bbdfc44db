import { constants, setPriority } from 'node:os';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import { createYaraPool, type YaraPool } from '@palisade/scanner/yara-pool';
import { makeOwnFolder, removeOwnFolder } from '#files/own-state.ts';
import { runProgram } from '#firewall/nft.ts';

/** `main` scans files of jobs and large files. `new` scans small files that were just written, so that they do not wait for those. */
type EngineName = 'main' | 'new';

/** An unused engine process ends after this time, in ms. */
const IDLE_MS = 20_000;

export interface ScanEnginesParts {
  signatures: () => SignatureFiles;
  /** Folder for files that the engines unpack. */
  work_folder: string;
  log: (line: string) => void;
  lowerPriority: (pid: number) => Promise<void>;
}

/** Gives a process the lowest CPU and I/O priority, if it still runs. */
export async function lowerPriority(pid: number): Promise<void> {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has ended.
  }
  await runProgram(['ionice'], ['-c', '3', '-p', `${pid}`]).catch(() => undefined);
}

/** The engine processes of this agent, at the lowest priority. They start when they are needed, and end after the last use. */
export class ScanEngines {
  readonly #parts: ScanEnginesParts;
  #pools: Partial<Record<EngineName, YaraPool>> = {};
  /** Processes whose priority was lowered. */
  readonly #lowered = new Set<number>();
  /** Number of tasks that use the engines. */
  #users = 0;
  #idle_timer: NodeJS.Timeout | undefined;
  #is_closed = false;

  constructor(parts: ScanEnginesParts) {
    this.#parts = parts;
  }

  /** Runs a task that starts engines. They keep running until `IDLE_MS` after the last task. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  #release(): void {
    this.#users -= 1;
    clearTimeout(this.#idle_timer);
    if (this.#users > 0 || this.#is_closed) return;
    this.#idle_timer = setTimeout(() => {
      if (this.#users === 0) void this.stop();
    }, IDLE_MS).unref();
  }

  async start(name: EngineName): Promise<YaraPool> {
    await makeOwnFolder(this.#parts.work_folder);
    const logged = (_facts: object, sentence: string) => this.#parts.log(sentence);
    const pool =
      this.#pools[name] ??
      createYaraPool({
        signatures: this.#parts.signatures(),
        size: 1,
        limits: SCAN_LIMITS,
        logger: { debug: () => {}, info: () => {}, warn: logged, error: logged },
      });
    this.#pools[name] = pool;
    return pool;
  }

  /** Lowers the priority of an engine's processes, once each. */
  async lowerPriority(pool: YaraPool): Promise<void> {
    const pids = pool.pids().filter((pid) => !this.#lowered.has(pid));
    for (const pid of pids) {
      this.#lowered.add(pid);
      await this.#parts.lowerPriority(pid);
    }
  }

  /** Running engines load the current signatures. An engine that starts later reads them anyway. */
  async reload(): Promise<void> {
    for (const pool of Object.values(this.#pools))
      if (!(await pool.reload(this.#parts.signatures()))) this.#parts.log('the engine could not take the new signatures');
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle_timer);
    const running = Object.values(this.#pools);
    this.#pools = {};
    this.#lowered.clear();
    await Promise.all(running.map((pool) => pool.close()));
    await removeOwnFolder(this.#parts.work_folder);
  }

  async close(): Promise<void> {
    this.#is_closed = true;
    await this.stop();
  }
}
