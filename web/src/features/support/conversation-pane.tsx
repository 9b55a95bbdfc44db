import type { UserInfo } from '@palisade/contract/auth';
import type { Conversation, DeskMessage } from '@palisade/contract/desk-record';
import { formatList, plural } from '@palisade/contract/intl';
import { IconArrowLeft, IconDots, IconMessages, IconUser } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useState } from 'react';
import { CallError, sentenceOf } from '#api/call.ts';
import type { Outgoing } from '#api/outgoing.ts';
import { useSession } from '#api/session.ts';
import { SentAttachments } from '#domain/conversation/attachments.tsx';
import { PriorityBadge } from '#domain/conversation/conversation-badges.tsx';
import { MessageCard } from '#domain/conversation/message-card.tsx';
import type { ComposerHandle } from '#domain/conversation/message-composer.tsx';
import { useTyping } from '#domain/conversation/use-typing.ts';
import { CheckMessage } from '#domain/scam/check-message.tsx';
import { StatusBadge } from '#domain/status/state-badge.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { type ConversationLine, ConversationLog, Typing, useJump } from '#ui/conversation-log.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { OutgoingState } from '#ui/outgoing-state.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { ConversationBar, nextOf } from './conversation-bar.tsx';
import {
  type ConversationActions,
  conversationQuery,
  type DeskWritten,
  deskMessagesQuery,
  useConversationActions,
  useConversationEvents,
  useDeskOutgoing,
  useMarkConversationRead,
} from './desk.queries.ts';
import { STATUS_LABELS } from './desk-words.ts';
import { KeptMail } from './kept-mail.tsx';
import { StaffComposer } from './staff-composer.tsx';
import { WaitingTimer } from './waiting-timer.tsx';

/** Dialogs import Mantine's, so each is loaded when it opens. */
const SharedDialog = lazyPart(async () => (await import('./shared-dialog.tsx')).SharedDialog);

interface PaneProps {
  id: string;
  /** False while the customer card covers it. */
  isShown: boolean;
  /** Opens the other panes on narrow screens. */
  onBack: () => void;
  onCustomer: () => void;
  composer: RefObject<ComposerHandle | null>;
}

/** The conversation in the middle pane of the desk. */
export function ConversationPane(props: PaneProps) {
  const { data: conversation, error, refetch } = useQuery(conversationQuery(props.id));
  if (conversation) return <Open key={conversation.id} conversation={conversation} {...props} />;
  return (
    <Grid as="section" className="desk__pane desk__pane--conversation" aria-label="Conversation">
      <div className="desk__nothing center">
        {error ? (
          <ErrorNotice
            title={
              error instanceof CallError && error.status === 404
                ? 'This conversation is not there'
                : 'The conversation could not be read'
            }
            sentence={sentenceOf(error)}
            onRetry={() => void refetch()}
          />
        ) : (
          <LoadingRows label="Loading the conversation" />
        )}
      </div>
    </Grid>
  );
}

function Open({ conversation, isShown, onBack, onCustomer, composer }: PaneProps & { conversation: Conversation }) {
  const { id, customer } = conversation;
  const me = useSession().session?.user_info;
  const viewers = useConversationEvents(id);
  const actions = useConversationActions(id);
  const typing = useTyping(
    ({ conversation_id, user_id, side }) => conversation_id === id && (side === 'user' || user_id !== me?.id),
  );
  const [isBarOpen, setIsBarOpen] = useState(false);
  const [sharedId, setSharedId] = useState<string>();
  if (!me) return null;
  const colleague = typing.find(({ side }) => side === 'support');
  const others = viewers.filter((viewer) => viewer.id !== me.id);

  return (
    <Grid as="section" className="desk__pane desk__pane--conversation" aria-label={`Conversation with ${customer}`}>
      <Head
        conversation={conversation}
        me={me}
        actions={actions}
        composer={composer}
        isBarOpen={isBarOpen}
        onBar={() => setIsBarOpen(!isBarOpen)}
        onBack={onBack}
        onCustomer={onCustomer}
      />
      <div>
        {isBarOpen && <ConversationBar conversation={conversation} me={me} actions={actions} />}
        {(colleague || others.length > 0) && (
          <p className="surface-blue pad-s small blue medium" role="status">
            {colleague
              ? `${colleague.username ?? 'A colleague'} is typing an answer`
              : plural(others.length, {
                  one: `${nameAll(others)} has this open too`,
                  other: `${nameAll(others)} have this open too`,
                })}
          </p>
        )}
        <Refusal error={Object.values(actions).find(({ error }) => error)?.error} />
      </div>
      <Messages
        conversation={conversation}
        isShown={isShown}
        me={me}
        onShared={setSharedId}
        onEdit={(text) => composer.current?.add(text)}
      />
      <div>
        {typing.some(({ side }) => side === 'user') && (
          <div className="pad-s">
            <Typing who={`${customer} is typing…`} />
          </div>
        )}
        <StaffComposer conversation={conversation} me={me} actions={actions} composer={composer} />
      </div>
      {sharedId !== undefined && <SharedDialog message_id={sharedId} onClose={() => setSharedId(undefined)} />}
    </Grid>
  );
}

