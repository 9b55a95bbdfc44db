import {
  type ClientFrame,
  EVENTS_CLOSED,
  EVENTS_PATH,
  type HeardTopic,
  type LiveEvent,
  serverFrameSchema,
} from '@palisade/contract/events';
import { readHealth } from '@palisade/contract/platform';
import type { CustomerSignal, TechnicianSignal } from '@palisade/contract/remote-signal';
import { call } from './call.ts';
import { readConnection, reportConnection } from './connection.ts';
import { currentSession, endSession, holdSession } from './session.ts';
import { readAnswer } from './unknown-values.ts';

type Kind = LiveEvent['kind'];
type EventOf<K extends Kind> = Extract<LiveEvent, { kind: K }>;

/** Waiting time before the next attempt, in ms: twice as long after each failure, and somewhere between half of it and all of it. */
const BACKOFF = { first: 500, most: 30_000 } as const;
/** While not even a call gets through, a page that somebody looks at waits no longer than this, so that it is right soon after the network is back, in ms. */
const OFFLINE_MOST = 2_500;
/** A server is gone after this many heartbeats of silence. */
const SILENT_HEARTBEATS = 2;
/** The person who signs out here, or in another tab, has this long to do so before they are told that their session has ended, in ms. */
const SIGN_OUT_GRACE = 500;

const listeners = new Set<(event: LiveEvent) => void>();
const gapListeners = new Set<() => void>();
let isOpen = false;

/** Calls `listener` for each event of the kind, until the answered function is called. */
export function onEvent<K extends Kind>(kind: K, listener: (event: EventOf<K>) => void): () => void {
  const isOfKind = (event: LiveEvent): event is EventOf<K> => event.kind === kind;
  const filtered = (event: LiveEvent) => {
    if (isOfKind(event)) listener(event);
  };
  listeners.add(filtered);
  return () => listeners.delete(filtered);
}

/** Calls `listener` when events were missed for good, so that what was read before may be old. */
export function onGap(listener: () => void): () => void {
  gapListeners.add(listener);
  return () => gapListeners.delete(listener);
}

const beginningListeners = new Set<() => void>();

/** Calls `listener` when this page is heard of for the first time: events between an earlier reading and now did not reach this page. */
export function onBeginning(listener: () => void): () => void {
  beginningListeners.add(listener);
  return () => beginningListeners.delete(listener);
}

/** A topic beside one's own that a part of the page wants to hear. */
interface Heard {
  topic: HeardTopic;
  /** The last event or cursor of it that the page has seen. */
  after: string | undefined;
  /** Number of parts of the page that listen. */
  wanted: number;
}

const heard = new Map<string, Heard>();
/** Reaction of a part of the page to a topic. */
interface TopicListener {
  name: string;
  /** Events of it were missed for good. */
  onMissed: () => void;
  /** From here on it is told, at first and after each loss of the connection. */
  onListening?: (() => void) | undefined;
  /** It may not be heard, or not any more; `isTaken`: another page of this person has the place. */
  onRefused?: ((isTaken: boolean) => void) | undefined;
}
const topicListeners = new Set<TopicListener>();
/** Says something on the socket; undefined while there is none that was welcomed. */
let sayNow: ((frame: ClientFrame) => void) | undefined;

function nameOf(topic: HeardTopic): string {
  if (topic === 'staff') return topic;
  return 'session_id' in topic ? `session ${topic.session_id}` : topic.conversation_id;
}

function listenTo({ topic, after }: Heard): void {
  const from = after === undefined ? {} : { after };
  if (topic === 'staff') sayNow?.({ kind: 'listen', topic, ...from });
  else if ('session_id' in topic) sayNow?.({ kind: 'listen_remote', ...topic, ...from });
  else sayNow?.({ kind: 'listen_conversation', ...topic, ...from });
}

function leave(topic: HeardTopic): void {
  if (topic === 'staff') return;
  sayNow?.('session_id' in topic ? { kind: 'leave_remote', ...topic } : { kind: 'leave_conversation', ...topic });
}

/**
 * Hears a topic beside one's own until the answered function is called, also over a lost connection. `onMissed` is called when events of it were missed for good.
 */
export function hearTopic(
  topic: HeardTopic,
  onMissed: () => void,
  more: Pick<TopicListener, 'onListening' | 'onRefused'> = {},
): () => void {
  const name = nameOf(topic);
  const entry = heard.get(name) ?? { topic, after: undefined, wanted: 0 };
  entry.wanted += 1;
  heard.set(name, entry);
  if (entry.wanted === 1) listenTo(entry);
  const listener = { name, onMissed, ...more };
  topicListeners.add(listener);
  return () => {
    topicListeners.delete(listener);
    entry.wanted -= 1;
    if (entry.wanted > 0) return;
    heard.delete(name);
    leave(topic);
  };
}

/** Calls `onMissed` when events of a topic were missed for good that another part of the page hears. */
export function onTopicMissed(topic: HeardTopic, onMissed: () => void): () => void {
  const listener = { name: nameOf(topic), onMissed };
  topicListeners.add(listener);
  return () => topicListeners.delete(listener);
}

function listenersOf(topic: HeardTopic): TopicListener[] {
  const name = nameOf(topic);
  return [...topicListeners].filter((listener) => listener.name === name);
}

/** Says something to the page of the other side of a remote session; nothing while the page is not connected. */
export function saySignal(session_id: string, signal: CustomerSignal | TechnicianSignal): void {
  sayNow?.({ kind: 'remote_signal', session_id, signal });
}

