import type { JoinedSession } from '@palisade/contract/remote';
import { IconHeadset } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Listed } from '#ui/listed.tsx';
import { useMinute } from '#ui/moment.tsx';
import { EmptyState } from '#ui/states.tsx';
import { joinedQuery, useCompleteJoined } from './remote.queries.ts';
import { SessionRow } from './session-list.tsx';

/** What this technician has joined: the running ones with the way to complete them. */
export function JoinedSessions() {
  const { data: sessions, error, refetch } = useQuery(joinedQuery);
  const now = useMinute();
  return (
    <Card title="Joined sessions">
      <FocusKept>
        <Listed
          what="the joined sessions"
          rows={sessions}
          error={error}
          onRetry={refetch}
          empty={
            <EmptyState
              icon={<IconHeadset size={28} stroke={1.7} />}
              title="No joined sessions"
              sentence="When you join a session by its code, it is listed here."
            />
          }
        >
          {(rows) => (
            <ul className="remote-sessions">
              {rows.map((session) => (
                <JoinedRow key={session.id} session={session} now={now} />
              ))}
            </ul>
          )}
        </Listed>
      </FocusKept>
    </Card>
  );
}

function JoinedRow({ session, now }: { session: JoinedSession; now: number }) {
  const complete = useCompleteJoined();
  return (
    <SessionRow
      session={session}
      now={now}
      who={
        <>
          Customer: <bdi>{session.customer}</bdi>
          {complete.error && (
            <span role="alert" className="remote-session__error">
              {sentenceOf(complete.error)}
            </span>
          )}
        </>
      }
      action={
        session.status === 'active' && (
          <Button
            variant="quiet"
            size="s"
            loading={complete.isPending}
            aria-label={`Complete ${session.session_code}`}
            onClick={() => complete.mutate(session)}
          >
            Complete
          </Button>
        )
      }
    />
  );
}