interface HeadProps {
  conversation: Conversation;
  me: UserInfo;
  actions: ConversationActions;
  composer: RefObject<ComposerHandle | null>;
  isBarOpen: boolean;
  onBar: () => void;
  onBack: () => void;
  onCustomer: () => void;
}

function Head({ conversation, me, actions, composer, isBarOpen, onBar, onBack, onCustomer }: HeadProps) {
  const { customer, status, assignee, priority, tags } = conversation;
  return (
    <Grid as="header" gap="2" rowGap="0" align="center" className="talk-head line-below">
      <button type="button" className="desk__to-inbox icon-button" aria-label="Back to the inbox" onClick={onBack}>
        <IconArrowLeft size={20} stroke={1.7} aria-hidden="true" />
      </button>
      <h2 className="ellipsis">
        <bdi>{customer}</bdi>
      </h2>
      <Row as="p" gap="2" rowGap="0" className="talk-head__state shrink tiny muted">
        {conversation.is_in_danger && <StatusBadge state="danger" />}
        {status !== 'open' && <Badge tone="plain">{STATUS_LABELS[status]}</Badge>}
        <PriorityBadge priority={priority} />
        <span>{assignee ? <bdi>{assignee.id === me.id ? 'Yours' : `With ${assignee.username}`}</bdi> : 'Not assigned'}</span>
        {conversation.waiting_since !== null && (
          <WaitingTimer since={conversation.waiting_since} last={conversation.last_customer_message_at} />
        )}
        {!isBarOpen &&
          tags.map((tag) => (
            <span key={tag} className="badge" data-tone="plain">
              {tag}
            </span>
          ))}
      </Row>
      <div className="talk-head__next">
        <NextAction conversation={conversation} me={me} actions={actions} composer={composer} />
      </div>
      <Row wrap={false}>
        <button
          type="button"
          className="desk__to-customer icon-button"
          aria-label="Customer card"
          title="Customer card"
          onClick={onCustomer}
        >
          <IconUser size={18} stroke={1.7} aria-hidden="true" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="More actions"
          title="More actions"
          aria-expanded={isBarOpen}
          onClick={onBar}
        >
          <IconDots size={20} stroke={1.7} aria-hidden="true" />
        </button>
      </Row>
    </Grid>
  );
}

/** The next step of the conversation: claim it, answer below, or close it. */
function NextAction({ conversation, me, actions, composer }: Pick<HeadProps, 'conversation' | 'me' | 'actions' | 'composer'>) {
  const next = nextOf(me, conversation);
  if (next === 'claim')
    return (
      <Button
        size="s"
        loading={actions.claim.isPending}
        onClick={() => actions.claim.mutate(undefined, { onSuccess: () => composer.current?.focus() })}
      >
        Claim
      </Button>
    );
  if (next === undefined) return null;
  return (
    <Button variant="quiet" size="s" loading={actions[next].isPending} onClick={() => actions[next].mutate()}>
      {next === 'close' ? 'Close' : 'Reopen'}
    </Button>
  );
}

function nameAll(people: readonly { username: string }[]): string {
  return formatList(people.map(({ username }) => username));
}

interface MessagesProps {
  conversation: Conversation;
  isShown: boolean;
  me: { id: string };
  onShared: (message_id: string) => void;
  onEdit: (text: string) => void;
}

