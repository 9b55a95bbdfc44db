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

/** A panel that comes up from the lower edge of a phone. The browser's dialog holds the focus, the Escape key and what lies beneath. */
export function Sheet({ title, isOpen, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();

  useClosedByBack(isOpen, onClose);

  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);

  return (
    // Its own surface is the panel's, so a press on the dialog itself is one on the backdrop; keys have Escape.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already
    <dialog
      ref={dialog}
      className="sheet"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // A link that opens another window leaves this page, and the panel over it, unchanged.
        if (event.target instanceof Element && event.target.matches('.sheet, [target], [target] *')) onClose();
      }}
    >
      {isOpen && (
        <div className="sheet__panel">
          <div className="sheet__head">
            <h2 id={id}>{title}</h2>
            <button type="button" className="sheet__close" aria-label="Close" onClick={onClose}>
              <IconX size={20} stroke={1.7} aria-hidden="true" />
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}
