import { type ReactNode, type Ref, useId } from 'react';
import './dialog-part.css';

interface DialogPartProps {
  title: string;
  /** Takes the focus when what had it is gone. */
  heading?: Ref<HTMLHeadingElement>;
  /** What stands at the end of the heading's line. */
  action?: ReactNode;
  children: ReactNode;
}

/** A titled part of a dialog, below a line. */
export function DialogPart({ title, heading, action, children }: DialogPartProps) {
  const id = useId();
  return (
    <section className="dialog-part" aria-labelledby={id}>
      <div className="dialog-part__head" data-action={action !== undefined}>
        <h3 ref={heading} id={id} tabIndex={heading ? -1 : undefined}>
          {title}
        </h3>
        {action}
      </div>
      {children}
    </section>
  );
}
