import { z } from 'zod';
import { timeZoneOf } from './day.ts';

const TIME_ZONE_LENGTH_MAXIMUM = 64;

/** An IANA time zone such as `Europe/Berlin`. The browser's time zone is a claim: for an unknown zone the days are those of UTC, which the answer states. */
export const timeZoneQuerySchema = z.object({
  time_zone: z
    .string({ error: 'Enter a time zone, like Europe/Berlin.' })
    .min(1, 'Enter a time zone, like Europe/Berlin.')
    .max(TIME_ZONE_LENGTH_MAXIMUM, { error: 'Enter a time zone, like Europe/Berlin.', abort: true })
    .default('UTC')
    .transform(timeZoneOf),
});
