import { completeSession, type RemoteSession } from '@palisade/contract/remote';
import type { LiveSession, Voice } from '@palisade/contract/remote-record';
import { approveSession } from '@palisade/contract/remote-session';
import { type CustomerSignal, SHARES_MAXIMUM } from '@palisade/contract/remote-signal';
import { useSyncExternalStore } from 'react';
import { randomUuid } from '#api/browser.ts';
import { call } from '#api/call.ts';
import { hearTopic, onEvent, saySignal } from '#api/events.ts';
import { createListeners } from '#api/listeners.ts';
import { tellSharing } from '#domain/session/sharing-now.ts';
import { type BlackTrack, createBlackTrack } from './black-track.ts';
import type { Link } from './connection.ts';
import { readAhead, readIceServers } from './ice.ts';
import { type Marks, NO_MARKS, withMark } from './marks.ts';
import { createSharer, type Sharer } from './peer.ts';

/** One screen, window or tab that the customer shares. */
export interface Screen {
  id: string;
  track: MediaStreamTrack;
  /** The kind of the shared surface, if the browser reports it. */
  surface: 'monitor' | 'window' | 'browser' | null;
  link: Link;
  marks: Marks;
}

/** The reason why nothing is shared: the person refused, or the browser could not read the screen. */
export type NotShown = 'refused' | 'unreadable';

/** The shared screens of this page, their session, and whether this page serves the session. */
export interface Sharing {
  session_id: string | undefined;
  /** `ours`: this page serves the session. Only one window or device of a person can. */
  place: 'asked' | 'ours' | 'taken';
  isChoosing: boolean;
  notShown: NotShown | undefined;
  /** The refusal of the server. */
  error: Error | undefined;
  screens: readonly Screen[];
  isPaused: boolean;
  /** The code to read aloud. */
  code: string | undefined;
}

const NOTHING: Sharing = {
  session_id: undefined,
  place: 'asked',
  isChoosing: false,
  notShown: undefined,
  error: undefined,
  screens: [],
  isPaused: false,
  code: undefined,
};

/** Shortest interval between two offers, in ms. The technician's page may request more, and each offer makes a new connection. */
export const OFFERS_EVERY = 1_000;
/** Longest wait for the event of the page's own call, in ms. */
const RUNNING_PATIENCE = 2_000;

let sharing = NOTHING;
let technician = '';
let black: BlackTrack | undefined;
let leave = () => {};
const sharers = new Map<string, Sharer>();
const listeners = createListeners();

/** The person's voice, which the banner of every screen also shows (voice.ts). */
let voice: Voice = 'off';

function set(change: Partial<Sharing>): void {
  sharing = { ...sharing, ...change };
  tell();
  listeners.tell();
}

function tell(): void {
  const is_shown = sharing.screens.length > 0;
  tellSharing(is_shown || voice !== 'off' ? { technician, is_shown, is_paused: sharing.isPaused, voice } : undefined);
}

/** Shows the state of the person's voice in the banner of every screen. */
export function tellVoice(now: Voice): void {
  voice = now;
  tell();
}

/** Calls `listener` at each change with the session that this page serves; undefined if it serves none. */
export function onPlace(listener: (session_id: string | undefined) => void): () => void {
  return listeners.subscribe(() => listener(sharing.place === 'taken' ? undefined : sharing.session_id));
}

function setScreen(id: string, change: (screen: Screen) => Partial<Screen>): void {
  set({ screens: sharing.screens.map((screen) => (screen.id === id ? { ...screen, ...change(screen) } : screen)) });
}

function say(signal: CustomerSignal): void {
  if (sharing.session_id !== undefined) saySignal(sharing.session_id, signal);
}

export function useSharing(): Sharing {
  return useSyncExternalStore(listeners.subscribe, () => sharing);
}

/** The missing requirement of screen sharing; undefined if all are met. */
export function missingToShare(): 'browser' | 'secure_page' | undefined {
  if (!window.isSecureContext) return 'secure_page';
  // Phones cannot share their screen.
  return typeof navigator.mediaDevices?.getDisplayMedia === 'function' ? undefined : 'browser';
}

/**
 * Makes this page serve a session until the session ends: it receives the events and the technician's signals.
 * Of several windows, the first one serves it until it closes. With `isSure` this window takes over, because the person acts here.
 */
export function attend({ id, support_agent }: Pick<RemoteSession, 'id' | 'support_agent'>, isSure = false): void {
  technician = support_agent ?? technician;
  if (sharing.session_id === id && (!isSure || sharing.place === 'ours')) return;
  stopAll();
  leave();
  set({ ...NOTHING, session_id: id });
  leave = holdPlace(id, isSure);
}

