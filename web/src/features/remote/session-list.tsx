import type { RemoteSession } from '@palisade/contract/remote';
import type { ReactNode } from 'react';
import { Grid, Row, Stack } from '#ui/layout.tsx';
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
    <Grid as="li" align="center" className="remote-session pad-row span line-between">
      <Stack gap="0" className="shrink">
        <bdi className="remote-session__code">{session_code}</bdi>
        <div className="muted small break">{who}</div>
        {end_reason !== null && (
          <span className="muted small break">{isOwn ? ownEndReason(end_reason) : END_REASONS[end_reason]}</span>
        )}
      </Stack>
      <Grid as="dl" columns="lead" gap="2" rowGap="0" className="remote-session__times small faint num">
        <div className="contents">
          <dt>Created</dt>
          <dd className="muted">
            <Moment iso={started_at} now={now} />
          </dd>
        </div>
        <div className="contents">
          <dt>Ended</dt>
          <dd className="muted">{ended_at === null ? 'Not yet' : <Moment iso={ended_at} now={now} />}</dd>
        </div>
      </Grid>
      <Row gap="2" justify="end">
        <SessionBadge status={status} />
        {action}
      </Row>
    </Grid>
  );
}
