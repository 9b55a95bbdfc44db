import type { RemoteSession } from '@palisade/contract/remote';
import { IconDeviceDesktop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import { EVERY_SESSION, historyQuery, sessionsQuery } from './remote.queries.ts';
import { SearchedSessions } from './searched-sessions.tsx';
import { SessionRow } from './session-list.tsx';

/** Dialogs import Mantine's, so it is loaded when it opens. */
const SessionDialog = lazyPart(async () => (await import('./session-dialog.tsx')).SessionDialog);

export function SessionHistory() {
  const pages = useSearchedPages(EVERY_SESSION, historyQuery);
  const [openId, setOpenId] = useState<string>();
  const opened = pages.rows?.find(({ id }) => id === openId);
  useRefetchWith(useQuery(sessionsQuery).data, pages.refetch);
  const now = useMinute();
  return (
    <RefreshedCard title="Session history" onRefresh={pages.refetch}>
      {(refresh) => (
        <>
          <SearchedSessions
            pages={pages}
            of="the session history"
            placeholder="Code or technician"
            onRetry={refresh}
            empty={
              <EmptyState
                icon={IconDeviceDesktop}
                drawing={<Drawing of="screen" />}
                title="No sessions yet"
                sentence="Your sessions are listed here. Press New Session to start one."
              />
            }
          >
            {(session) => (
              <SessionRow
                key={session.id}
                session={session}
                now={now}
                who={<Agent session={session} />}
                isOwn
                action={
                  session.phase === 'ended' &&
                  session.support_agent !== null && (
                    <Button
                      variant="quiet"
                      size="s"
                      aria-haspopup="dialog"
                      aria-label={`Details of ${session.session_code}`}
                      onClick={() => setOpenId(session.id)}
                    >
                      Details
                    </Button>
                  )
                }
              />
            )}
          </SearchedSessions>
          {opened && <SessionDialog session={opened} onClose={() => setOpenId(undefined)} />}
        </>
      )}
    </RefreshedCard>
  );
}

/** Refetches the history when the polled list of sessions has changed. */
function useRefetchWith(newest: unknown, refetch: () => unknown) {
  const before = useRef(newest);
  useEffect(() => {
    if (before.current !== undefined && before.current !== newest) void refetch();
    before.current = newest;
  }, [newest, refetch]);
}

function Agent({ session: { support_agent, status } }: { session: RemoteSession }) {
  if (support_agent === null) return status === 'pending' ? 'No technician has joined yet' : 'No technician joined';
  return <Sentence text="Agent: {name}" parts={{ name: <bdi>{support_agent}</bdi> }} />;
}
