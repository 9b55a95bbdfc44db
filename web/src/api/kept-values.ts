import { useState } from 'react';
import type { z } from 'zod';
import { keepDraft, readDraft } from './drafts.ts';

/** Stored values of a form; undefined if there are none or they do not fit the schema. */
export function readKept<Values>(place: string, schema: z.ZodType<Values>): Values | undefined {
  const draft = readDraft(place);
  if (draft === '') return undefined;
  try {
    return schema.safeParse(JSON.parse(draft)).data;
  } catch {
    return undefined;
  }
}

/** Stores form values until they are sent. Values equal to `initial` are removed. */
export function keepValues<Values>(place: string, values: Values, initial: Values): void {
  const text = JSON.stringify(values);
  keepDraft(place, text === JSON.stringify(initial) ? '' : text);
}

/** Form state that survives reload and navigation, in this browser and for this person. */
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
