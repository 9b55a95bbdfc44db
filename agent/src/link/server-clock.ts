import { uptime } from 'node:os';

/** The time of day by the server's clock: its last time, plus the time since. */
export interface ServerClock {
  /** ms since 1970. Until the server has sent its time, by this computer's clock. */
  now(): number;
  /** The server's clock is so far ahead of this computer's, in ms. */
  hear(skew_ms: number): void;
}

/** @param since_start ms since the computer's start, suspended or not: nobody sets that clock, as people and programs set `wall`. */
export function createServerClock(wall = Date.now, since_start = () => uptime() * 1_000): ServerClock {
  let said: { at: number; since: number } | undefined;
  return {
    now: () => (said === undefined ? wall() : said.at + since_start() - said.since),
    hear(skew_ms) {
      said = { at: wall() + skew_ms, since: since_start() };
    },
  };
}