function Messages({ conversation, isShown, me, onShared, onEdit }: MessagesProps) {
  const query = useInfiniteQuery(deskMessagesQuery(conversation.id));
  const jump = useJump();
  const { queue, outgoing } = useDeskOutgoing(conversation.id);
  const messages = query.data?.pages.flat().toReversed();
  const arrived = new Set(messages?.map(({ client_message_id }) => client_message_id));
  const left = outgoing.filter(({ id }) => !arrived.has(id));
  const [seen, setSeen] = useState<string>();
  const newest = messages?.at(-1);
  useMarkConversationRead(conversation, isShown && newest && keyOf(newest) === seen ? newest.seq : undefined);
  const lastAnswer = messages?.findLast(({ sender, is_note, is_automatic }) => sender === 'support' && !is_note && !is_automatic);

  function stateOf(message: DeskMessage): string | undefined {
    if (message !== lastAnswer) return undefined;
    return message.seq <= conversation.customer_read_seq ? 'Read' : 'Sent';
  }

  function edit({ id }: Outgoing<unknown>) {
    const body = queue.discard(id);
    if (body) onEdit(body.message);
  }

  const lines = messages && [
    ...messages.map((message) => lineOf(message, conversation, me, onShared, stateOf(message))),
    ...left.map((entry) =>
      lineOfOutgoing(entry, <OutgoingState outgoing={entry} onRetry={() => queue.retry(entry.id)} onEdit={() => edit(entry)} />),
    ),
  ];
  return (
    <ConversationLog
      label="Messages"
      jump={jump}
      onSeen={setSeen}
      lines={lines}
      error={query.error}
      onRetry={query.refetch}
      older={{
        isThere: query.hasNextPage,
        isLoading: query.isFetchingNextPage,
        hasFailed: query.isFetchNextPageError,
        onRead: query.fetchNextPage,
      }}
      empty={<EmptyState icon={IconMessages} title="Nothing was written yet" sentence="What the customer writes appears here." />}
    />
  );
}

const keyOf = ({ client_message_id, id }: DeskMessage) => client_message_id ?? id;

function lineOf(
  message: DeskMessage,
  { customer, id: conversation_id }: Conversation,
  me: { id: string },
  onShared: (message_id: string) => void,
  state: string | undefined,
): ConversationLine {
  const { sender, is_note, is_automatic, author, author_id, card, attachments } = message;
  const isCustomers = sender === 'user';
  // Messages of people come first.
  const isFolded = is_automatic && !is_note;
  const who = isCustomers ? customer : author_id === me.id ? 'You' : (author ?? 'Support');
  return {
    key: keyOf(message),
    id: message.id,
    at: message.timestamp,
    who,
    side: is_note ? 'note' : isCustomers ? 'other' : 'own',
    mark: is_note ? 'Note: customers never see it' : is_automatic ? 'Automatic reply' : undefined,
    text: isFolded ? '' : message.message,
    below: isFolded ? (
      <details className="folded full small muted">
        <summary className="ellipsis pointer" dir="auto">
          {message.message}
        </summary>
        {card && <MessageCard card={card} isStaff />}
      </details>
    ) : (
      <>
        {isCustomers && <CheckMessage text={message.message} />}
        {card && (
          <MessageCard
            card={card}
            {...(card.kind === 'shared' && {
              openShared: (
                <Button variant="quiet" size="s" aria-haspopup="dialog" onClick={() => onShared(message.id)}>
                  Open it
                </Button>
              ),
            })}
            {...(card.kind === 'mail' && { keptMail: <KeptMail card={card} conversation_id={conversation_id} /> })}
            isStaff
          />
        )}
        <SentAttachments attachments={attachments} />
      </>
    ),
    state,
  };
}

function lineOfOutgoing({ id, at, body }: Outgoing<DeskWritten>, state: ReactNode): ConversationLine {
  return {
    key: id,
    at,
    who: 'You',
    side: body.is_note ? 'note' : 'own',
    mark: body.is_note ? 'Note: customers never see it' : undefined,
    text: body.message,
    below: <SentAttachments attachments={body.attachments} />,
    state,
  };
}
