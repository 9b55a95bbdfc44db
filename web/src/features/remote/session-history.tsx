import type { RemoteSession } from '@palisade/contract/remote';
import { IconDeviceDesktop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Listed } from '#ui/listed.tsx';
import { useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { EmptyState } from '#ui/states.tsx';
import { sessionsQuery } from './remote.queries.ts';
import { SessionRow } from './session-list.tsx';

export function SessionHistory() {
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const now = useMinute();
  return (
    <RefreshedCard title="Session history" onRefresh={refetch}>
      {(refresh) => (
        <Listed
          what="the session history"
          rows={sessions}
          error={error}
          onRetry={refresh}
          empty={
            <EmptyState
              icon={<IconDeviceDesktop size={28} stroke={1.7} />}
              title="No sessions yet"
              sentence="Each session is listed here with its code, its times, and who joined it."
            />
          }
        >
          {(rows) => (
            <ul className="remote-sessions">
              {rows.map((session) => (
                <SessionRow key={session.id} session={session} now={now} who={<Agent session={session} />} />
              ))}
            </ul>
          )}
        </Listed>
      )}
    </RefreshedCard>
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
