import type { Exposure } from '@palisade/contract/platform';

/** `count` per `period_ms`, with bursts of at most `count`. */
export interface Rate {
  count: number;
  period_ms: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const perMinute = (count: number): Rate => ({ count, period_ms: MINUTE_MS });

/**
 * Every limit by its name, as LIMITS writes it. `pair`: wrong passwords of one account from one source before that pair is refused (fail2ban's default).
 * `spray`: different accounts with wrong passwords from one source (CrowdSec: 5, one of them forgotten each 10 s). `distributed`: wrong passwords of one
 * account from everywhere before each further try has to wait. `letters`: mails to one address; `letters.reset` and `letters.asked`: of those that anyone can
 * ask for, reset tokens, and each other kind. Used up, another reset token goes out each 5 minutes, within the 15 that one lives: a loop of requests leaves no
 * mailbox without a valid one. The others are calls: those of one account or, with `.source`, of one source. They are at least four times the calls of the
 * busiest screens (docs/decisions/accounts.md).
 */
const DEFAULTS = {
  pair: { count: 5, period_ms: 10 * MINUTE_MS },
  spray: { count: 5, period_ms: 50 * SECOND_MS },
  distributed: { count: 20, period_ms: HOUR_MS },
  'sign_in.source': perMinute(240),
  recovery: { count: 5, period_ms: 15 * MINUTE_MS },
  'recovery.source': { count: 60, period_ms: 15 * MINUTE_MS },
  'register.source': { count: 60, period_ms: HOUR_MS },
  letters: { count: 60, period_ms: HOUR_MS },
  'letters.asked': { count: 5, period_ms: DAY_MS },
  'letters.reset': { count: 6, period_ms: 30 * MINUTE_MS },
  read: perMinute(3_000),
  'read.source': perMinute(30_000),
  write: perMinute(600),
  'write.source': perMinute(6_000),
  upload: perMinute(24_000),
  'upload.source': perMinute(48_000),
  expensive: perMinute(240),
  'expensive.source': perMinute(2_400),
  admin: perMinute(1_200),
  'admin.source': perMinute(12_000),
  scam_check: perMinute(30),
  'sockets.source': perMinute(3_000),
  'document.source': perMinute(60),
} as const satisfies Record<string, Rate>;

type LimitName = keyof typeof DEFAULTS;
export type Limits = Readonly<Record<LimitName, Rate>>;

/** In local exposure all people share the one loopback source, so limits by source are this many times higher. */
const LOCAL_TIMES = 20;
const COUNT_MAXIMUM = 1_000_000;
const PERIOD_MAXIMUM_MS = 7 * DAY_MS;
const UNITS_MS = new Map([
  ['s', SECOND_MS],
  ['m', MINUTE_MS],
  ['h', HOUR_MS],
  ['d', DAY_MS],
]);

const names = Object.keys(DEFAULTS);

function isLimitName(name: string): name is LimitName {
  return names.includes(name);
}

/** The limit for a source that many people share: the same as in local exposure. */
export function sharedRate({ count, period_ms }: Rate): Rate {
  return { count: count * LOCAL_TIMES, period_ms };
}

function isOfSource(name: LimitName): boolean {
  return name === 'spray' || name.endsWith('.source');
}

/** Parses `5/10m`: a count, and a period in s, m, h or d. Undefined for anything else. */
function parseRate(text: string): Rate | undefined {
  const [, count, length, unit] = /^(\d{1,7})\/(\d{1,6})([smhd])$/.exec(text) ?? [];
  const rate = { count: Number(count), period_ms: Number(length) * (UNITS_MS.get(unit ?? '') ?? 0) };
  const isRate = rate.count >= 1 && rate.count <= COUNT_MAXIMUM && rate.period_ms >= SECOND_MS;
  return isRate && rate.period_ms <= PERIOD_MAXIMUM_MS ? rate : undefined;
}

/**
 * The limits of a server. `settings` are entries such as `read=1200/1m`; others have their defaults.
 * @throws Error with a sentence that follows the variable's name.
 */
export function parseLimits(settings: readonly string[], exposure: Exposure): Limits {
  const limits: Record<LimitName, Rate> = { ...DEFAULTS };
  for (const name of names) {
    if (exposure === 'local' && isLimitName(name) && isOfSource(name)) limits[name] = sharedRate(limits[name]);
  }
  for (const setting of settings) {
    const [name = '', value = ''] = setting.split('=', 2);
    if (!isLimitName(name)) throw new Error(`has no limit "${name}". Use one of: ${names.join(', ')}`);
    const rate = parseRate(value);
    if (rate === undefined)
      throw new Error(`must set ${name} as a count and a period from 1s to 7d, for example ${name}=${DEFAULTS[name].count}/1m`);
    // With a count of 1, a single wrong password would be refused.
    if ((name === 'pair' || name === 'spray') && rate.count < 2) throw new Error(`must set ${name} to a count of 2 or more`);
    limits[name] = rate;
  }
  return limits;
}
