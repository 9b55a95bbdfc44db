import {
  type ClientFrame,
  EVENTS_CLOSED,
  EVENTS_PATH,
  type HeardTopic,
  type LiveEvent,
  type ServerFrame,
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

/** Delay before the next attempt, in ms: doubles after each failure, with a random factor between 0.5 and 1. */
const BACKOFF = { first: 500, most: 30_000 } as const;
/** Longest delay of a visible page while calls fail too, in ms, so that it updates soon after the network returns. */
const OFFLINE_MOST = 2_500;
/** Number of missed heartbeats after which the server counts as gone. */
const SILENT_HEARTBEATS = 2;
/** Time for a sign-out in this or another tab to complete before the page reports the session as ended, in ms. */
const SIGN_OUT_GRACE = 500;

const listeners = new Set<(event: LiveEvent) => void>();
const gapListeners = new Set<() => void>();
let isOpen = false;

/** Calls `listener` for each event of the kind. Returns a function that unsubscribes. */
export function onEvent<K extends Kind>(kind: K, listener: (event: EventOf<K>) => void): () => void {
  const isOfKind = (event: LiveEvent): event is EventOf<K> => event.kind === kind;
  const filtered = (event: LiveEvent) => {
    if (isOfKind(event)) listener(event);
  };
  listeners.add(filtered);
  return () => listeners.delete(filtered);
}

/** Calls `listener` when events are lost and cached data may be outdated. */
export function onGap(listener: () => void): () => void {
  gapListeners.add(listener);
  return () => gapListeners.delete(listener);
}

const beginningListeners = new Set<() => void>();

/** Calls `listener` at the first connection of this page: events between an earlier fetch and the connection did not reach it. */
export function onBeginning(listener: () => void): () => void {
  beginningListeners.add(listener);
  return () => beginningListeners.delete(listener);
}

/** A subscribed topic besides the person's own. */
interface Heard {
  topic: HeardTopic;
  /** The last event or cursor of the topic that the page has received. */
  after: string | undefined;
  /** Number of subscribers in the page. */
  wanted: number;
}

const heard = new Map<string, Heard>();
/** Callbacks of a subscriber of a topic. */
interface TopicListener {
  name: string;
  /** Events of the topic are lost. */
  onMissed: () => void;
  /** Events of the topic arrive from now on; called at first and after each reconnection. */
  onListening?: (() => void) | undefined;
  /** The server refuses the topic, now or later. `isTaken`: another page of this person has subscribed instead. */
  onRefused?: ((isTaken: boolean) => void) | undefined;
}
const topicListeners = new Set<TopicListener>();
/** Sends a frame on the socket; undefined until the server's welcome. */
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

/** Subscribes to a topic besides the person's own, across reconnections. `onMissed` is called when its events are lost. Returns a function that unsubscribes. */
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

/** Calls `onMissed` when events of a topic are lost to which another part of the page has subscribed. */
export function onTopicMissed(topic: HeardTopic, onMissed: () => void): () => void {
  const listener = { name: nameOf(topic), onMissed };
  topicListeners.add(listener);
  return () => topicListeners.delete(listener);
}

function listenersOf(topic: HeardTopic): TopicListener[] {
  const name = nameOf(topic);
  return [...topicListeners].filter((listener) => listener.name === name);
}

/** Sends a signal to the other side of a remote session; dropped while the page is not connected. */
export function saySignal(session_id: string, signal: CustomerSignal | TechnicianSignal): void {
  sayNow?.({ kind: 'remote_signal', session_id, signal });
}

/** Reports that the person is typing in a conversation, or in their own if null. Dropped while the page is not connected. */
export function sayTyping(conversation_id: string | null): void {
  sayNow?.({ kind: 'typing', conversation_id });
}

/** Whether the page receives events at present. */
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
 * Keeps the events socket of this page open for a token: connects, answers heartbeats, reconnects, and resumes after the last received event.
 * Updates the connection state that screens show. Ends when the returned function is called, or with the session.
 */
export function keepEventsOpen(access_token: string): () => void {
  const events = new EventSocket(access_token);
  const wake = () => events.wake();
  const networkIsBack = () => events.networkIsBack();
  window.addEventListener('online', networkIsBack);
  document.addEventListener('visibilitychange', wake);
  events.connect();
  return () => {
    window.removeEventListener('online', networkIsBack);
    document.removeEventListener('visibilitychange', wake);
    events.drop();
  };
}

type FrameOf<K extends ServerFrame['kind']> = Extract<ServerFrame, { kind: K }>;

/** The server starts the events of a subscribed topic with this frame. */
function hearListening({ topic, cursor, missed }: FrameOf<'listening'>): void {
  const entry = heard.get(nameOf(topic));
  const isFirst = entry !== undefined && entry.after === undefined;
  if (entry) entry.after = cursor;
  for (const { onMissed, onListening } of listenersOf(topic)) {
    if (missed || isFirst) onMissed();
    onListening?.();
  }
}

class EventSocket {
  readonly #access_token: string;
  #socket: WebSocket | undefined;
  /** The last received event of the person's own topic. */
  #after: string | undefined;
  #failures = 0;
  #heartbeat_ms: number | undefined;
  #heard_at = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(access_token: string) {
    this.#access_token = access_token;
  }

  connect(): void {
    this.drop();
    const opened = new WebSocket(address());
    this.#socket = opened;
    const ifCurrent = (act: () => void) => () => {
      if (this.#socket === opened) act();
    };
    opened.addEventListener(
      'open',
      ifCurrent(() => {
        const after = this.#after;
        this.#say({ kind: 'hello', access_token: this.#access_token, ...(after !== undefined && { after }) });
      }),
    );
    opened.addEventListener('message', ({ data }) => ifCurrent(() => this.#hear(data))());
    opened.addEventListener('close', ({ code }) => ifCurrent(() => this.#lose(code))());
  }

  /** Drops the socket without waiting for its close: a browser takes minutes to notice that the server is gone. */
  drop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const dropped = this.#socket;
    this.#socket = undefined;
    isOpen = false;
    sayNow = undefined;
    dropped?.close();
  }

  /** The page is visible again: connect at once, and replace a socket that was silent for too long. */
  wake(): void {
    if (document.visibilityState === 'hidden') return;
    const heartbeat_ms = this.#heartbeat_ms;
    const isStale = isOpen && heartbeat_ms !== undefined && Date.now() - this.#heard_at > SILENT_HEARTBEATS * heartbeat_ms;
    if (isStale || (this.#retry !== undefined && this.#socket === undefined)) {
      this.#failures = 0;
      this.connect();
    }
  }

  /** The browser has a network again: abandon attempts over the old network. */
  networkIsBack(): void {
    if (document.visibilityState === 'hidden') return;
    this.#failures = 0;
    if (isOpen) void call(readHealth).catch(() => undefined);
    else this.connect();
  }

  #say(frame: ClientFrame): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #hear(text: unknown): void {
    const frame = readAnswer(serverFrameSchema, parseJson(text))?.data;
    // A newer server may send frames that this page does not know.
    if (frame === undefined) return;
    if (frame.kind === 'welcome') this.#hearWelcome(frame);
    if (frame.kind === 'listening') hearListening(frame);
    if (frame.kind === 'refused') for (const { onRefused } of listenersOf(frame.topic)) onRefused?.(frame.why === 'taken');
    if (frame.kind === 'ping') this.#say({ kind: 'pong' });
    if (frame.kind === 'event') this.#hearEvent(frame);
    reportConnection('online');
    this.#listenForSilence();
  }

  #hearWelcome({ heartbeat_ms, cursor, missed }: FrameOf<'welcome'>): void {
    this.#heartbeat_ms = heartbeat_ms;
    this.#failures = 0;
    isOpen = true;
    if (this.#after === undefined) for (const listener of beginningListeners) listener();
    this.#after = cursor;
    if (missed) for (const listener of gapListeners) listener();
    sayNow = (frame) => this.#say(frame);
    for (const entry of heard.values()) listenTo(entry);
  }

  #hearEvent({ topic, id, event }: FrameOf<'event'>): void {
    const entry = topic && heard.get(nameOf(topic));
    if (entry) entry.after = id ?? entry.after;
    // Each topic has its own cursor.
    if (!topic) this.#after = id ?? this.#after;
    for (const listener of listeners) listener(event);
  }

  #listenForSilence(): void {
    this.#heard_at = Date.now();
    clearTimeout(this.#silence);
    if (this.#heartbeat_ms !== undefined) this.#silence = setTimeout(() => this.#lose(), SILENT_HEARTBEATS * this.#heartbeat_ms);
  }

  #lose(code?: number): void {
    const wasOpen = isOpen;
    this.drop();
    if (code === EVENTS_CLOSED.unauthenticated || code === EVENTS_CLOSED.account_deleted) {
      this.#endSessionSoon(code === EVENTS_CLOSED.account_deleted ? 'account_deleted' : 'session_ended');
    } else if (code === EVENTS_CLOSED.two_factor_setup_required) {
      holdSession(this.#access_token, true);
    } else {
      if (wasOpen) reportConnection('offline');
      // A proxy may block sockets, so only a call can tell whether the server is reachable.
      else void call(readHealth).catch(() => undefined);
      this.#connectLater(code);
    }
  }

  #endSessionSoon(notice: 'account_deleted' | 'session_ended'): void {
    this.#retry = setTimeout(() => {
      if (currentSession()?.access_token === this.#access_token) endSession(notice);
    }, SIGN_OUT_GRACE);
  }

  #connectLater(code: number | undefined): void {
    const isWatched = readConnection() === 'offline' && document.visibilityState === 'visible';
    const most = isWatched && code !== EVENTS_CLOSED.too_many ? OFFLINE_MOST : BACKOFF.most;
    const longest = code === EVENTS_CLOSED.too_many ? most : Math.min(most, BACKOFF.first * 2 ** this.#failures);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.connect(), longest * (0.5 + Math.random() / 2));
  }
}
