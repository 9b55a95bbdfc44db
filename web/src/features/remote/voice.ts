import type { LiveSession, Side, Voice } from '@palisade/contract/remote-record';
import { useSyncExternalStore } from 'react';
import { onEvent, saySignal } from '#api/events.ts';
import type { Link } from './connection.ts';
import { readIceServers } from './ice.ts';
import { onPlace, tellVoice } from './sharing.ts';
import { VoiceCall } from './voice-call.ts';

/** Why this person is not heard: the browser was told not to, there is no microphone, another program has it, or it was unplugged. */
export type NotHeard = 'insecure' | 'refused' | 'missing' | 'busy' | 'unplugged';

/** Voice state of this page. */
export interface OwnVoice {
  session_id: string | undefined;
  /** `asking`: the browser asks its person for the microphone. */
  state: Voice | 'asking';
  notHeard: NotHeard | undefined;
  link: Link;
  /** The code to be read aloud: that of the picture, where there is one. */
  code: string | undefined;
  /** The browser plays nothing before another press. */
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
const listeners = new Set<() => void>();

function set(change: Partial<OwnVoice>): void {
  voice = { ...voice, ...change };
  if (isCustomer) tellVoice(voice.state === 'asking' ? 'off' : voice.state);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const current = () => voice;

export function useVoice(): OwnVoice {
  return useSyncExternalStore(subscribe, current);
}

function say(state: Voice): void {
  if (voice.session_id !== undefined) saySignal(voice.session_id, { type: 'voice', state });
}

function whyNot(error: unknown): NotHeard {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') return 'refused';
  return name === 'NotFoundError' ? 'missing' : 'busy';
}

/** Asks the browser for the microphone. It comes muted. */
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
    // Unplugged, or forbidden in the browser's own settings. Another one is opened by a press alone.
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

/** Plays what comes. A browser may want a press for it. */
export function hear(): void {
  player?.play().then(
    () => set({ isSilent: false }),
    () => set({ isSilent: player?.srcObject != null }),
  );
}

/** Turns this person's voice on, muted, once the browser was told that it may use the microphone. */
export async function startVoice({ id }: Pick<LiveSession, 'id'>, side: Side): Promise<void> {
  if (voice.state !== 'off') return;
  isCustomer = side === 'customer';
  set({ ...NOTHING, session_id: id, state: 'asking' });
  const chosen = await openMicrophone();
  // Turned off again, or the session was over, while the browser asked.
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
      // A page that was cut off for a moment counts as silent until it says otherwise.
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

/** Mutes this person, or lets them be heard; the microphone is asked for anew where it was unplugged. */
export async function mute(isMuted: boolean): Promise<void> {
  const { session_id } = voice;
  if (voice.state === 'off' || voice.state === 'asking') return;
  if (!isMuted && !microphone) {
    const chosen = await openMicrophone();
    if (typeof chosen === 'string') {
      set({ notHeard: chosen });
      return;
    }
    // The talk was over by then, or two presses asked and the other one has it: no second microphone stays open.
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

/** Looks for a way to the other side anew. */
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

/** Turns this person's voice off: the microphone is closed, and the other side is heard no more. */
export function stopVoice(): void {
  if (voice.session_id === undefined) return;
  say('off');
  end();
}
