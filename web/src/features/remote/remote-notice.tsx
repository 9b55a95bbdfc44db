import type { RemoteSession } from '@palisade/contract/remote';
import { IconScreenShare, IconUserQuestion, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'react-router';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EndSession } from './end-session.tsx';
import { useDecline } from './joined.queries.ts';
import { sessionsQuery, useEndSession, useSessionEvents } from './remote.queries.ts';
import './sharing-banner.css';

/** Screens that show the same information in more detail. */
const SAID_THERE: readonly string[] = ['/remote', '/portal'];

/** Shown on every screen while a technician asks to see this person's screen, or sees it in another window or on another device. Cannot be dismissed. */
export function RemoteNotice() {
  const { pathname } = useLocation();
  const { data: sessions } = useQuery(sessionsQuery);
  useSessionEvents();
  const session = sessions?.find(({ phase, status }) => phase === 'claimed' || status === 'active');
  if (!session || SAID_THERE.includes(pathname)) return null;
  return session.phase === 'claimed' ? <Asks session={session} /> : <Runs session={session} />;
}

/** The person has a minute to answer. */
function Asks({ session }: { session: RemoteSession }) {
  const decline = useDecline(session.id);
  return (
    <Grid
      as="section"
      columns="both"
      phone="under"
      gap="3"
      rowGap="2"
      align="center"
      className="sharing-banner line-below base"
      data-tone="attention"
      aria-label="Remote session"
    >
      <IconUserQuestion size={22} stroke={1.7} aria-hidden="true" />
      <div className="shrink break">
        <p role="alert">
          <Sentence
            text="**{technician} asks to see your screen.** If you don’t answer, the request expires."
            parts={{ technician: <bdi>{session.support_agent}</bdi> }}
          />
        </p>
        {session.due_at !== null && (
          <p className="sub">
            <Sentence text="Left: {time}" parts={{ time: <Countdown until={Date.parse(session.due_at)} /> }} />
          </p>
        )}
        <Refusal error={decline.error} />
      </div>
      <Row wrap={false} gap="2" align="stretch" className="sharing-banner__actions">
        <ScreenLink to="/remote" variant="primary">
          Look and answer
        </ScreenLink>
        <Button variant="quiet" icon={IconX} stroke={2} loading={decline.isPending} onClick={() => decline.mutate()}>
          Decline
        </Button>
      </Row>
    </Grid>
  );
}

function Runs({ session }: { session: RemoteSession }) {
  const end = useEndSession();
  return (
    <Grid
      as="section"
      columns="both"
      phone="under"
      gap="3"
      rowGap="2"
      align="center"
      className="sharing-banner line-below base"
      data-tone={session.is_paused ? 'attention' : 'danger'}
      aria-label="Remote session"
    >
      <IconScreenShare size={22} stroke={1.7} aria-hidden="true" />
      <div className="shrink break">
        <p role="status">
          <Sentence text="**Your session with {technician} runs.**" parts={{ technician: <bdi>{session.support_agent}</bdi> }} />{' '}
          {describeShare(session)}
        </p>
        <Refusal error={end.error} />
      </div>
      <Row wrap={false} gap="2" align="stretch" className="sharing-banner__actions">
        <ScreenLink to="/remote" variant="quiet">
          Open the session
        </ScreenLink>
        <EndSession loading={end.isPending} onClick={() => end.mutate(session)} />
      </Row>
    </Grid>
  );
}

function describeShare({ share, is_paused }: RemoteSession): string {
  if (share !== 'running') return 'They can’t see your screen now.';
  return is_paused ? 'Sharing in another window is paused.' : 'They see what you share in another window or on another device.';
}
