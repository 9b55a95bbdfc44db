import { IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useClosedByBack } from './closed-by-back.ts';
import './sheet.css';

interface SheetProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A panel from the bottom edge of a phone. The native dialog handles focus, Escape and the inert page below. */
export function Sheet({ title, isOpen, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();

  useClosedByBack(isOpen, onClose);

  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);

  return (
    // The panel covers the dialog's own area, so a press on the dialog element is on the backdrop. Escape is the keyboard equivalent.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape already closes a dialog
    <dialog
      ref={dialog}
      className="sheet"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // A link to a new window does not navigate this page, so the panel must close itself.
        if (event.target instanceof Element && event.target.matches('.sheet, [target], [target] *')) onClose();
      }}
    >
      {isOpen && (
        <div className="sheet__panel">
          <div className="sheet__head">
            <h2 id={id}>{title}</h2>
            <button type="button" className="sheet__close muted rounded pointer" aria-label="Close" onClick={onClose}>
              <IconX size={20} stroke={1.7} aria-hidden="true" />
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}
