import { uptime } from 'node:os';

/** The server's time: its last reported time plus the time elapsed since. */
export interface ServerClock {
  /** ms since 1970. This computer's clock is used until the server has sent its time. */
  now(): number;
  /** Sets the server's time minus this computer's time, in ms. */
  hear(skew_ms: number): void;
}

/** @param since_start ms since the computer's start, including suspension; unlike `wall`, this clock cannot be set */
export function createServerClock(wall = Date.now, since_start = () => uptime() * 1_000): ServerClock {
  let said: { at: number; since: number } | undefined;
  return {
    now: () => (said === undefined ? wall() : said.at + since_start() - said.since),
    hear(skew_ms) {
      said = { at: wall() + skew_ms, since: since_start() };
    },
  };
}
