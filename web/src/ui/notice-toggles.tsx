import { IconBell, IconBellOff, IconVolume, IconVolumeOff, type TablerIcon } from '@tabler/icons-react';
import { type Notice, type NoticeState, setNotice, useNotice } from '#api/notices.ts';
import { Button } from './button.tsx';
import { Row } from './layout.tsx';

const WORDS: Record<Notice, { label: string; on: string; off: string; blocked: string; icons: [TablerIcon, TablerIcon] }> = {
  sound: {
    label: 'Sound',
    on: 'A sound plays for each new message. Press to turn it off.',
    off: 'Press to play a sound for each new message.',
    blocked: '',
    icons: [IconVolume, IconVolumeOff],
  },
  notification: {
    label: 'Notifications',
    on: 'Your browser notifies you of new messages. Press to turn it off.',
    off: 'Press to get browser notifications for new messages.',
    blocked: 'Your browser blocks notifications from this site. Allow them in its settings.',
    icons: [IconBell, IconBellOff],
  },
};

/** Switches for sound and notifications, both off by default. `isDense`: without words, in a full head. */
export function NoticeToggles({ isDense = false }: { isDense?: boolean }) {
  return (
    <Row as="fieldset" gap="0" className="notice-toggles" aria-label="Notify me of new messages">
      <NoticeToggle notice="sound" isDense={isDense} />
      <NoticeToggle notice="notification" isDense={isDense} />
    </Row>
  );
}

function NoticeToggle({ notice, isDense }: { notice: Notice; isDense: boolean }) {
  const state: NoticeState = useNotice(notice);
  const { label, icons } = WORDS[notice];
  const [On, Off] = icons;
  return (
    <Button
      variant="text"
      size="s"
      icon={state === 'on' ? On : Off}
      aria-pressed={state === 'on'}
      title={WORDS[notice][state]}
      disabled={state === 'blocked'}
      onClick={() => void setNotice(notice, state !== 'on')}
    >
      <span className={isDense ? 'visually-hidden' : undefined}>{label}</span>
    </Button>
  );
}
