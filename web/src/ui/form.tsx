import { useMergedRef } from '@mantine/hooks';
import { type ComponentProps, createContext, use, useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import { useWrongFields } from './wrong-fields.tsx';

interface FormProps extends Omit<ComponentProps<'form'>, 'action' | 'noValidate' | 'onChange' | 'onSubmit'> {
  /** Why the last try was refused, null before. With another one the first field that is marked as wrong takes the focus. */
  error: object | string | null | undefined;
  /** A try is on its way. Until it is over nothing is sent, and what is typed takes nothing back. */
  busy: boolean;
  onSubmit: () => void;
  /** Something in it was typed or chosen: what was said of the last try goes. */
  onEdit?: (() => void) | undefined;
  /** Its fields are looked at by its owner or by the server alone: `required` and the like stop nothing. */
  noValidate?: boolean;
}

const Busy = createContext(false);

/** Every form of the screens but the first one (`auth-form.tsx`). It is sent by Enter and by its `Submit`, and keeps what was typed until its owner empties it. */
export function Form({ error, busy, onSubmit, onEdit, ref, noValidate = false, children, ...props }: FormProps) {
  const own = useRef<HTMLFormElement>(null);
  const wrong = useWrongFields();
  useEffect(() => {
    if (error) own.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <Busy value={busy}>
      <form
        {...props}
        // A fault is named at its field (`wrong-fields.tsx`), and not in the browser's bubble.
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

/** The button of a form. It shows that a try is on its way. */
export function Submit(props: Omit<ComponentProps<typeof Button>, 'type' | 'loading'>) {
  return <Button {...props} type="submit" loading={use(Busy)} />;
}
