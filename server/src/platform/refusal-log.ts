import type { FastifyBaseLogger } from 'fastify';

const MINUTE_MS = 60_000;
/** Lines of one source in a minute: enough to see what it does. */
const LINES_MAXIMUM = 20;
/** Sources that are known apart; the rest shares one allowance. */
const SOURCES_MAXIMUM = 10_000;
const OTHERS = 'others';

interface Told {
  begun_at: number;
  lines: number;
  left_out: number;
}

/** Bounds what refused calls write into the log. */
export interface RefusalLog {
  /** Whether one more line of this source is written now. Each line that is not is counted. */
  mayTell(source: string): boolean;
  /** Writes down how many lines were left out of the minutes that are over. */
  settle(): void;
}

/**
 * Bounds log lines of refusals, whose number an attacker controls: so many lines of each source are written in a minute, then one with the number of those left
 * out. `now` is in ms.
 */
export function createRefusalLog({ logger, now }: { logger: Pick<FastifyBaseLogger, 'warn'>; now: () => number }): RefusalLog {
  const sources = new Map<string, Told>();
  let later: NodeJS.Timeout | undefined;

  function sayLeftOut(source: string, { left_out }: Told): void {
    if (left_out > 0) logger.warn({ source, left_out }, 'log lines of refused calls were left out');
  }

  function settle(): void {
    const at = now();
    for (const [source, told] of sources) {
      if (Math.abs(at - told.begun_at) < MINUTE_MS) continue;
      sources.delete(source);
      sayLeftOut(source, told);
    }
  }

  return {
    settle,

    mayTell(source) {
      const at = now();
      const name = sources.has(source) || sources.size < SOURCES_MAXIMUM ? source : OTHERS;
      let told = sources.get(name);
      if (told !== undefined && Math.abs(at - told.begun_at) >= MINUTE_MS) {
        sayLeftOut(name, told);
        told = undefined;
      }
      if (told === undefined) {
        told = { begun_at: at, lines: 0, left_out: 0 };
        sources.set(name, told);
      }
      if (told.lines < LINES_MAXIMUM) {
        told.lines += 1;
        return true;
      }
      told.left_out += 1;
      if (later === undefined)
        later = setTimeout(() => {
          later = undefined;
          settle();
        }, MINUTE_MS + 1).unref();
      return false;
    },
  };
}

const logs = new WeakMap<object, RefusalLog>();

/** The bound of a server’s log: every writer of refused calls uses the same one. */
export function refusalsOf(logger: Pick<FastifyBaseLogger, 'warn'>): RefusalLog {
  let log = logs.get(logger);
  if (log === undefined) {
    log = createRefusalLog({ logger, now: () => performance.now() });
    logs.set(logger, log);
  }
  return log;
}

/** Has another logger, which writes into the same log, share its bound. */
export function shareRefusals(other: Pick<FastifyBaseLogger, 'warn'>, logger: Pick<FastifyBaseLogger, 'warn'>): void {
  logs.set(other, refusalsOf(logger));
}
