import { listMessages } from '@palisade/contract/chat-read';
import { IconMessageSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { call } from '#api/call.ts';
import { Stack } from '#ui/layout.tsx';
import { SearchFilter, useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';

/** Maximum number of results; more words narrow them. */
const FOUND_MAXIMUM = 50;

/** Searches all messages of the person's own conversation. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const search = useSearched(typed);
  const now = useMinute();
  const { data, error, refetch } = useQuery({
    queryKey: ['chat', 'search', search],
    queryFn: ({ signal }) => call(listMessages, { query: { search, limit: FOUND_MAXIMUM }, signal }),
    enabled: search !== '',
  });
  return (
    <ModalWindow title="Search the conversation" size={640} onClose={onClose}>
      <SearchFilter label="Search the messages" placeholder="Words of a message" value={typed} onChange={setTyped} />
      {search !== '' && (
        <Listed
          of="the messages"
          list={{ rows: data, error, refetch }}
          empty={
            <EmptyState
              icon={IconMessageSearch}
              title="Nothing found"
              sentence="No message of this conversation has these words."
            />
          }
        >
          {(messages) => (
            <Stack as="ol" gap="1" lines className="found scroll" aria-label="Found messages">
              {messages.map(({ id, sender, author, message, timestamp }) => (
                <li key={id}>
                  <Stack
                    as={Link}
                    to={{ search: `?message=${id}` }}
                    gap="0"
                    className="pad-line ink unlined"
                    preventScrollReset
                    onClick={onClose}
                  >
                    <span className="tiny muted">
                      <Sentence
                        text="{who}, {when}"
                        parts={{
                          who: sender === 'user' ? 'You' : <bdi>{author ?? 'Support'}</bdi>,
                          when: <Moment iso={timestamp} now={now} />,
                        }}
                      />
                    </span>
                    <span className="base break pre" dir="auto">
                      {message}
                    </span>
                  </Stack>
                </li>
              ))}
            </Stack>
          )}
        </Listed>
      )}
    </ModalWindow>
  );
}
