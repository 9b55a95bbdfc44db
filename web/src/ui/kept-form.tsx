import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { z } from 'zod';
import { keepValues, readKept } from '#api/kept-values.ts';

/** A form that outlives Escape, a step back and a reload, in this browser and for this person alone. `forget` is for what was sent, or given up. */
export function useKeptForm<Values extends object>(place: string, schema: z.ZodType<Values>, initial: Values) {
  const [kept] = useState(() => readKept(place, schema));
  const form = useForm<Values>({
    initialValues: kept ?? initial,
    onValuesChange: (values) => keepValues(place, values, initial),
  });
  return { form, isKept: kept !== undefined, forget: () => keepValues(place, initial, initial) };
}

/** Says of a form why it is not empty. */
export function KeptNote() {
  return (
    <p role="status" className="sub">
      We restored what you typed here. It isn’t saved yet.
    </p>
  );
}