/** Says that the person types: in a conversation, or, with null, in their own. Empty while the page is not connected. */
export function sayTyping(conversation_id: string | null): void {
  sayNow?.({ kind: 'typing', conversation_id });
}

/** Whether events arrive just now. */
export function isLive(): boolean {
  return isOpen;
}

function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function address(): string {
  const url = new URL(`/api${EVENTS_PATH}`, window.location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/**
 * Keeps the one socket of this page open for a token: connects, answers heartbeats, reconnects after a loss and resumes after its last event.
 * The connection that the screens show follows it. Ends with the answered function, or with the session.
 */
export function keepEventsOpen(access_token: string): () => void {
  let socket: WebSocket | undefined;
  let after: string | undefined;
  let failures = 0;
  let heartbeat_ms: number | undefined;
  let heard_at = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  function say(frame: ClientFrame): void {
    socket?.send(JSON.stringify(frame));
  }

  function listenForSilence(): void {
    heard_at = Date.now();
    clearTimeout(silence);
    if (heartbeat_ms !== undefined) silence = setTimeout(() => lose(), SILENT_HEARTBEATS * heartbeat_ms);
  }

  function hear(text: unknown): void {
    const frame = readAnswer(serverFrameSchema, parseJson(text))?.data;
    // A newer server may say more than this page knows.
    if (frame === undefined) return;
    if (frame.kind === 'welcome') {
      ({ heartbeat_ms } = frame);
      failures = 0;
      isOpen = true;
      if (after === undefined) for (const listener of beginningListeners) listener();
      after = frame.cursor;
      if (frame.missed) for (const listener of gapListeners) listener();
      sayNow = say;
      for (const entry of heard.values()) listenTo(entry);
    }
    if (frame.kind === 'listening') {
      const entry = heard.get(nameOf(frame.topic));
      const isFirst = entry !== undefined && entry.after === undefined;
      if (entry) entry.after = frame.cursor;
      for (const { onMissed, onListening } of listenersOf(frame.topic)) {
        if (frame.missed || isFirst) onMissed();
        onListening?.();
      }
    }
    if (frame.kind === 'refused') for (const { onRefused } of listenersOf(frame.topic)) onRefused?.(frame.why === 'taken');
    if (frame.kind === 'ping') say({ kind: 'pong' });
    if (frame.kind === 'event') {
      const entry = frame.topic && heard.get(nameOf(frame.topic));
      if (entry) entry.after = frame.id ?? entry.after;
      // Each topic has a cursor of its own.
      if (!frame.topic) after = frame.id ?? after;
      for (const listener of listeners) listener(frame.event);
    }
    reportConnection('online');
    listenForSilence();
  }

  /** Forgets the socket: a browser takes minutes to notice that the other side is gone. */
  function drop(): void {
    clearTimeout(silence);
    clearTimeout(retry);
    retry = undefined;
    const dropped = socket;
    socket = undefined;
    isOpen = false;
    sayNow = undefined;
    dropped?.close();
  }

  function lose(code?: number): void {
    const wasOpen = isOpen;
    drop();
    if (code === EVENTS_CLOSED.unauthenticated || code === EVENTS_CLOSED.account_deleted) {
      const notice = code === EVENTS_CLOSED.account_deleted ? 'account_deleted' : 'session_ended';
      retry = setTimeout(() => {
        if (currentSession()?.access_token === access_token) endSession(notice);
      }, SIGN_OUT_GRACE);
      return;
    }
    if (code === EVENTS_CLOSED.two_factor_setup_required) {
      holdSession(access_token, true);
      return;
    }
    if (wasOpen) reportConnection('offline');
    // Where a proxy lets no socket through, calls alone can tell whether the server is there.
    else void call(readHealth).catch(() => undefined);
    const isWatched = readConnection() === 'offline' && document.visibilityState === 'visible';
    const most = isWatched && code !== EVENTS_CLOSED.too_many ? OFFLINE_MOST : BACKOFF.most;
    const longest = code === EVENTS_CLOSED.too_many ? most : Math.min(most, BACKOFF.first * 2 ** failures);
    failures += 1;
    retry = setTimeout(connect, longest * (0.5 + Math.random() / 2));
  }

  function connect(): void {
    drop();
    const opened = new WebSocket(address());
    socket = opened;
    const ifCurrent = (act: () => void) => () => {
      if (socket === opened) act();
    };
    opened.addEventListener(
      'open',
      ifCurrent(() => say({ kind: 'hello', access_token, ...(after !== undefined && { after }) })),
    );
    opened.addEventListener('message', ({ data }) => ifCurrent(() => hear(data))());
    opened.addEventListener('close', ({ code }) => ifCurrent(() => lose(code))());
  }

  /** The network is back, or the person is: no reason to wait longer, and a socket that slept is not trusted. */
  function wake(): void {
    if (document.visibilityState === 'hidden') return;
    const isStale = isOpen && heartbeat_ms !== undefined && Date.now() - heard_at > SILENT_HEARTBEATS * heartbeat_ms;
    if (isStale || (retry !== undefined && socket === undefined)) {
      failures = 0;
      connect();
    }
  }

  /** Answers over the lost network are discarded. */
  function networkIsBack(): void {
    if (document.visibilityState === 'hidden') return;
    failures = 0;
    if (isOpen) void call(readHealth).catch(() => undefined);
    else connect();
  }

  window.addEventListener('online', networkIsBack);
  document.addEventListener('visibilitychange', wake);
  connect();
  return () => {
    window.removeEventListener('online', networkIsBack);
    document.removeEventListener('visibilitychange', wake);
    drop();
  };
}
