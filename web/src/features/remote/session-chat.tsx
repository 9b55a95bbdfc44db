import { Textarea } from '@mantine/core';
import { MESSAGE_LENGTH_MAXIMUM, messageLength } from '@palisade/contract/chat';
import type { SessionMessage, Side } from '@palisade/contract/remote-record';
import { IconMessages, IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { randomUuid } from '#api/browser.ts';
import { sentenceOf } from '#api/call.ts';
import { keepDraft, readDraft } from '#api/drafts.ts';
import { Button } from '#ui/button.tsx';
import { type ConversationLine, ConversationLog } from '#ui/conversation-log.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid } from '#ui/layout.tsx';
import { enterMeans } from '#ui/pressed.ts';
import { EmptyState } from '#ui/states.tsx';
import { sessionMessagesQuery, useMessageEvents, useWriteMessage } from './joined.queries.ts';
import './session-chat.css';

const NO_MORE = { isThere: false, isLoading: false, hasFailed: false, onRead: () => undefined };

/** A message written here that the server has not confirmed. */
interface Unsent {
  id: string;
  at: string;
  message: string;
}

/** The chat beside the picture. */
export function SessionChat({ session_id, side }: { session_id: string; side: Side }) {
  const { data: messages, error, refetch } = useQuery(sessionMessagesQuery(session_id));
  useMessageEvents(session_id);
  const write = useWriteMessage(session_id);
  const [unsent, setUnsent] = useState<readonly Unsent[]>([]);
  const arrived = new Set(messages?.map(({ client_message_id }) => client_message_id));
  const left = unsent.filter(({ id }) => !arrived.has(id));

  function send(entry: Unsent) {
    write.mutate(
      { message: entry.message, client_message_id: entry.id },
      { onSuccess: () => setUnsent((all) => all.filter(({ id }) => id !== entry.id)) },
    );
  }

  const lines = messages && [
    ...messages.map((message) => lineOf(message, side)),
    ...left.map(
      (entry): ConversationLine => ({
        key: entry.id,
        at: entry.at,
        who: 'You',
        side: 'own',
        text: entry.message,
        state:
          write.isError && write.variables.client_message_id === entry.id ? (
            <>
              <span role="alert" className="red">
                Your message was not sent. {sentenceOf(write.error)}
              </span>
              <Button variant="quiet" size="s" onClick={() => send(entry)}>
                Retry
              </Button>
            </>
          ) : (
            'Sending…'
          ),
      }),
    ),
  ];
  return (
    <Grid className="session-chat">
      <ConversationLog
        label="Messages of the session"
        lines={lines}
        error={error}
        onRetry={refetch}
        older={NO_MORE}
        empty={
          <EmptyState
            icon={IconMessages}
            iconSize={26}
            title="No messages yet"
            sentence={
              side === 'customer'
                ? 'Write what’s hard to say on the phone. Never write a password.'
                : 'Write addresses, names, or commands for your customer.'
            }
          />
        }
      />
      <Composer
        place={`remote.${session_id}`}
        onSend={(message) => {
          const entry = { id: randomUuid(), at: new Date().toISOString(), message };
          setUnsent((all) => [...all, entry]);
          send(entry);
        }}
      />
    </Grid>
  );
}

function lineOf({ id, client_message_id, sent_at, side, author, message }: SessionMessage, own: Side): ConversationLine {
  const isOwn = side === own;
  return {
    key: client_message_id ?? id,
    at: sent_at,
    who: isOwn ? 'You' : author,
    side: isOwn ? 'own' : 'other',
    text: message,
  };
}

function Composer({ place, onSend }: { place: string; onSend: (message: string) => void }) {
  const [draft, setDraft] = useState(() => readDraft(place));
  const isTooLong = messageLength(draft) > MESSAGE_LENGTH_MAXIMUM;

  function write(text: string) {
    setDraft(text);
    keepDraft(place, text);
  }

  function submit() {
    if (draft.trim() === '' || isTooLong) return;
    onSend(draft);
    write('');
  }

  return (
    <Form className="pad-m line-above" error={null} busy={false} onSubmit={submit}>
      <Grid columns="tail" gap="2" align="end">
        <Textarea
          className="growing"
          size="md"
          rows={1}
          aria-label="Message"
          placeholder="Write a message…"
          value={draft}
          error={isTooLong ? `At most ${MESSAGE_LENGTH_MAXIMUM} characters. Send it in parts.` : undefined}
          onChange={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (enterMeans(event) !== 'send') return;
            event.preventDefault();
            submit();
          }}
        />
        <Submit size="l" aria-label="Send" icon={IconSend} disabled={draft.trim() === '' || isTooLong} />
      </Grid>
    </Form>
  );
}