/** Holds the lock of a session, which one window of this browser has at a time. Takes it at once, or when the window that holds it closes. */
function holdPlace(session_id: string, isSure: boolean): () => void {
  // Insecure pages have no locks; the server refuses the topic to all pages but one.
  if (!('locks' in navigator)) return hear(session_id);
  const name = `palisade.remote.${session_id}`;
  const { promise: isOver, resolve: release } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  let stopHearing = () => {};
  let hasEnded = false;
  const hold = async (lock: Lock | null) => {
    if (hasEnded) return;
    if (lock === null) {
      set({ place: 'taken' });
      navigator.locks.request(name, { signal: waiting.signal }, hold).catch(ignoreEnd);
      return;
    }
    set({ place: 'asked' });
    stopHearing = hear(session_id);
    await isOver;
  };
  // Another window has stolen the lock, because the person acts there.
  const ignoreEnd = () => {
    if (!hasEnded) lose();
  };
  navigator.locks.request(name, isSure ? { steal: true } : { ifAvailable: true }, hold).catch(ignoreEnd);
  return () => {
    hasEnded = true;
    stopHearing();
    release();
    waiting.abort();
  };
}

/** Another window or device now serves the session: this page stops sharing. */
function lose(): void {
  stopAll();
  leave();
  leave = () => {};
  set({ place: 'taken' });
}

let offered_at = 0;
let offering: ReturnType<typeof setTimeout> | undefined;

/** Offers every picture again: at once, or as soon as `OFFERS_EVERY` allows. */
function offerSoon(): void {
  if (offering !== undefined) return;
  const offer = () => {
    offering = undefined;
    offered_at = Date.now();
    connectAgain();
  };
  const wait = offered_at + OFFERS_EVERY - Date.now();
  if (wait > 0) offering = setTimeout(offer, wait);
  else offer();
}

