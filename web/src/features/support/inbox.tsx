import type { Counts } from '@palisade/contract/desk-counts';
import { VIEWS } from '@palisade/contract/desk-list';
import type { Conversation } from '@palisade/contract/desk-record';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { IconInbox } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { Link } from 'react-router';
import { leftOf, rowsOf } from '#api/pages.ts';
import { describeLastMessage, UrgencyBadges } from '#domain/conversation/conversation-badges.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { Face } from '#ui/face.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter, useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { describeComing, describeMoment, useMinute } from '#ui/moment.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState, NothingMatches } from '#ui/states.tsx';
import { type InboxChoice, inboxQuery } from './desk.queries.ts';
import { PRIORITIES, VIEW_LABELS } from './desk-words.ts';

export const WHOLE_INBOX: InboxChoice = { view: 'unassigned', sort: 'urgent', search: '', tag: undefined, priority: undefined };

/** The conversations of the chosen part of the inbox. */
export function useInbox(chosen: InboxChoice) {
  const choice = { ...chosen, search: useSearched(chosen.search) };
  return useInfiniteQuery({ ...inboxQuery(choice), placeholderData: keepPreviousData });
}

interface InboxProps {
  chosen: InboxChoice;
  onChoose: (choice: InboxChoice) => void;
  counts: Counts | undefined;
  inbox: ReturnType<typeof useInbox>;
  openId: string | undefined;
  /** Address of a conversation, or of a message in it. */
  addressOf: (conversation_id: string, message_id?: string) => string;
}

function InboxFilters({ chosen, onChoose, counts }: Pick<InboxProps, 'chosen' | 'onChoose' | 'counts'>) {
  const tags = (counts?.tags ?? []).map(({ tag, count }) => [tag, `${tag} (${count})`] as const);
  return (
    <ListFilters>
      <StateFilter
        label="Part of the inbox"
        value={chosen.view}
        options={VIEWS.map((view) => ({ value: view, label: VIEW_LABELS[view], count: counts?.[view] }))}
        onChoose={(view) => onChoose({ ...chosen, view: view ?? WHOLE_INBOX.view })}
      />
      <SearchFilter
        label="Search the inbox"
        placeholder="Name, or words of a message"
        value={chosen.search}
        onChange={(search) => onChoose({ ...chosen, search })}
      />
      <div className="list-filters__choices">
        <ChoiceFilter
          label="Priority"
          value={chosen.priority}
          options={PRIORITIES}
          onChoose={(priority) => onChoose({ ...chosen, priority })}
        />
        {(tags.length > 0 || chosen.tag !== undefined) && (
          <ChoiceFilter label="Tag" value={chosen.tag} options={tags} onChoose={(tag) => onChoose({ ...chosen, tag })} />
        )}
        <ChoiceFilter
          label="Order"
          none="Most urgent first"
          value={chosen.sort === WHOLE_INBOX.sort ? undefined : chosen.sort}
          options={[
            ['waiting', 'Longest wait first'],
            ['latest', 'Latest first'],
          ]}
          onChoose={(sort) => onChoose({ ...chosen, sort: sort ?? WHOLE_INBOX.sort })}
        />
      </div>
    </ListFilters>
  );
}

/** The list of conversations, and its filters above all panes. */
export function Inbox({ chosen, onChoose, counts, inbox, openId, addressOf }: InboxProps) {
  const now = useMinute();
  const { data, error, refetch, isPlaceholderData, hasNextPage, fetchNextPage, isFetchingNextPage } = inbox;
  const own = counts?.mine ?? 0;
  const isNarrowed = chosen.search !== '' || chosen.tag !== undefined || chosen.priority !== undefined;
  return (
    <section className="desk__inbox" aria-label="Inbox">
      <InboxFilters chosen={chosen} onChoose={onChoose} counts={counts} />
      <div className="desk__list desk__scroll" data-busy={isPlaceholderData}>
        <Listed
          of="the inbox"
          list={{ rows: rowsOf(data), isOutdated: isPlaceholderData, error, refetch }}
          empty={
            isNarrowed ? (
              <NothingMatches
                title="Nothing matches"
                sentence="No conversation of this part of the inbox has these words, tags or priority."
                all="Show all of it"
                onAll={() => onChoose({ ...WHOLE_INBOX, view: chosen.view })}
              />
            ) : (
              <EmptyState
                icon={IconInbox}
                drawing={<Drawing of="messages" />}
                {...EMPTY[counts?.all === 0 && chosen.view === 'unassigned' ? 'all' : chosen.view]}
                action={
                  chosen.view === 'unassigned' &&
                  own > 0 && (
                    <Button variant="quiet" onClick={() => onChoose({ ...WHOLE_INBOX, view: 'mine' })}>
                      {plural(own, { one: 'Show the one that is yours', other: `Show the ${formatNumber(own)} that are yours` })}
                    </Button>
                  )
                }
              />
            )
          }
        >
          {(rows) => (
            <Stack as="ul" aria-label="Conversations">
              {rows.map((conversation) => (
                <InboxRow
                  key={conversation.id}
                  conversation={conversation}
                  now={now}
                  isOpen={conversation.id === openId}
                  to={addressOf(conversation.id, conversation.found?.message_id)}
                />
              ))}
            </Stack>
          )}
        </Listed>
        {hasNextPage && !isPlaceholderData && (
          <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={fetchNextPage} />
        )}
      </div>
    </section>
  );
}

