import type { RemoteSession } from '@palisade/contract/remote';
import { SHARES_MAXIMUM } from '@palisade/contract/remote-signal';
import { IconDeviceMobile, IconPhoto, IconPictureInPictureOn, IconPlus, IconScreenShare, IconWindow } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import { Report } from './after-session.tsx';
import { UNABLE } from './asking-card.tsx';
import { CodeLine } from './code-line.tsx';
import { GoOn } from './go-on.tsx';
import { GrantsCard } from './grants-card.tsx';
import { describeLink } from './link-words.ts';
import { MarkedPicture } from './marked-picture.tsx';
import { SessionChat } from './session-chat.tsx';
import { Allow, SessionFiles } from './session-files.tsx';
import { attend, connectAgain, missingToShare, type Screen, type Sharing, share, stopScreen, useSharing } from './sharing.ts';
import { hasSmallWindow, SmallWindow } from './small-window.tsx';
import './session-panel.css';

const VoicePart = lazyPart(async () => (await import('./voice-part.tsx')).VoicePart);

const SURFACES = { monitor: 'Your whole screen', window: 'A window', browser: 'A tab of your browser' } as const;

function nameOf({ surface }: Screen): string {
  return surface === null ? 'What you share' : SURFACES[surface];
}

/** The customer's side of a running session: the shared picture with the technician's marks, and the chat. */
export function SessionPanel({ session }: { session: RemoteSession }) {
  const sharing = useSharing();
  useEffect(() => attend(session), [session]);
  return (
    <Grid columns="side" tablet="stack" gap="4" className="session-panel">
      <Stack as="section" gap="3" className="card top session-panel__shown" aria-labelledby="shown">
        <div className="card__head below-2">
          <h2 id="shown">What the technician sees</h2>
          {sharing.screens.length > 0 && <MoreScreens session={session} sharing={sharing} />}
        </div>
        {sharing.place === 'taken' ? <Elsewhere session={session} /> : <Shown session={session} sharing={sharing} />}
        <Refusal error={sharing.error} />
        {sharing.screens.length === 0 && <GoOn session={session} />}
        {sharing.place !== 'taken' && (
          <VoicePart
            session={session}
            side="customer"
            other={session.support_agent ?? 'The technician'}
            hasCode={sharing.code !== undefined}
          />
        )}
        <GrantsCard session={session} />
        <Stack gap="3" className="session-files__part top pad-m base off-empty">
          <Allow session={session} grant="recording" />
        </Stack>
        <SessionFiles session={session} side="customer" />
        <Stack align="start" className="pad-row line-above">
          <Report session={session} />
        </Stack>
      </Stack>
      <Grid as="section" className="card session-panel__chat" aria-label="Chat of the session">
        {sharing.code !== undefined && (
          <div className="pad-m line-below">
            <CodeLine code={sharing.code} side="customer" />
          </div>
        )}
        <SessionChat session_id={session.id} side="customer" />
      </Grid>
    </Grid>
  );
}

/** Another window or device serves the session. */
function Elsewhere({ session }: { session: RemoteSession }) {
  return (
    <EmptyState
      icon={IconWindow}
      title="This session is open in another window"
      sentence="You share from there. If you continue here, that sharing stops."
      action={
        <Button variant="quiet" onClick={() => attend(session, true)}>
          Continue in this window
        </Button>
      }
    />
  );
}

