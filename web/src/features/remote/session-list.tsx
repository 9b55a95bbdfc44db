import type { RemoteSession } from '@palisade/contract/remote';
import type { ReactNode } from 'react';
import { Moment } from '#ui/moment.tsx';
import { END_REASONS, ownEndReason, SessionBadge } from './session-badge.tsx';
import './session-list.css';

interface SessionRowProps {
  session: RemoteSession;
  now: number;
  /** The person on the other side. */
  who: ReactNode;
  /** The reader is the customer, so the end reason addresses them. */
  isOwn?: boolean;
  action?: ReactNode;
}

/** One session as a list item: code, person, times and status. */
export function SessionRow({ session, now, who, isOwn = false, action }: SessionRowProps) {
  const { session_code, started_at, ended_at, end_reason, status } = session;
  return (
    <li className="remote-session">
      <div className="remote-session__what">
        <bdi className="remote-session__code">{session_code}</bdi>
        <div className="remote-session__line">{who}</div>
        {end_reason !== null && (
          <span className="remote-session__line">{isOwn ? ownEndReason(end_reason) : END_REASONS[end_reason]}</span>
        )}
      </div>
      <dl className="remote-session__times">
        <div>
          <dt>Created</dt>
          <dd>
            <Moment iso={started_at} now={now} />
          </dd>
        </div>
        <div>
          <dt>Ended</dt>
          <dd>{ended_at === null ? 'Not yet' : <Moment iso={ended_at} now={now} />}</dd>
        </div>
      </dl>
      <div className="remote-session__status">
        <SessionBadge status={status} />
        {action}
      </div>
    </li>
  );
}
