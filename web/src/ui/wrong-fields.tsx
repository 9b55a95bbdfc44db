import { Input } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { createPortal } from 'react-dom';
import { type Field, faultOf } from './field-fault.ts';

/** Where the sentence stands: last in what the kit draws around a field. */
function placeOf(field: Field): Element | null {
  return field.closest('.mantine-InputWrapper-root') ?? field.parentElement;
}

/**
 * Faults that a browser finds in the fields of a form, shown at each field. The browser's own bubble shows one at a time, goes after some seconds, and is in
 * another language than the page.
 */
export function useWrongFields() {
  const [wrong, setWrong] = useState<readonly Field[]>([]);
  return {
    /** Whether the form may be sent; the first field that is wrong takes the focus. */
    check(form: HTMLFormElement): boolean {
      const fields = [...form.querySelectorAll<Field>(':is(input, textarea, select)')];
      const found = fields.filter((field) => field.willValidate && faultOf(field) !== undefined);
      setWrong(found);
      found[0]?.focus();
      return found.length === 0;
    },
    /** Takes back what was said of fields that are right meanwhile. */
    look() {
      setWrong((before) => (before.length === 0 ? before : before.filter((field) => faultOf(field) !== undefined)));
    },
    sentences: wrong.map((field, index) => <WrongField key={field.name || index} field={field} />),
  };
}

function WrongField({ field }: { field: Field }) {
  const id = useId();
  useEffect(() => {
    const box = field.closest('.mantine-Input-wrapper');
    const described = field.getAttribute('aria-describedby');
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', described === null ? id : `${described} ${id}`);
    box?.setAttribute('data-error', 'true');
    return () => {
      field.removeAttribute('aria-invalid');
      box?.removeAttribute('data-error');
      if (described === null) field.removeAttribute('aria-describedby');
      else field.setAttribute('aria-describedby', described);
    };
  }, [field, id]);
  const place = placeOf(field);
  return (
    place &&
    createPortal(
      <Input.Error id={id} size="md" mt="var(--s1h)">
        {faultOf(field)}
      </Input.Error>,
      place,
    )
  );
}
