import { Modal } from '@mantine/core';
import '@mantine/core/styles/Overlay.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/CloseButton.layer.css';
import '@mantine/core/styles/ModalBase.layer.css';
import '@mantine/core/styles/Modal.layer.css';
import { createContext, type ReactNode, type RefObject, useContext, useEffect, useRef, useState } from 'react';
import { useClosedByBack } from './closed-by-back.ts';
import { useFocusKept } from './focus-kept.tsx';
import './modal-window.css';

interface ModalWindowProps {
  title: string;
  onClose: () => void;
  /** Maximum width, in px. */
  size?: number;
  children: ReactNode;
}

const QuestionContext = createContext<RefObject<string | undefined> | undefined>(undefined);

/** While mounted, closing the dialog or the page asks first, because the content is shown only once. */
export function AskBeforeClosing({ question }: { question: string }) {
  const asked = useContext(QuestionContext);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    if (asked) asked.current = question;
    return () => {
      window.removeEventListener('beforeunload', warn);
      if (asked) asked.current = undefined;
    };
  }, [asked, question]);
  return null;
}

/** A dialog over the page while mounted. Closing returns the focus to the opener, or to the heading of the page if the opener is gone. */
export function ModalWindow({ title, onClose, size = 520, children }: ModalWindowProps) {
  // Read during render: Mantine moves the focus before our effects run.
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      // The closing code may have moved the focus already.
      else if (document.activeElement === document.body) document.querySelector('h1')?.focus();
    },
    [opener],
  );
  const content = useFocusKept();
  const question = useRef<string>(undefined);
  function close() {
    if (question.current !== undefined && !window.confirm(question.current)) return false;
    onClose();
    return true;
  }
  useClosedByBack(true, close);
  return (
    <Modal.Root
      opened
      onClose={close}
      size={size}
      yOffset={24}
      xOffset={16}
      centered
      // Mantine returns the focus only when `opened` becomes false, but this dialog is unmounted.
      returnFocus={false}
      classNames={{ content: 'modal-window', overlay: 'modal-window__overlay', body: 'modal-window__body' }}
    >
      <Modal.Overlay />
      <Modal.Content ref={content}>
        {/* Not Mantine's header: its element would be a second banner landmark of the page. */}
        <div className="modal-window__header">
          <Modal.Title className="modal-window__title large">{title}</Modal.Title>
          <Modal.CloseButton className="modal-window__close muted" aria-label="Close" size={44} iconSize={20} />
        </div>
        <Modal.Body>
          <QuestionContext value={question}>{children}</QuestionContext>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
