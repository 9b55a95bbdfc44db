import type { Conversation } from '@palisade/contract/desk-record';
import { formatNumber } from '@palisade/contract/intl';
import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { describeLastMessage, UrgencyBadges } from '#domain/conversation/conversation-badges.tsx';
import { useRemoteWaiting } from '#domain/conversation/desk-counts.ts';
import { waitingQuery } from '#domain/conversation/waiting.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { useMinute } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice } from '#ui/states.tsx';

/** Loaded while a customer waits for remote help. */
const RemoteRequests = lazyPart(async () => (await import('#domain/session/remote-requests.tsx')).RemoteRequests);

/** An overview of the desk above a technician's own dashboard: waiting records, the most urgent first. */
export function DeskHome() {
  const remote = useRemoteWaiting();
  return (
    <Stack gap="4">
      {remote > 0 && <RemoteRequests isFirst />}
      <WaitingConversations isFirst={remote === 0} />
    </Stack>
  );
}

/** True if nothing above is more urgent. */
function WaitingConversations({ isFirst }: { isFirst: boolean }) {
  const { data, error, refetch } = useQuery(waitingQuery);
  const now = useMinute();
  const total = data?.total ?? data?.rows.length ?? 0;
  return (
    <Card
      title="Waiting for an answer"
      action={<Link to="/support">{total > (data?.rows.length ?? 0) ? `Show all ${formatNumber(total)}` : 'Open the desk'}</Link>}
    >
      {error && (
        <ErrorNotice title="We couldn’t load the conversations" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {data?.rows.length === 0 && (
        <EmptyState
          icon={IconCircleCheck}
          title="Everyone has an answer"
          sentence="New messages appear here, the most urgent first."
        />
      )}
      {data && data.rows.length > 0 && (
        <Stack as="ul" lines aria-label="Waiting conversations">
          {data.rows.map((conversation, place) => (
            <WaitingRow key={conversation.id} conversation={conversation} now={now} isFirst={isFirst && place === 0} />
          ))}
        </Stack>
      )}
    </Card>
  );
}

function WaitingRow({ conversation, now, isFirst }: { conversation: Conversation; now: number; isFirst: boolean }) {
  const { id, customer } = conversation;
  return (
    <Grid as="li" columns="tail" gap="3" align="center" className="pad-row">
      <Stack gap="1">
        <Row gap="2" rowGap="1">
          <b className="base medium break">
            <bdi>{customer}</bdi>
          </b>
          <UrgencyBadges conversation={conversation} now={now} />
        </Row>
        <p className="small muted ellipsis" dir="auto">
          {describeLastMessage(conversation)}
        </p>
      </Stack>
      <ScreenLink
        to={`/support?conversation=${id}`}
        variant={isFirst ? 'primary' : 'quiet'}
        size="s"
        aria-label={`Answer ${customer}`}
      >
        Answer
      </ScreenLink>
    </Grid>
  );
}
