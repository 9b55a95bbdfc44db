import { clockAt, momentOf } from '@palisade/contract/day';
import { type DeskSettings, WEEKDAYS } from '@palisade/contract/desk';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS_LOOKED_AT = 9;

/** `HH:MM` as ms since the start of a day. */
function timeOf(clock: string): number {
  const [hour = 0, minute = 0] = clock.split(':').map(Number);
  return (hour * 60 + minute) * MINUTE_MS;
}

/** Whether support is open at a time, and if not, when it opens next; null if never. Hours that end before they begin last into the next day, and belong to the day on which they begin. */
export function opening({ hours, time_zone }: DeskSettings, at_ms: number): { is_open: boolean; opens_at: string | null } {
  if (hours === null) return { is_open: true, opens_at: null };
  const clock = clockAt(time_zone, at_ms);
  const today = clock - (clock % DAY_MS);
  // Start with yesterday, whose hours may still last.
  const spans = Array.from({ length: DAYS_LOOKED_AT + 1 }, (_, place) => today + (place - 1) * DAY_MS).flatMap((midnight) => {
    // Monday is the first day of WEEKDAYS.
    const weekday = WEEKDAYS[(new Date(midnight).getUTCDay() + 6) % 7];
    return hours
      .filter(({ day }) => day === weekday)
      .map(({ from, to }) => ({
        begins: momentOf(time_zone, midnight + timeOf(from)),
        ends: momentOf(time_zone, midnight + timeOf(to) + (to <= from ? DAY_MS : 0)),
      }));
  });
  if (spans.some(({ begins, ends }) => begins <= at_ms && at_ms < ends)) return { is_open: true, opens_at: null };
  const next = Math.min(...spans.filter(({ begins, ends }) => begins > at_ms && begins < ends).map(({ begins }) => begins));
  return { is_open: false, opens_at: Number.isFinite(next) ? new Date(next).toISOString() : null };
}
