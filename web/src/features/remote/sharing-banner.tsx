import { IconPlayerPause, IconPlayerPlay, IconPlayerStopFilled, IconScreenShare } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SharingNow } from '#api/sharing.ts';
import { Button } from '#ui/button.tsx';
import { useSecond } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { sessionsQuery, useReaffirm } from './remote.queries.ts';
import { pause, stop } from './sharing.ts';
import './sharing-banner.css';

/** Keys of the whole page. By their place on the keyboard: with Alt some keyboards write other letters. */
const KEYS = { pause: { code: 'KeyP', name: 'Alt+Shift+P' }, stop: { code: 'KeyS', name: 'Alt+Shift+S' } } as const;

/** How long before the end the person is asked whether it may go on, in ms. */
const ASKED_BEFORE = 5 * 60_000;

/** Pause and Stop by key, in every window in which they are shown. */
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

export function PauseAndStop({ isPaused }: { isPaused: boolean }) {
  const PauseIcon = isPaused ? IconPlayerPlay : IconPlayerPause;
  return (
    <div className="sharing-banner__actions">
      <Button
        variant="quiet"
        icon={<PauseIcon size={18} stroke={1.7} aria-hidden="true" />}
        aria-keyshortcuts={KEYS.pause.name}
        title={KEYS.pause.name}
        onClick={() => pause(!isPaused)}
      >
        {isPaused ? 'Show again' : 'Pause'}
      </Button>
      <Button
        icon={<IconPlayerStopFilled size={18} aria-hidden="true" />}
        aria-keyshortcuts={KEYS.stop.name}
        title={KEYS.stop.name}
        onClick={() => void stop()}
      >
        Stop
      </Button>
    </div>
  );
}

/** On every screen while something is shown to a technician. It cannot be put away. */
export function SharingBanner({ sharing: { technician, is_paused } }: { sharing: SharingNow }) {
  useSharingKeys(is_paused);
  return (
    <section className="sharing-banner" data-paused={is_paused} aria-label="Screen sharing">
      <IconScreenShare size={22} stroke={1.7} aria-hidden="true" />
      <div className="sharing-banner__what">
        <p role="status">
          {is_paused ? (
            <>
              <b>Paused.</b> <bdi>{technician}</bdi> sees black.
            </>
          ) : (
            <>
              <b>
                <bdi>{technician}</bdi> sees what you share.
              </b>{' '}
              Pause before you open your bank.
            </>
          )}
        </p>
        <GoOn />
      </div>
      <PauseAndStop isPaused={is_paused} />
    </section>
  );
}

/** Asked every half hour: whoever says nothing has ended it. */
function GoOn() {
  const { data: sessions } = useQuery(sessionsQuery);
  const session = sessions?.find(({ status }) => status === 'active');
  return session && <Asked id={session.id} reaffirm_by={session.reaffirm_by} />;
}

function Asked({ id, reaffirm_by }: { id: string; reaffirm_by: string | null }) {
  const reaffirm = useReaffirm(id);
  const now = useSecond();
  if (reaffirm_by === null || Date.parse(reaffirm_by) - now > ASKED_BEFORE) return null;
  const minutes = Math.max(1, Math.ceil((Date.parse(reaffirm_by) - now) / 60_000));
  return (
    <div className="sharing-banner__go-on">
      <p role="alert">
        The session ends in {minutes} {minutes === 1 ? 'minute' : 'minutes'} unless you say that it may go on.
      </p>
      <Button size="s" loading={reaffirm.isPending} onClick={() => reaffirm.mutate()}>
        Go on
      </Button>
      <Refusal error={reaffirm.error} />
    </div>
  );
}