function Shown({ session, sharing }: { session: RemoteSession; sharing: Sharing }) {
  const [isSmall, setIsSmall] = useState(false);
  if (sharing.screens.length === 0) return <Nothing session={session} sharing={sharing} />;
  return (
    <>
      {sharing.screens.map((screen) => (
        <Mirror
          key={screen.id}
          screen={screen}
          sharing={sharing}
          away={session.is_technician_here ? undefined : session.support_agent}
        />
      ))}
      <Grid columns="tail" phone="stack" gap="3" rowGap="2" align="center">
        <p className="sub">
          {hasSmallWindow()
            ? 'See where the technician points in this picture or in a small window that stays on top.'
            : 'See where the technician points in this picture.'}
        </p>
        {hasSmallWindow() && (
          <Button
            variant="quiet"
            size="s"
            icon={IconPictureInPictureOn}
            aria-pressed={isSmall}
            onClick={() => setIsSmall(!isSmall)}
          >
            Small window
          </Button>
        )}
      </Grid>
      {isSmall && <SmallWindow sharing={sharing} onClose={() => setIsSmall(false)} />}
    </>
  );
}

interface MirrorProps {
  screen: Screen;
  sharing: Sharing;
  /** The technician's name if their page is closed. */
  away: string | null | undefined;
}

function Mirror({ screen, sharing, away }: MirrorProps) {
  const words = away ? `${away} is not there just now. No one sees this.` : describeLink(screen.link);
  const isOnly = sharing.screens.length === 1;
  return (
    <Stack as="figure" gap="2" className="mirror" data-paused={sharing.isPaused}>
      <div className="mirror__picture rounded">
        <MarkedPicture track={screen.track} marks={screen.marks} label={`${nameOf(screen)}, as it is shared`} />
        {/* Covers the whole frame, because a phone's picture is too narrow for the text. */}
        {sharing.isPaused && <p className="mirror__paused center pad-m bold centered">Paused: the technician sees black</p>}
      </div>
      <Row as="figcaption" gap="3" rowGap="1" className="small muted">
        <b className="ink medium">{nameOf(screen)}</b>
        <span role="status">{words}</span>
        {screen.link.state === 'failed' && (
          <Button variant="quiet" size="s" onClick={connectAgain}>
            Try again
          </Button>
        )}
        {!isOnly && (
          <Button variant="text" size="s" onClick={() => stopScreen(screen.id)}>
            Stop this one
          </Button>
        )}
      </Row>
    </Stack>
  );
}

function MoreScreens({ session, sharing }: { session: RemoteSession; sharing: Sharing }) {
  if (sharing.screens.length >= SHARES_MAXIMUM) return null;
  return (
    <Button variant="quiet" size="s" icon={IconPlus} stroke={2} loading={sharing.isChoosing} onClick={() => void share(session)}>
      Another screen
    </Button>
  );
}

/** Shown without a picture: before sharing, after a reload, after the browser's Stop button, or on a phone. */
function Nothing({ session, sharing }: { session: RemoteSession; sharing: Sharing }) {
  const missing = missingToShare();
  const wasShown = session.view === 'screen';
  if (missing)
    return (
      <EmptyState
        icon={IconDeviceMobile}
        title="Nothing is shared"
        sentence={UNABLE[missing]}
        action={
          <ScreenLink to="/chat" variant="quiet">
            <IconPhoto size={18} stroke={1.7} aria-hidden="true" />
            Send a photo in the support chat
          </ScreenLink>
        }
      />
    );
  return (
    <>
      <EmptyState
        icon={IconScreenShare}
        title="The technician sees nothing of your screen"
        sentence={
          wasShown
            ? 'Sharing has stopped. Share again to continue.'
            : 'You’re talking without a screen. Share one whenever you like.'
        }
        action={
          <Button loading={sharing.isChoosing} onClick={() => void share(session)}>
            {wasShown ? 'Share again' : 'Share a screen'}
          </Button>
        }
      />
      {sharing.notShown && (
        <p role="alert" className="refusal">
          Nothing is shared. Allow screen sharing in your browser, then try again.
        </p>
      )}
      {session.due_reason === 'share_stopped' && session.due_at !== null && (
        <p className="sub centered">
          <Sentence
            text="Share again, or the session ends in {time}."
            parts={{ time: <Countdown until={Date.parse(session.due_at)} /> }}
          />
        </p>
      )}
    </>
  );
}
