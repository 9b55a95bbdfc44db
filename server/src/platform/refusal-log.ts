import type { FastifyBaseLogger } from 'fastify';

const MINUTE_MS = 60_000;
/** Maximum log lines of one source per minute: enough to see its behaviour. */
const LINES_MAXIMUM = 20;
/** Maximum number of sources with their own allowance; the rest share one. */
const SOURCES_MAXIMUM = 10_000;
const OTHERS = 'others';

interface Told {
  begun_at: number;
  lines: number;
  left_out: number;
}

/** Limits the log lines of refused calls. */
export interface RefusalLog {
  /** Whether one more line of this source may be written now. Suppressed lines are counted. */
  mayTell(source: string): boolean;
  /** Logs the number of lines that were suppressed in the past minutes. */
  settle(): void;
}

/** Limits log lines of refusals, whose number an attacker controls: a number of lines per source and minute, then one with the number of suppressed ones. `now` is in ms. */
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

/** The limit of a server’s log, which all writers of refused calls share. */
export function refusalsOf(logger: Pick<FastifyBaseLogger, 'warn'>): RefusalLog {
  let log = logs.get(logger);
  if (log === undefined) {
    log = createRefusalLog({ logger, now: () => performance.now() });
    logs.set(logger, log);
  }
  return log;
}

/** Makes another logger of the same log share its limit. */
export function shareRefusals(other: Pick<FastifyBaseLogger, 'warn'>, logger: Pick<FastifyBaseLogger, 'warn'>): void {
  logs.set(other, refusalsOf(logger));
}
