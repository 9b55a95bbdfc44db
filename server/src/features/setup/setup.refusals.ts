import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals of a logo. A landed code never changes its meaning or its parameters. */
export const SETUP_REFUSALS = {
  'logo.not_png': { problem: 'invalid_field', english: 'This isn’t a PNG file. Save the logo as PNG and choose it again.' },
  'logo.too_many_bytes': {
    problem: 'invalid_field',
    english: 'The logo is larger than {maximum}. Save a smaller one and choose it again.',
    params: { maximum: 'bytes' },
  },
  'logo.too_wide': {
    problem: 'invalid_field',
    english: 'The logo has {width} × {height} pixels. Save it with at most {maximum} a side.',
    params: { width: 'number', height: 'number', maximum: 'number' },
  },
  'logo.animated': { problem: 'invalid_field', english: 'This PNG is animated. Save one frame of it and choose that file.' },
  'logo.damaged': {
    problem: 'invalid_field',
    english: 'This PNG is damaged or not complete. Save the logo again and choose the new file.',
  },
  'logo.blank': { problem: 'invalid_field', english: 'All of this picture is transparent. Choose one that shows something.' },
  'logo.busy': { problem: 'unavailable', english: 'Another logo is being read. Try again in a moment.' },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(SETUP_REFUSALS);
