import { clockAt, holdsAt } from '@palisade/contract/day';
import type { Household, ProfileRules, ProfileTime } from '@palisade/contract/household';
import { describeClockTime } from '#ui/moment.tsx';

const SUNDAY = 7;
const MIDNIGHT = '00:00';

/** Whether a time for all names runs past midnight. */
export const isBedtime = ({ refuses, from, to }: ProfileTime) => refuses === 'all' && to <= from && to !== MIDNIGHT;

/** The time for all names that applies at a moment (ms); a bedtime takes precedence. */
export function timeAt({ times }: Pick<ProfileRules, 'times'>, time_zone: string, at_ms: number): ProfileTime | undefined {
  const clock = new Date(clockAt(time_zone, at_ms));
  const day = clock.getUTCDay() || SUNDAY;
  const held = times.filter((time) => time.refuses === 'all' && holdsAt(time, day, clock.toISOString().slice(11, 16)));
  return held.find(isBedtime) ?? held[0];
}

/** Whether a time lasts the whole day. */
export const isAllDay = ({ from, to }: ProfileTime) => from === MIDNIGHT && to === MIDNIGHT;

type Asking = Pick<Household['profiles'][number], 'name' | 'rules' | 'state'>;

/** A sentence about when an answer to a “May I?” takes effect; undefined if no pause or schedule blocks. */
export function answerEffect({ name, rules, state }: Asking, time_zone: string, now: number): string | undefined {
  if (state === 'paused') return `Websites are paused for ${name}. Your answer counts after the pause.`;
  const time = timeAt(rules, time_zone, now);
  if (time !== undefined) {
    const until = isAllDay(time) ? 'today' : `until ${describeClockTime(time.to)}`;
    const held = isBedtime(time) ? `It’s ${name}’s bedtime ${until}.` : `${name} has no websites ${until}.`;
    return `${held} “For one hour” opens it now. “Always” opens it after that.`;
  }
  const hasTimes = rules.times.some(({ refuses }) => refuses === 'all');
  return hasTimes ? 'At times without websites, such as bedtime, “Always” waits.' : undefined;
}
