import { Input } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { createPortal } from 'react-dom';
import { type Field, faultOf } from './field-fault.ts';

/** The element to which the sentence is appended: Mantine's wrapper of the field. */
function placeOf(field: Field): Element | null {
  return field.closest('.mantine-InputWrapper-root') ?? field.parentElement;
}

/** Shows the browser's validation errors at each field. The browser's own bubble shows one error, disappears after seconds, and may be in another language. */
export function useWrongFields() {
  const [wrong, setWrong] = useState<readonly Field[]>([]);
  return {
    /** Whether the form may be sent. Focuses the first invalid field. */
    check(form: HTMLFormElement): boolean {
      const fields = [...form.querySelectorAll<Field>(':is(input, textarea, select)')];
      const found = fields.filter((field) => field.willValidate && faultOf(field) !== undefined);
      setWrong(found);
      found[0]?.focus();
      return found.length === 0;
    },
    /** Removes the errors of fields that are valid now. */
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
