import { IconMicrophone, IconPlayerPause, IconPlayerPlay, IconScreenShare } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SharingNow } from '#domain/session/sharing-now.ts';
import { Button } from '#ui/button.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EndSession } from './end-session.tsx';
import { useIsRecorded } from './files.queries.ts';
import { GoOn } from './go-on.tsx';
import { MuteButton } from './mute-button.tsx';
import { sessionsQuery } from './remote.queries.ts';
import { pause, stop, tellOnScreen } from './sharing.ts';
import './sharing-banner.css';

/** Keys of the whole page, by position (`code`): with Alt some keyboard layouts produce other letters. */
const KEYS = { pause: { code: 'KeyP', name: 'Alt+Shift+P' }, stop: { code: 'KeyS', name: 'Alt+Shift+S' } } as const;

/** Pauses and ends the session by key, in each window that shows these keys. */
export function useSharingKeys(isPaused: boolean, target: Window = window): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!event.altKey || !event.shiftKey || event.repeat) return;
      if (event.code === KEYS.pause.code) pause(!isPaused);
      else if (event.code === KEYS.stop.code) void stop();
      else return;
      event.preventDefault();
    };
    target.addEventListener('keydown', press);
    return () => target.removeEventListener('keydown', press);
  }, [isPaused, target]);
}

export function PauseAndEnd({ isPaused, isShown = true }: { isPaused: boolean; isShown?: boolean }) {
  const PauseIcon = isPaused ? IconPlayerPlay : IconPlayerPause;
  return (
    <Row wrap={false} gap="2" align="stretch" className="sharing-banner__actions">
      {isShown && (
        <Button
          variant="quiet"
          icon={PauseIcon}
          aria-keyshortcuts={KEYS.pause.name}
          title={KEYS.pause.name}
          onClick={() => pause(!isPaused)}
        >
          {isPaused ? 'Show again' : 'Pause'}
        </Button>
      )}
      <EndSession aria-keyshortcuts={KEYS.stop.name} title={KEYS.stop.name} onClick={() => void stop()} />
    </Row>
  );
}

/** Shown on every screen while this page shares its screen or voice. Cannot be dismissed. */
export function SharingBanner({ sharing: { technician, is_shown, is_paused, voice } }: { sharing: SharingNow }) {
  useSharingKeys(is_paused);
  useEffect(tellOnScreen, []);
  const { data: sessions } = useQuery(sessionsQuery);
  const session = sessions?.find(({ status }) => status === 'active');
  const isRecorded = useIsRecorded(session);
  return (
    <Grid
      as="section"
      columns="both"
      phone="under"
      gap="3"
      rowGap="2"
      align="center"
      className="sharing-banner line-below base"
      data-tone={(is_shown ? is_paused : voice === 'muted') ? 'attention' : 'danger'}
      aria-label={is_shown ? 'Screen sharing' : 'Voice'}
    >
      {is_shown ? (
        <IconScreenShare size={22} stroke={1.7} aria-hidden="true" />
      ) : (
        <IconMicrophone size={22} stroke={1.7} aria-hidden="true" />
      )}
      <div className="shrink break">
        <p role="status">
          {!is_shown ? (
            <Sentence
              text="Your session with **{technician}** is on. They can’t see your screen."
              parts={{ technician: <bdi>{technician}</bdi> }}
            />
          ) : is_paused ? (
            <Sentence text="**Paused.** {technician} sees black." parts={{ technician: <bdi>{technician}</bdi> }} />
          ) : (
            <Sentence
              text="**{technician} sees what you share.** Pause before you open your bank."
              parts={{ technician: <bdi>{technician}</bdi> }}
            />
          )}
        </p>
        {voice !== 'off' && (
          <Row gap="2" rowGap="1">
            <p role="status">
              {voice === 'open' ? (
                <>
                  <b>Your microphone is on.</b> They hear what you say.
                </>
              ) : (
                'You’re muted.'
              )}
            </p>
            <MuteButton isMuted={voice === 'muted'} />
          </Row>
        )}
        {isRecorded && (
          <p role="status">
            <b>It is being recorded.</b> {is_paused ? 'The recording is paused too.' : 'You both get the recording.'}
          </p>
        )}
        {session && <GoOn session={session} />}
      </div>
      <PauseAndEnd isPaused={is_paused} isShown={is_shown} />
    </Grid>
  );
}
