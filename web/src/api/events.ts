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
 * Keeps the one socket of this page open for a token: connects, answers heartbeats, comes back after a loss and continues after the event that it saw last.
 * The connection that the screens show follows it. Ends with the answered function, or with the session.
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

/** Events of a topic beside one's own begin with this frame. */
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
  /** The last event of one's own topic that the page has seen. */
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

  /** Forgets the socket: a browser takes minutes to notice that the other side is gone. */
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

  /** The page is visible again: it connects without further wait, and replaces a socket that was silent for too long. */
  wake(): void {
    if (document.visibilityState === 'hidden') return;
    const heartbeat_ms = this.#heartbeat_ms;
    const isStale = isOpen && heartbeat_ms !== undefined && Date.now() - this.#heard_at > SILENT_HEARTBEATS * heartbeat_ms;
    if (isStale || (this.#retry !== undefined && this.#socket === undefined)) {
      this.#failures = 0;
      this.connect();
    }
  }

  /** The browser has a network again: a connection attempt over the old one is worth nothing. */
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
    // A newer server may say more than this page knows.
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
    // Each topic has a cursor of its own.
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
      // Where a proxy lets no socket through, calls alone can tell whether the server is there.
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
