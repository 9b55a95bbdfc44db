import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { z } from 'zod';
import { keepValues, readKept } from '#api/kept-values.ts';

/** A form whose values survive Escape, navigation and a reload, in this browser and for this person. Call `forget` after sending or discarding. */
export function useKeptForm<Values extends object>(place: string, schema: z.ZodType<Values>, initial: Values) {
  const [kept] = useState(() => readKept(place, schema));
  const form = useForm<Values>({
    initialValues: kept ?? initial,
    onValuesChange: (values) => keepValues(place, values, initial),
  });
  return { form, isKept: kept !== undefined, forget: () => keepValues(place, initial, initial) };
}

/** Explains that the form contains restored values. */
export function KeptNote() {
  return (
    <p role="status" className="sub">
      We restored what you typed here. It isn’t saved yet.
    </p>
  );
}
