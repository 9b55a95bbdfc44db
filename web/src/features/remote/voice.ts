import type { LiveSession, Side, Voice } from '@palisade/contract/remote-record';
import { useSyncExternalStore } from 'react';
import { onEvent, saySignal } from '#api/events.ts';
import { createListeners } from '#api/listeners.ts';
import type { Link } from './connection.ts';
import { readIceServers } from './ice.ts';
import { onPlace, tellVoice } from './sharing.ts';
import { VoiceCall } from './voice-call.ts';

/** The reason why this person is not heard: insecure page, permission refused, no microphone, microphone in use, or unplugged. */
export type NotHeard = 'insecure' | 'refused' | 'missing' | 'busy' | 'unplugged';

/** Voice state of this page. */
export interface OwnVoice {
  session_id: string | undefined;
  /** `asking`: the browser is asking for permission to use the microphone. */
  state: Voice | 'asking';
  notHeard: NotHeard | undefined;
  link: Link;
  /** The code to read aloud, the same as that of the picture. */
  code: string | undefined;
  /** The browser requires a press before it plays sound. */
  isSilent: boolean;
}

const NOTHING: OwnVoice = {
  session_id: undefined,
  state: 'off',
  notHeard: undefined,
  link: { state: 'waiting' },
  code: undefined,
  isSilent: false,
};

let voice = NOTHING;
let microphone: MediaStreamTrack | undefined;
let talk: VoiceCall | undefined;
let player: HTMLAudioElement | undefined;
let isCustomer = false;
let stops: (() => void)[] = [];
const listeners = createListeners();

function set(change: Partial<OwnVoice>): void {
  voice = { ...voice, ...change };
  if (isCustomer) tellVoice(voice.state === 'asking' ? 'off' : voice.state);
  listeners.tell();
}

const current = () => voice;

export function useVoice(): OwnVoice {
  return useSyncExternalStore(listeners.subscribe, current);
}

function say(state: Voice): void {
  if (voice.session_id !== undefined) saySignal(voice.session_id, { type: 'voice', state });
}

function whyNot(error: unknown): NotHeard {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') return 'refused';
  return name === 'NotFoundError' ? 'missing' : 'busy';
}

/** Opens the microphone, muted. */
async function openMicrophone(): Promise<MediaStreamTrack | NotHeard> {
  if (!window.isSecureContext || !('mediaDevices' in navigator)) return 'insecure';
  try {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      video: false,
    });
    const [track] = stream.getAudioTracks();
    if (!track) return 'missing';
    track.enabled = false;
    // Unplugged, or forbidden in the browser's settings. Only a press opens another microphone.
    track.addEventListener('ended', () => {
      if (track !== microphone) return;
      microphone = undefined;
      talk?.speak(null);
      set({ state: 'muted', notHeard: 'unplugged' });
      say('muted');
    });
    return track;
  } catch (error) {
    return whyNot(error);
  }
}

function play(track: MediaStreamTrack | undefined): void {
  if (!track) {
    if (player) player.srcObject = null;
    set({ isSilent: false });
    return;
  }
  player ??= new Audio();
  player.srcObject = new MediaStream([track]);
  hear();
}

/** Plays the received voice. A browser may require a press. */
export function hear(): void {
  player?.play().then(
    () => set({ isSilent: false }),
    () => set({ isSilent: player?.srcObject != null }),
  );
}

/** Turns this person's voice on, muted, after the browser has granted the microphone. */
export async function startVoice({ id }: Pick<LiveSession, 'id'>, side: Side): Promise<void> {
  if (voice.state !== 'off') return;
  isCustomer = side === 'customer';
  set({ ...NOTHING, session_id: id, state: 'asking' });
  const chosen = await openMicrophone();
  // The person turned it off, or the session ended, while the browser was asking.
  const now = current();
  if (now.session_id !== id || now.state !== 'asking') {
    if (typeof chosen !== 'string') chosen.stop();
    return;
  }
  if (typeof chosen === 'string') {
    set({ ...NOTHING, session_id: id, notHeard: chosen });
    return;
  }
  microphone = chosen;
  const made = new VoiceCall({
    side,
    track: chosen,
    ice: () => readIceServers(id),
    send: (signal) => saySignal(id, signal),
    onLink: (link) => set({ link }),
    onCode: (code) => set({ code }),
    onVoice: play,
  });
  talk = made;
  stops = [
    onEvent('remote_changed', ({ session }) => {
      if (session.id !== id) return;
      if (session.phase === 'ended') {
        end();
        return;
      }
      // After a short disconnection the server counts the page as silent until it reports its state again.
      const { state } = voice;
      if (state !== 'asking' && session.voice[side] !== state) say(state);
      made.stand(session.voice);
    }),
    onEvent('remote_signal', ({ session_id, from, signal }) => {
      if (session_id === id && from !== side) made.take(signal);
    }),
    ...(isCustomer ? [onPlace((session_id) => session_id !== id && end())] : []),
  ];
  set({ state: 'muted' });
  say('muted');
}

/** Mutes or unmutes this person. Unmuting opens a microphone again if it was unplugged. */
export async function mute(isMuted: boolean): Promise<void> {
  const { session_id } = voice;
  if (voice.state === 'off' || voice.state === 'asking') return;
  if (!isMuted && !microphone) {
    const chosen = await openMicrophone();
    if (typeof chosen === 'string') {
      set({ notHeard: chosen });
      return;
    }
    // The call has ended, or another press has opened the microphone: close this one.
    if (voice.session_id !== session_id || !talk || microphone) {
      chosen.stop();
      return;
    }
    microphone = chosen;
    talk.speak(chosen);
  }
  if (microphone) microphone.enabled = !isMuted;
  set({ state: isMuted ? 'muted' : 'open', notHeard: undefined });
  say(isMuted ? 'muted' : 'open');
}

/** Connects to the other side again. */
export function voiceAgain(): void {
  talk?.again();
}

function end(): void {
  for (const stop of stops) stop();
  stops = [];
  talk?.close();
  talk = undefined;
  microphone?.stop();
  microphone = undefined;
  set(NOTHING);
}

/** Turns this person's voice off: closes the microphone and stops playing the other side. */
export function stopVoice(): void {
  if (voice.session_id === undefined) return;
  say('off');
  end();
}
