import { useMergedRef } from '@mantine/hooks';
import { type ComponentProps, createContext, use, useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import type { Gap } from './layout.tsx';
import { useWrongFields } from './wrong-fields.tsx';

interface FormProps extends Omit<ComponentProps<'form'>, 'action' | 'noValidate' | 'onChange' | 'onSubmit'> {
  /** The refusal of the last attempt; null before. A new value focuses the first invalid field. */
  error: object | string | null | undefined;
  /** True while an attempt is being sent: the form cannot be submitted, and edits do not remove the message. */
  busy: boolean;
  onSubmit: () => void;
  /** Called when a value changes, to remove the message of the last attempt. */
  onEdit?: (() => void) | undefined;
  /** The owner or the server validates the fields, so attributes such as `required` do not block. */
  noValidate?: boolean;
  /** Its children are below each other, as in Stack (layout.tsx). */
  gap?: Gap | undefined;
}

const Busy = createContext(false);

/** The form of all screens except sign-in (`auth-form.tsx`). Submitted by Enter or `Submit`; keeps its values until the owner clears them. */
export function Form({ error, busy, onSubmit, onEdit, ref, noValidate = false, gap, children, ...props }: FormProps) {
  const own = useRef<HTMLFormElement>(null);
  const wrong = useWrongFields();
  useEffect(() => {
    if (error) own.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <Busy value={busy}>
      <form
        data-layout={gap && 'stack'}
        data-gap={gap}
        {...props}
        // Errors are shown at their fields (`wrong-fields.tsx`) instead of the browser's bubble.
        noValidate
        ref={useMergedRef(own, ref)}
        onChange={() => {
          wrong.look();
          if (!busy) onEdit?.();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && (noValidate || wrong.check(event.currentTarget))) onSubmit();
        }}
      >
        {children}
        {wrong.sentences}
      </form>
    </Busy>
  );
}

/** The submit button, which shows a pending attempt. */
export function Submit(props: Omit<ComponentProps<typeof Button>, 'type' | 'loading'>) {
  return <Button {...props} type="submit" loading={use(Busy)} />;
}
