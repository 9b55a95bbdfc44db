import { type ReactNode, type Ref, useId } from 'react';
import './dialog-part.css';

interface DialogPartProps {
  title: string;
  /** Heading level; `h1` for a part that is a page. */
  rank?: 'h1' | 'h3';
  /** Receives the focus when the focused element is unmounted. */
  heading?: Ref<HTMLHeadingElement>;
  /** Content at the end of the heading's line. */
  action?: ReactNode;
  children: ReactNode;
}

/** A titled part of a dialog, below a line. */
export function DialogPart({ title, rank: Heading = 'h3', heading, action, children }: DialogPartProps) {
  const id = useId();
  return (
    <section className="dialog-part" aria-labelledby={id}>
      <div className="dialog-part__head" data-action={action !== undefined}>
        <Heading ref={heading} id={id} tabIndex={heading ? -1 : undefined}>
          {title}
        </Heading>
        {action}
      </div>
      {children}
    </section>
  );
}
