import type { JoinedSession } from '@palisade/contract/remote';
import { SESSION_FILE_LIFETIME } from '@palisade/contract/remote-files';
import { IconHeadset } from '@tabler/icons-react';
import { sentenceOf } from '#api/call.ts';
import { Card } from '#ui/card.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { useMinute } from '#ui/moment.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import { EndSession } from './end-session.tsx';
import { EVERY_SESSION, joinedHistoryQuery, useCompleteJoined } from './remote.queries.ts';
import { SearchedSessions } from './searched-sessions.tsx';
import { SessionRow } from './session-list.tsx';

/** Sessions of this technician; running ones have an End button. */
export function JoinedSessions() {
  const pages = useSearchedPages(EVERY_SESSION, joinedHistoryQuery);
  const now = useMinute();
  return (
    <Card title="Joined sessions">
      <FocusKept>
        <SearchedSessions
          pages={pages}
          of="the joined sessions"
          placeholder="Code or customer"
          onRetry={pages.refetch}
          empty={
            <EmptyState
              icon={IconHeadset}
              drawing={<Drawing of="screen" />}
              title="No joined sessions"
              sentence="Sessions you join are listed here. Enter a customer’s code to join the first one."
            />
          }
        >
          {(session) => <JoinedRow key={session.id} session={session} now={now} />}
        </SearchedSessions>
      </FocusKept>
    </Card>
  );
}

/** Loaded when the technician opens the files. */
const JoinedFiles = lazyPart(async () => (await import('./joined-files.tsx')).JoinedFiles);

/** Whether a session ended so recently that its files still exist. */
function hasFiles({ approved_at, ended_at }: JoinedSession, now: number): boolean {
  return approved_at !== null && ended_at !== null && now - Date.parse(ended_at) < SESSION_FILE_LIFETIME;
}

function JoinedRow({ session, now }: { session: JoinedSession; now: number }) {
  const complete = useCompleteJoined();
  return (
    <SessionRow
      session={session}
      now={now}
      who={
        <>
          <Sentence text="Customer: {name}" parts={{ name: <bdi>{session.customer}</bdi> }} />
          {hasFiles(session, now) && <JoinedFiles session={session} />}
          {complete.error && (
            <span role="alert" className="block red">
              {sentenceOf(complete.error)}
            </span>
          )}
        </>
      }
      action={
        session.status === 'active' && (
          <EndSession
            size="s"
            loading={complete.isPending}
            aria-label={`End session ${session.session_code}`}
            onClick={() => complete.mutate(session)}
          />
        )
      }
    />
  );
}
