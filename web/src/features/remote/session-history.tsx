import type { RemoteSession } from '@palisade/contract/remote';
import { IconDeviceDesktop, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTransition } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { useMinute } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { sessionsQuery } from './remote.queries.ts';
import { SessionRow } from './session-list.tsx';

export function SessionHistory() {
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const [isRefreshing, startRefresh] = useTransition();
  const now = useMinute();
  const refresh = () =>
    startRefresh(async () => {
      await refetch();
    });
  return (
    <Card
      title="Session history"
      action={
        <Button
          variant="quiet"
          size="s"
          icon={<IconRefresh size={16} stroke={1.7} aria-hidden="true" />}
          loading={isRefreshing}
          onClick={refresh}
        >
          Refresh
        </Button>
      }
    >
      {error && <ErrorNotice title="The session history could not be read" sentence={sentenceOf(error)} onRetry={refresh} />}
      {!sessions && !error && <LoadingRows label="Loading the session history" />}
      {sessions?.length === 0 && (
        <EmptyState
          icon={<IconDeviceDesktop size={28} stroke={1.7} />}
          title="No sessions yet"
          sentence="Each session stands here with its code, its times, and who joined it."
        />
      )}
      {sessions && sessions.length > 0 && (
        <ul className="remote-sessions">
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} now={now} who={<Agent session={session} />} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Agent({ session: { support_agent, status } }: { session: RemoteSession }) {
  if (support_agent === null) return status === 'pending' ? 'No agent has joined yet' : 'No agent joined';
  return (
    <>
      Agent: <bdi>{support_agent}</bdi>
    </>
  );
}
