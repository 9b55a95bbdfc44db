import { z } from 'zod';
import { timeZoneOf } from './day.ts';

const TIME_ZONE_LENGTH_MAXIMUM = 64;

/** An IANA time zone such as `Europe/Berlin`. The browser's zone may be invalid: for an unknown zone days are in UTC, and the reply says so. */
export const timeZoneQuerySchema = z.object({
  time_zone: z
    .string({ error: 'Enter a time zone, like Europe/Berlin.' })
    .min(1, 'Enter a time zone, like Europe/Berlin.')
    .max(TIME_ZONE_LENGTH_MAXIMUM, { error: 'Enter a time zone, like Europe/Berlin.', abort: true })
    .default('UTC')
    .transform(timeZoneOf),
});
