import { type DeskSettings, WEEKDAYS } from '@palisade/contract/desk';

const DAY_MS = 86_400_000;
const DAYS_LOOKED_AT = 9;

interface Local {
  /** The clock of the place, read as if it were UTC, in ms. */
  as_utc: number;
  day: number;
  /** `HH:MM`. */
  time: string;
}

function localAt(time_zone: string, at_ms: number): Local {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: time_zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  }).formatToParts(at_ms);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '00';
  const as_utc = Date.UTC(
    Number(part('year')),
    Number(part('month')) - 1,
    Number(part('day')),
    Number(part('hour')),
    Number(part('minute')),
  );
  // Monday is the first day of WEEKDAYS.
  return { as_utc, day: (new Date(as_utc).getUTCDay() + 6) % 7, time: `${part('hour')}:${part('minute')}` };
}

/** When a clock in the time zone shows what `as_utc` says; of a time that a clock skips, the moment after the gap. */
function momentOf(time_zone: string, as_utc: number): number {
  let moment = as_utc;
  // The offset at the guess, and once more where the clock was changed in between.
  for (let round = 0; round < 2; round += 1) moment += as_utc - localAt(time_zone, moment).as_utc;
  return moment;
}

/** Whether support is there at a moment by its hours, and when not, from when on it is; null where it never is. */
export function opening({ hours, time_zone }: DeskSettings, at_ms: number): { is_open: boolean; opens_at: string | null } {
  if (hours === null) return { is_open: true, opens_at: null };
  const local = localAt(time_zone, at_ms);
  const isWithin = ({ day, from, to }: (typeof hours)[number]) =>
    WEEKDAYS.indexOf(day) === local.day && from <= local.time && local.time < to;
  if (hours.some(isWithin)) return { is_open: true, opens_at: null };
  const midnight = local.as_utc - (local.as_utc % DAY_MS);
  const openings = Array.from({ length: DAYS_LOOKED_AT }, (_, ahead) =>
    hours
      .filter(({ day }) => WEEKDAYS.indexOf(day) === (local.day + ahead) % 7)
      .map(({ from }) => {
        const [hour = 0, minute = 0] = from.split(':').map(Number);
        return momentOf(time_zone, midnight + ahead * DAY_MS + (hour * 60 + minute) * 60_000);
      }),
  )
    .flat()
    .filter((moment) => moment > at_ms)
    .toSorted((one, other) => one - other);
  const [first] = openings;
  return { is_open: false, opens_at: first === undefined ? null : new Date(first).toISOString() };
}

/** The day that a clock of the time zone shows, as `2026-11-20`. */
export function dayOf(time_zone: string, at_ms: number): string {
  return new Date(localAt(time_zone, at_ms).as_utc).toISOString().slice(0, 10);
}

/** When a day begins in the time zone, in ms. */
export function startOfDay(time_zone: string, day: string): number {
  return momentOf(time_zone, Date.parse(`${day}T00:00:00Z`));
}
