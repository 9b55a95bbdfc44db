import { useState } from 'react';
import type { z } from 'zod';
import { keepDraft, readDraft } from './drafts.ts';

/** Unsent values of a form from an earlier visit; undefined where there is none, or it is of another version. */
export function readKept<Values>(place: string, schema: z.ZodType<Values>): Values | undefined {
  const draft = readDraft(place);
  if (draft === '') return undefined;
  try {
    return schema.safeParse(JSON.parse(draft)).data;
  } catch {
    return undefined;
  }
}

/** Keeps what is typed, until it is sent: `initial` itself is worth nothing, and is forgotten. */
export function keepValues<Values>(place: string, values: Values, initial: Values): void {
  const text = JSON.stringify(values);
  keepDraft(place, text === JSON.stringify(initial) ? '' : text);
}

/** State of a form that outlives a reload and a step back, in this browser and for this person alone. */
export function useKeptState<Values>(place: string, schema: z.ZodType<Values>, initial: Values) {
  const [values, setValues] = useState(() => readKept(place, schema) ?? initial);
  return [
    values,
    (next: Values) => {
      setValues(next);
      keepValues(place, next, initial);
    },
  ] as const;
}
