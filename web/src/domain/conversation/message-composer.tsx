import { Textarea } from '@mantine/core';
import { MESSAGE_LENGTH_MAXIMUM, messageLength, TYPING_EVERY } from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import { formatNumber } from '@palisade/contract/intl';
import { IconPaperclip, IconSend } from '@tabler/icons-react';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { keepDraft, readDraft } from '#api/drafts.ts';
import { Form, Submit } from '#ui/form.tsx';
import { Grid } from '#ui/layout.tsx';
import { enterMeans, isOfInputMethod } from '#ui/pressed.ts';
import { AttachingList } from './attachments.tsx';
import { useAttaching } from './use-attaching.ts';
import './message-composer.css';

interface Written {
  message: string;
  attachments: Attachment[];
}

/** Actions that other components perform on the field. */
export interface ComposerHandle {
  focus: () => void;
  /** Changes the draft and focuses the field. */
  write: (change: (draft: string) => string) => void;
  /** Puts a text below the draft, and focuses the field. */
  add: (text: string) => void;
}

interface MessageComposerProps {
  ref?: Ref<ComposerHandle>;
  /** Storage key of the draft. Pass it as the React key too, so that another draft has another composer. */
  place: string;
  label?: string;
  placeholder: string;
  /** The Send button shows that it is busy and ignores presses. */
  isSending: boolean;
  onSend: (written: Written) => void;
  /** Called at most once in each `TYPING_EVERY`. */
  onTyping: () => void;
  onDraft?: (draft: string) => void;
  /** Handles a key before the field does; returns true if the key is handled. */
  onKey?: (event: KeyboardEvent<HTMLTextAreaElement>) => boolean;
  /** Links the field to the list that the arrow keys move through. */
  fieldProps?: { 'aria-controls'?: string; 'aria-activedescendant'?: string; 'aria-autocomplete'?: 'list' };
  tone?: 'note' | undefined;
  above?: ReactNode;
  below?: ReactNode;
}

/** The field for a message with its files, which are chosen, pasted or dropped. This browser stores the draft until it is sent. */
export function MessageComposer({
  ref,
  place,
  label = 'Message',
  placeholder,
  isSending,
  onSend,
  onTyping,
  onDraft,
  onKey,
  fieldProps,
  tone,
  above,
  below,
}: MessageComposerProps) {
  const [draft, setDraft] = useState(() => readDraft(place));
  const field = useRef<HTMLTextAreaElement>(null);
  const typed_at = useRef(0);
  const { files, add, remove, clear, clean, isBusy } = useAttaching();
  const length = messageLength(draft);
  const isTooLong = length > MESSAGE_LENGTH_MAXIMUM;
  const isEmpty = draft.trim() === '' && clean.length === 0;
  const maySend = !isEmpty && !isTooLong && !isBusy && !isSending;

  function write(text: string) {
    setDraft(text);
    keepDraft(place, text);
    onDraft?.(text);
  }

  useImperativeHandle(ref, () => {
    const change = (text: string) => {
      write(text);
      field.current?.focus();
    };
    return {
      focus: () => field.current?.focus(),
      write: (changed) => change(changed(draft)),
      add: (text) => change(draft.trim() === '' ? text : `${draft.trimEnd()}\n${text}`),
    };
  });

  function send() {
    if (!maySend) return;
    onSend({ message: draft.trim() === '' ? '' : draft, attachments: clean });
    write('');
    clear();
    field.current?.focus();
  }

  function type(text: string) {
    write(text);
    const now = Date.now();
    if (text.trim() === '' || now - typed_at.current < TYPING_EVERY) return;
    typed_at.current = now;
    onTyping();
  }

  function press(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (isOfInputMethod(event) || onKey?.(event) || enterMeans(event) !== 'send') return;
    event.preventDefault();
    send();
  }

  function paste(event: ClipboardEvent) {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    add(pasted);
  }

  useFocusKept(field);
  const { isOver, dropProps } = useDropped(add);

  return (
    <Form
      error={null}
      busy={isSending}
      gap="2"
      className="composer line-above"
      data-tone={tone}
      data-over={isOver}
      onSubmit={send}
      {...dropProps}
    >
      {above}
      <AttachingList files={files} onRemove={remove} />
      <Grid columns="both" gap="2" align="end" className="composer__line">
        <AttachButton onFiles={add} />
        <Textarea
          ref={field}
          className="composer__field growing"
          size="md"
          rows={1}
          aria-label={label}
          placeholder={placeholder}
          {...fieldProps}
          value={draft}
          error={
            isTooLong
              ? `${formatNumber(length)} of ${formatNumber(MESSAGE_LENGTH_MAXIMUM)} characters. Split it into parts.`
              : undefined
          }
          onChange={(event) => type(event.currentTarget.value)}
          onKeyDown={press}
          onPaste={paste}
        />
        <Submit size="l" icon={IconSend} disabled={isEmpty || isTooLong || isBusy}>
          Send
        </Submit>
      </Grid>
      {below}
      {isOver && (
        <p className="composer__drop center rounded accent bold" aria-hidden="true">
          Drop files to attach them
        </p>
      )}
    </Form>
  );
}

/** Keeps the focus in the field when a button or link of the conversation is pressed. On a phone the focused field has the whole window, and a change of focus would move the button from under the finger. */
function useFocusKept(field: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const keepFocus = (event: MouseEvent) => {
      const isButton = event.target instanceof Element && event.target.closest('button, a') !== null;
      if (isButton && document.activeElement === field.current) event.preventDefault();
    };
    document.addEventListener('mousedown', keepFocus);
    return () => document.removeEventListener('mousedown', keepFocus);
  }, [field]);
}

/** Accepts dropped files. `isOver` is true while files are dragged over the element. */
function useDropped(onFiles: (files: File[]) => void) {
  const [isOver, setIsOver] = useState(false);
  const dropProps = {
    onDragOver(event: DragEvent) {
      if (!event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop(event: DragEvent) {
      setIsOver(false);
      if (event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      onFiles([...event.dataTransfer.files]);
    },
  };
  return { isOver, dropProps };
}

function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Choose files for your message"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // Reset the input, so that choosing the same file again fires a change event.
          currentTarget.value = '';
        }}
      />
      <button
        type="button"
        className="composer__attach center bare rounded-s muted"
        aria-label="Attach files"
        title="Attach files"
        onClick={() => picker.current?.click()}
      >
        <IconPaperclip size={20} stroke={1.7} aria-hidden="true" />
      </button>
    </>
  );
}