const EMPTY: Record<InboxChoice['view'], { title: string; sentence: string }> = {
  mine: {
    title: 'No conversations assigned to you',
    sentence: 'Take a conversation from Unassigned, or wait until someone gives you one.',
  },
  unassigned: { title: 'Nothing to take', sentence: 'Every open conversation is assigned.' },
  all: { title: 'No open conversations', sentence: 'When a customer writes, the conversation appears here.' },
  snoozed: {
    title: 'No snoozed conversations',
    sentence: 'A snoozed conversation comes back at its time, or when its customer writes.',
  },
  closed: { title: 'No closed conversations', sentence: 'Closed conversations appear here with their ratings.' },
};

/** Number of tags in a row; the conversation shows all of them. */
const TAGS_SHOWN = 2;

interface InboxRowProps {
  conversation: Conversation;
  now: number;
  isOpen: boolean;
  to: string;
}

const InboxRow = memo(function InboxRow({ conversation, now, isOpen, to }: InboxRowProps) {
  const { customer, last_message, unread, assignee, tags, snoozed_until, rating, found } = conversation;
  return (
    <li>
      <Grid
        to={to}
        as={Link}
        columns="both"
        gap="3"
        rowGap="0"
        align="start"
        className="inbox__row hover pad-s line-below ink unlined"
        aria-current={isOpen ? 'true' : undefined}
        data-unread={unread > 0}
        data-conversation={conversation.id}
        preventScrollReset
      >
        <span className="inbox__face">
          <Face name={customer} />
        </span>
        <span className="base medium ellipsis">
          <bdi>{customer}</bdi>
        </span>
        <span className="tiny muted nowrap">{last_message && describeMoment(last_message.at, now)}</span>
        <span className={`inbox__last clamp small break ${unread > 0 ? '' : 'muted'}`} dir="auto">
          {last_message?.sender === 'support' && !found && (last_message.is_automatic ? 'Automatic: ' : 'Support: ')}
          {found?.text || describeLastMessage(conversation)}
        </span>
        {unread > 0 && (
          <span className="inbox__unread badge num" data-tone="good">
            {unread > 99 ? '99+' : unread}
            <span className="visually-hidden"> unread</span>
          </span>
        )}
        <Row as="span" gap="1" className="inbox__marks above-1 off-empty">
          <UrgencyBadges conversation={conversation} now={now} />
          {snoozed_until !== null && <Badge tone="note">{`Until ${describeComing(snoozed_until)}`}</Badge>}
          {rating !== null && <Badge tone="plain">{`Rated ${rating} of 5`}</Badge>}
          {assignee && (
            <Badge tone="plain">
              <bdi>{assignee.username}</bdi>
            </Badge>
          )}
          {tags.slice(0, TAGS_SHOWN).map((tag) => (
            <span key={tag} className="badge" data-tone="plain">
              {tag}
            </span>
          ))}
          {tags.length > TAGS_SHOWN && (
            <span className="badge num" data-tone="plain" title={formatList(tags.slice(TAGS_SHOWN), 'plain')}>
              +{tags.length - TAGS_SHOWN}
              <span className="visually-hidden"> more tags</span>
            </span>
          )}
        </Row>
      </Grid>
    </li>
  );
});
