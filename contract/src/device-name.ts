import { z } from 'zod';
import { isOneLine } from './fields.ts';

/** Maximum length of a device's name, in characters. */
export const DEVICE_NAME_MAXIMUM = 60;

const LONGEST_NAME = `Use at most ${DEVICE_NAME_MAXIMUM} characters for the device name.`;

export const deviceNameSchema = z
  .string({ error: 'Enter a name for the device.' })
  .trim()
  .min(1, 'Enter a name for the device.')
  .max(2 * DEVICE_NAME_MAXIMUM, { error: LONGEST_NAME, abort: true })
  .refine((name) => [...name].length <= DEVICE_NAME_MAXIMUM, LONGEST_NAME)
  .refine(isOneLine, 'Remove the control characters from the device name.');
