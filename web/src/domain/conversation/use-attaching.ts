import {
  ATTACHMENT_BYTES_MAXIMUM,
  ATTACHMENTS_MAXIMUM,
  deleteAttachment,
  readAttachment,
  uploadAttachment,
} from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import { describeBytes } from '@palisade/contract/intl';
import { useCallback, useEffect, useRef, useState } from 'react';
import { call, sentenceOf, upload } from '#api/call.ts';
import { onEvent } from '#api/events.ts';

/** A file of the draft. `refused`: it will not be sent, with the reason. */
export interface Attaching {
  key: number;
  name: string;
  size: number;
  state:
    | { phase: 'sending'; share: number }
    | { phase: 'scanning' | 'clean'; attachment: Attachment }
    | { phase: 'refused'; sentence: string; attachment?: Attachment };
}

/** Interval at which the state of a scan is read if no event reports its end, in ms. */
const ASKED_AGAIN = 5_000;

function stateOf(attachment: Attachment): Attaching['state'] {
  switch (attachment.status) {
    case 'clean':
    case 'scanning':
      return { phase: attachment.status, attachment };
    case 'infected':
      return {
        phase: 'refused',
        sentence:
          attachment.threat === null
            ? 'Infected. We didn’t send it. Don’t open it.'
            : `Infected (${attachment.threat}). We didn’t send it. Don’t open it.`,
        attachment,
      };
    case 'unread':
      return { phase: 'refused', sentence: 'We couldn’t check the whole file, so we didn’t send it.', attachment };
    case 'failed':
      return { phase: 'refused', sentence: 'We couldn’t scan it. Remove it and add it again.', attachment };
  }
}

/** The id of an attachment whose scan is running. */
function scannedId({ state }: Attaching): string | undefined {
  return state.phase === 'scanning' ? state.attachment.id : undefined;
}

/** The files of a draft: each is uploaded and scanned at once, and only clean ones are sent with the message. */
export function useAttaching() {
  const [files, setFiles] = useState<readonly Attaching[]>([]);
  const lastKey = useRef(0);
  const uploads = useRef(new Map<number, AbortController>());

  const become = useCallback((isMeant: (file: Attaching) => boolean, state: Attaching['state']) => {
    setFiles((all) => all.map((file) => (isMeant(file) ? { ...file, state } : file)));
  }, []);
  const take = useCallback(
    (attachment: Attachment) => become((file) => scannedId(file) === attachment.id, stateOf(attachment)),
    [become],
  );

  useEffect(() => onEvent('chat_attachment', ({ attachment }) => take(attachment)), [take]);
  const scanning = files.flatMap((file) => scannedId(file) ?? []).join();
  useEffect(() => {
    if (scanning === '') return undefined;
    const timer = setInterval(() => {
      for (const id of scanning.split(',')) call(readAttachment, { params: { id } }).then(take, () => undefined);
    }, ASKED_AGAIN);
    return () => clearInterval(timer);
  }, [scanning, take]);

  async function send(key: number, file: File): Promise<void> {
    const abort = new AbortController();
    uploads.current.set(key, abort);
    const isThis = (other: Attaching) => other.key === key;
    try {
      const attachment = await upload(uploadAttachment, file, {
        signal: abort.signal,
        onProgress: (share) => become(isThis, { phase: 'sending', share }),
      });
      become(isThis, stateOf(attachment));
    } catch (error) {
      if (!abort.signal.aborted) become(isThis, { phase: 'refused', sentence: sentenceOf(error) });
    } finally {
      uploads.current.delete(key);
    }
  }

  function add(added: readonly File[]): void {
    const room = ATTACHMENTS_MAXIMUM - files.length;
    const next = added.map((file, index): Attaching => {
      lastKey.current += 1;
      const refused =
        index >= room
          ? `A message can have at most ${ATTACHMENTS_MAXIMUM} files. Send it in another message.`
          : file.size > ATTACHMENT_BYTES_MAXIMUM
            ? `A file can be at most ${describeBytes(ATTACHMENT_BYTES_MAXIMUM)}.`
            : undefined;
      return {
        key: lastKey.current,
        name: file.name,
        size: file.size,
        state: refused === undefined ? { phase: 'sending', share: 0 } : { phase: 'refused', sentence: refused },
      };
    });
    setFiles((all) => [...all, ...next]);
    for (const [index, { key, state }] of next.entries()) {
      const file = added[index];
      if (file && state.phase === 'sending') void send(key, file);
    }
  }

  function remove({ key, state }: Attaching): void {
    uploads.current.get(key)?.abort();
    // The server deletes unsent files after a while.
    if ('attachment' in state && state.attachment)
      call(deleteAttachment, { params: { id: state.attachment.id } }).catch(() => undefined);
    setFiles((all) => all.filter((file) => file.key !== key));
  }

  return {
    files,
    add,
    remove,
    /** Forgets the files after the message has been sent. */
    clear: () => setFiles([]),
    clean: files.flatMap(({ state }) => (state.phase === 'clean' ? [state.attachment] : [])),
    isBusy: files.some(({ state }) => state.phase === 'sending' || state.phase === 'scanning'),
  };
}
