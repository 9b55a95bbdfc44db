import { useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';

/** Notices of a message that is not in view. Both are off by default in each browser. */
export type Notice = 'sound' | 'notification';

const listeners = createListeners();

function keyOf(notice: Notice): string {
  return `palisade.notice.${notice}`;
}

function isWanted(notice: Notice): boolean {
  try {
    return localStorage.getItem(keyOf(notice)) === 'on';
  } catch {
    return false;
  }
}

function want(notice: Notice, isOn: boolean): void {
  try {
    if (isOn) localStorage.setItem(keyOf(notice), 'on');
    else localStorage.removeItem(keyOf(notice));
  } catch {
    // Without storage notices stay off.
  }
  listeners.tell();
}

/** Whether this browser can show notifications; insecure pages cannot. */
function hasNotifications(): boolean {
  return 'Notification' in window;
}

function isAllowed(): boolean {
  return hasNotifications() && Notification.permission === 'granted';
}

/** `blocked`: the browser forbids notifications, and only its own settings can change that. */
export type NoticeState = 'on' | 'off' | 'blocked';

function stateOf(notice: Notice): NoticeState {
  if (notice === 'sound') return isWanted(notice) ? 'on' : 'off';
  if (!hasNotifications() || Notification.permission === 'denied') return 'blocked';
  return isWanted(notice) && isAllowed() ? 'on' : 'off';
}

/** Turns a notice on or off. The browser asks the person before the first notification. */
export async function setNotice(notice: Notice, isOn: boolean): Promise<void> {
  if (notice === 'notification' && isOn && hasNotifications() && Notification.permission === 'default')
    await Notification.requestPermission();
  want(notice, isOn);
  // Plays a sample of the sound.
  if (notice === 'sound' && isOn) playSound();
}

export function useNotice(notice: Notice): NoticeState {
  return useSyncExternalStore(listeners.subscribe, () => stateOf(notice));
}

/** Two short tones, the second one higher: pitch in Hz, start in s. */
const TONES = [
  { pitch: 660, at: 0 },
  { pitch: 880, at: 0.12 },
] as const;
const TONE_LENGTH = 0.18;
const LOUDNESS = 0.08;

function playSound(): void {
  if (!('AudioContext' in window)) return;
  const audio = new AudioContext();
  const end = audio.currentTime + TONES[1].at + TONE_LENGTH;
  for (const { pitch, at } of TONES) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const start = audio.currentTime + at;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(LOUDNESS, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + TONE_LENGTH);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + TONE_LENGTH);
    if (start + TONE_LENGTH >= end) tone.addEventListener('ended', () => void audio.close());
  }
}

/** Announces a message as chosen: by sound, and by a notification if the page is hidden. */
export function giveNotice({ title, text, tag }: { title: string; text: string; tag: string }): void {
  if (stateOf('sound') === 'on') playSound();
  if (stateOf('notification') !== 'on' || document.visibilityState === 'visible') return;
  // The tag makes this replace an earlier notification of the same conversation.
  const notification = new Notification(title, { body: text, tag });
  notification.addEventListener('click', () => {
    window.focus();
    notification.close();
  });
}
