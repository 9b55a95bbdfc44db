import { formatNumber, plural } from '@palisade/contract/intl';
import type { RemoteSession } from '@palisade/contract/remote';
import { IconLock, IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useEffect } from 'react';
import { sentenceOf } from '#api/call.ts';
import { useConfig } from '#api/config.ts';
import { useSharingNow } from '#domain/session/sharing-now.ts';
import { Button, Spinner } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { describeAge, useSecond } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EndSession } from './end-session.tsx';
import { useEndSession } from './remote.queries.ts';
import '#ui/card.css';
import './session-banner.css';

const MINUTE = 60_000;

/** Remaining lifetime of a code, in words. The server decides the end, so there is no countdown in seconds. */
export function describeValidity(expires_at: string, now: number): string {
  const left = Date.parse(expires_at) - now;
  if (left <= 0) return 'The code has expired.';
  const minutes = Math.floor(left / MINUTE);
  if (minutes === 0) return 'Valid for less than a minute.';
  return plural(minutes, { one: 'Valid for 1 more minute.', other: `Valid for ${formatNumber(minutes)} more minutes.` });
}

/** The open session: a waiting code, or a technician who has joined. */
export function SessionBanner({ session }: { session: RemoteSession }) {
  const end = useEndSession();
  // While this window shares something, the banner above every screen has the button.
  const isEndedAbove = useSharingNow() !== undefined;
  const isWaiting = session.status === 'pending';
  const isByPhone = Boolean(useConfig()?.support.phone);
  const wasEnded = !end.isIdle;
  // The button disappears with the session, so the focus moves to the heading.
  useEffect(() => {
    if (!wasEnded) return undefined;
    return () => {
      if (document.activeElement === document.body) document.querySelector('h1')?.focus();
    };
  }, [wasEnded]);
  return (
    <Grid
      as="section"
      columns="tail"
      phone="stack"
      gap="5"
      rowGap="2"
      align="center"
      className="card banner glow"
      data-tone={isWaiting ? 'attention' : 'good'}
      aria-label="Open session"
    >
      {isWaiting ? <Waiting session={session} /> : <Running session={session} />}
      <Row gap="2" className="off-empty">
        {isWaiting && (
          <CopyButton variant="primary" text={session.session_code} copied="The session code was copied." label="Copy code" />
        )}
        {isWaiting && !isByPhone && (
          <ScreenLink to="/chat" variant="quiet">
            Open Support Chat
          </ScreenLink>
        )}
        {isWaiting && (
          <Button variant="quiet" loading={end.isPending} onClick={() => end.mutate(session)}>
            Cancel
          </Button>
        )}
        {!isWaiting && !isEndedAbove && <EndSession loading={end.isPending} onClick={() => end.mutate(session)} />}
      </Row>
      {end.error && (
        <p role="alert" className="span full base red">
          {sentenceOf(end.error)}
        </p>
      )}
    </Grid>
  );
}

function Waiting({ session }: { session: RemoteSession }) {
  const now = useSecond();
  return (
    <div className="shrink">
      <Row as="p" inline gap="2" className="banner__state bold below-2" role="status">
        <Spinner />
        Waiting for connection...
      </Row>
      <p className="small muted">Session code</p>
      <p className="banner__code nowrap below-1">
        <bdi>{session.session_code}</bdi>
      </p>
      <p className="sub num">{describeValidity(session.expires_at, now)}</p>
      <p className="amber medium">Did someone call you and ask for it? It’s a scam. Press Cancel.</p>
    </div>
  );
}

function Running({ session }: { session: RemoteSession }) {
  const now = useSecond();
  return (
    <div className="shrink">
      <Row as="p" inline gap="2" className="banner__state bold below-2" role="status">
        <IconPlugConnected size={20} stroke={1.7} aria-hidden="true" />
        Technician connected
      </Row>
      <h2 className="title below-1" tabIndex={-1}>
        <Sentence text="{name} has joined your session" parts={{ name: <bdi>{session.support_agent}</bdi> }} />
      </h2>
      <p className="sub">
        <Sentence text="Session {code}." parts={{ code: <bdi className="mono nowrap">{session.session_code}</bdi> }} />
        {session.joined_at !== null && ` They joined ${describeAge(session.joined_at, now)}.`} They see what you share, and you
        press.
      </p>
    </div>
  );
}

/** Replaces the banner without an open session, to show that no technician can join. */
export function NoSessionBanner({ onStart }: { onStart: () => void }) {
  return (
    <Grid
      as="section"
      columns="lead"
      gap="5"
      rowGap="2"
      align="center"
      className="card banner glow"
      data-tone="unknown"
      aria-label="Open session"
    >
      <span className="icon-tile" data-size="l" aria-hidden="true">
        <IconLock size={28} stroke={1.7} />
      </span>
      <div className="shrink">
        <h2 className="title below-1">No session is open. No one can join you.</h2>
        <p className="sub">Start one when a technician you contacted asks for a code.</p>
        <div className="above-2">
          <Button icon={IconPlus} stroke={2} aria-haspopup="dialog" onClick={onStart}>
            New Session
          </Button>
        </div>
      </div>
    </Grid>
  );
}
