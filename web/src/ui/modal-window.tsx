import { Modal } from '@mantine/core';
import '@mantine/core/styles/Overlay.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/CloseButton.layer.css';
import '@mantine/core/styles/ModalBase.layer.css';
import '@mantine/core/styles/Modal.layer.css';
import { createContext, type ReactNode, type RefObject, useContext, useEffect, useRef, useState } from 'react';
import { useFocusKept } from './focus-kept.tsx';
import './modal-window.css';

interface ModalWindowProps {
  title: string;
  onClose: () => void;
  /** Width at most, in px. */
  size?: number;
  children: ReactNode;
}

const QuestionContext = createContext<RefObject<string | undefined> | undefined>(undefined);

/** While it is rendered, whoever closes the dialog around it, or the page, is asked first: for what is shown this once. */
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

/** A dialog over the page, for as long as it is rendered. The focus goes back to where it was; where that is gone meanwhile, to the page's heading. */
export function ModalWindow({ title, onClose, size = 520, children }: ModalWindowProps) {
  // Read while rendering: the kit moves the focus before our effects run.
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
    if (question.current === undefined || window.confirm(question.current)) onClose();
  }
  return (
    <Modal.Root
      opened
      onClose={close}
      size={size}
      yOffset={24}
      xOffset={16}
      centered
      // The kit does so when it is told to close, and this one is taken away instead.
      returnFocus={false}
      classNames={{ content: 'modal-window', overlay: 'modal-window__overlay', body: 'modal-window__body' }}
    >
      <Modal.Overlay />
      <Modal.Content ref={content}>
        {/* Not the kit's: its header element is a second banner of the page. */}
        <div className="modal-window__header">
          <Modal.Title className="modal-window__title">{title}</Modal.Title>
          <Modal.CloseButton className="modal-window__close" aria-label="Close" size={44} iconSize={20} />
        </div>
        <Modal.Body>
          <QuestionContext value={question}>{children}</QuestionContext>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
