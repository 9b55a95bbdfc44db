import type { SignedInSession } from '@palisade/contract/auth';
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { describeAge, Moment, useMinute } from '#ui/moment.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { sessionsQuery, useEndSessions } from './account.queries.ts';

const HANDHELD = /iPhone|iPad|Android/u;

/** Everywhere this person is signed in, with the way to end it. */
export function SignedInSessions() {
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const end = useEndSessions();
  const now = useMinute();
  const hasOthers = sessions?.some((session) => !session.current) ?? false;
  const failure = end.error ?? error;
  return (
    <DialogPart
      title="Signed-in sessions"
      action={
        hasOthers && (
          <Button
            variant="quiet"
            size="s"
            loading={end.isPending && end.variables === undefined}
            onClick={() => end.mutate(undefined)}
          >
            Sign out everywhere else
          </Button>
        )
      }
    >
      {failure && (
        <ErrorNotice
          title={end.error ? 'The session could not be ended' : 'Your sessions could not be read'}
          sentence={sentenceOf(failure)}
          onRetry={() => {
            if (end.error) end.mutate(end.variables);
            else void refetch();
          }}
        />
      )}
      {!sessions && !error && <LoadingRows label="Loading your sessions" />}
      {sessions && (
        <ul className="session-list">
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              now={now}
              isEnding={end.isPending && end.variables === session.id}
              onEnd={() => end.mutate(session.id)}
            />
          ))}
        </ul>
      )}
    </DialogPart>
  );
}

interface SessionRowProps {
  session: SignedInSession;
  now: number;
  isEnding: boolean;
  onEnd: () => void;
}

function SessionRow({ session, now, isEnding, onEnd }: SessionRowProps) {
  const { client, source, created_at, last_used_at, current } = session;
  return (
    <li className="session-row">
      <IconTile tone="note" icon={HANDHELD.test(client) ? IconDeviceMobile : IconDeviceDesktop} />
      <div className="session-row__what">
        <span className="session-row__client">{client}</span>
        <span>
          {source && <span className="num">{source}, </span>}signed in <Moment iso={created_at} now={now} />
        </span>
        <span>last used {describeAge(last_used_at, now)}</span>
      </div>
      {current ? (
        <Badge tone="safe">This session</Badge>
      ) : (
        <Button variant="quiet" size="s" loading={isEnding} aria-label={`Sign out ${client}`} onClick={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  );
}