function hear(session_id: string): () => void {
  const stops = [
    hearTopic({ session_id }, () => {}, {
      // The page serves the session when the server has sent the session's state.
      onListening: () => set({ place: 'asked' }),
      onRefused(isTaken) {
        if (isTaken) lose();
        else forget();
      },
    }),
    onEvent('remote_changed', ({ session }) => {
      if (session.id === session_id) takeChange(session);
    }),
    onEvent('remote_signal', ({ session_id: of, from, signal }) => {
      if (of !== session_id || from !== 'technician') return;
      if (signal.type === 'offer_wanted') offerSoon();
      else for (const sharer of sharers.values()) sharer.take(signal);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function takeChange(session: LiveSession): void {
  technician = session.support_agent ?? technician;
  if (session.phase === 'ended') {
    forget();
    return;
  }
  if (session.status === 'active') tellRunning();
  if (sharing.place !== 'asked') return;
  set({ place: 'ours' });
  // A reloaded page has stopped sharing; a reconnected page continues.
  if (sharing.screens.length === 0 && session.share === 'running') say({ type: 'share_stopped', connection_id: null });
  if (sharing.isPaused) say({ type: 'paused' });
  for (const { id, link } of sharing.screens) if (link.state !== 'connected') sharers.get(id)?.connect();
}

/** Resolves `untilRunning` when the server reports the session as running. Before that, the server forwards no offer. */
let tellRunning = () => {};

/** Waits for that report, at most `RUNNING_PATIENCE`. The technician's page then requests the offer again. */
function untilRunning(session: Pick<RemoteSession, 'phase'>): Promise<void> {
  if (session.phase !== 'claimed') return Promise.resolve();
  return new Promise((resolve) => {
    tellRunning = resolve;
    setTimeout(resolve, RUNNING_PATIENCE);
  });
}

/** Ends every picture of this page at once. */
function stopAll(): void {
  clearTimeout(offering);
  offering = undefined;
  for (const sharer of sharers.values()) sharer.close();
  sharers.clear();
  for (const { track } of sharing.screens) track.stop();
  black?.stop();
  black = undefined;
  set({ screens: [], isPaused: false, code: undefined });
}

/** Resets the state after the end of the session. */
function forget(): void {
  stopAll();
  leave();
  leave = () => {};
  set(NOTHING);
}

/** Opens the browser's picker. Returns the picture, or the reason why there is none. */
async function choose(): Promise<MediaStreamTrack | NotShown> {
  try {
    const stream = await navigator.mediaDevices.getDisplayMedia({
      video: { frameRate: { ideal: 30, max: 30 } },
      audio: false,
      // TypeScript does not know these options yet, so they are spread. `selfBrowserSurface` excludes this page from the picker.
      ...{ selfBrowserSurface: 'exclude', surfaceSwitching: 'include', monitorTypeSurfaces: 'include' },
    });
    return stream.getVideoTracks()[0] ?? 'unreadable';
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotAllowedError' ? 'refused' : 'unreadable';
  }
}

function surfaceOf(track: MediaStreamTrack): Screen['surface'] {
  const { displaySurface } = track.getSettings();
  return displaySurface === 'monitor' || displaySurface === 'window' || displaySurface === 'browser' ? displaySurface : null;
}

/** Asks the person what to share, approves the technician if that is still open, and shares. Must be called by a press, because the browser requires one for its picker. */
export async function share(session: Pick<RemoteSession, 'id' | 'support_agent' | 'phase'>): Promise<void> {
  if (sharing.isChoosing || sharing.screens.length >= SHARES_MAXIMUM) return;
  attend(session, true);
  set({ isChoosing: true, notShown: undefined, error: undefined });
  // Restarts the minute for the answer, because the person is choosing.
  say({ type: 'choosing' });
  readAhead(session.id);
  const chosen = await choose();
  if (typeof chosen === 'string') {
    set({ isChoosing: false, notShown: chosen });
    say({ type: 'choosing' });
    return;
  }
  try {
    const isRunning = untilRunning(session);
    if (session.phase === 'claimed') await call(approveSession, { params: { id: session.id }, body: { view: 'screen' } });
    await isRunning;
    if (sharing.session_id !== session.id) throw new Error('The session was over before the picture was chosen.');
    show(session.id, chosen);
  } catch (error) {
    chosen.stop();
    set({ error: error instanceof Error ? error : undefined });
  } finally {
    set({ isChoosing: false });
  }
}

function show(session_id: string, track: MediaStreamTrack): void {
  black ??= createBlackTrack();
  if (!black) {
    track.stop();
    set({ notShown: 'unreadable' });
    return;
  }
  const id = randomUuid();
  const surface = surfaceOf(track);
  let named: string | undefined;
  const sharer = createSharer({
    track,
    black: black.track,
    isPaused: sharing.isPaused,
    ice: () => readIceServers(session_id),
    send(signal) {
      say(signal);
      if (signal.type !== 'offer' || signal.connection_id === named) return;
      say({ type: 'share_started', connection_id: signal.connection_id, surface });
      // The previous connection has ended.
      if (named !== undefined) say({ type: 'share_stopped', connection_id: named });
      named = signal.connection_id;
    },
    onLink: (link) => setScreen(id, () => ({ link })),
    onCode: (code) => set({ code }),
    onMark: (mark) => setScreen(id, ({ marks }) => ({ marks: withMark(marks, mark) })),
  });
  sharers.set(id, sharer);
  // The browser's own Stop button.
  track.addEventListener('ended', () => stopScreen(id));
  set({ screens: [...sharing.screens, { id, track, surface, link: { state: 'connecting' }, marks: NO_MARKS }] });
  sharer.connect();
}

/** Stops one of several pictures; the session continues. */
export function stopScreen(id: string): void {
  const sharer = sharers.get(id);
  if (!sharer) return;
  const isLast = sharers.size === 1;
  const connection_id = sharer.connection_id();
  sharer.close();
  sharers.delete(id);
  for (const screen of sharing.screens) if (screen.id === id) screen.track.stop();
  if (isLast) stopAll();
  else set({ screens: sharing.screens.filter((screen) => screen.id !== id) });
  if (isLast) say({ type: 'share_stopped', connection_id: null });
  else if (connection_id !== undefined) say({ type: 'share_stopped', connection_id });
}

/** Replaces every picture with black, or restores it. */
export function pause(isPaused: boolean): void {
  if (sharing.screens.length === 0 || isPaused === sharing.isPaused) return;
  for (const sharer of sharers.values()) sharer.pause(isPaused);
  set({ isPaused });
  say({ type: isPaused ? 'paused' : 'resumed' });
}

/** Number of screens that show the state of picture and voice. */
let told = 0;

/** Picture and voice require a screen that shows them: they end when the person signs out or opens a screen without the banner. */
export function tellOnScreen(): () => void {
  told += 1;
  return () => {
    told -= 1;
    // The next screen may mount in the same commit.
    queueMicrotask(() => {
      if (told === 0 && (sharing.screens.length > 0 || voice !== 'off')) forget();
    });
  };
}

/** Connects to the technician again. */
export function connectAgain(): void {
  for (const sharer of sharers.values()) sharer.connect();
}

/** Ends every picture at once, and then the session, even if the call fails. */
export async function stop(): Promise<void> {
  const id = sharing.session_id;
  stopAll();
  say({ type: 'share_stopped', connection_id: null });
  if (id === undefined) return;
  try {
    await call(completeSession, { params: { id } });
  } catch (error) {
    // The picture has ended; the server ends a session without a picture after a minute.
    console.error(error);
  }
}
