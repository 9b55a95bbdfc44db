import { IconBell, IconBellOff, IconVolume, IconVolumeOff, type TablerIcon } from '@tabler/icons-react';
import { type Notice, type NoticeState, setNotice, useNotice } from '#api/notices.ts';
import './notice-toggles.css';

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

/** Switches for sound and notifications, both off by default. */
export function NoticeToggles() {
  return (
    <fieldset className="notice-toggles" aria-label="Notify me of new messages">
      <NoticeToggle notice="sound" />
      <NoticeToggle notice="notification" />
    </fieldset>
  );
}

function NoticeToggle({ notice }: { notice: Notice }) {
  const state: NoticeState = useNotice(notice);
  const { label, icons } = WORDS[notice];
  const [On, Off] = icons;
  const Icon = state === 'on' ? On : Off;
  return (
    <button
      type="button"
      className="notice-toggle icon-button"
      aria-label={label}
      aria-pressed={state === 'on'}
      title={WORDS[notice][state]}
      disabled={state === 'blocked'}
      onClick={() => void setNotice(notice, state !== 'on')}
    >
      <Icon size={18} stroke={1.7} aria-hidden="true" />
    </button>
  );
}
