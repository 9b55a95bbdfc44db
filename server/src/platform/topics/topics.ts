import type { LiveEvent } from '@palisade/contract/events';

/**
 * Where events go, and who listens there hears them: what concerns one person, all staff of the support desk, those of them who have a conversation open, and what
 * one device is to be told, and the two pages of a remote session.
 */
export type TopicName = `${typeof PERSON}${string}` | 'staff' | `${'conversation' | 'device' | 'remote' | 'control'}:${string}`;

/** What the topics of people begin with: what everybody is told goes to these, so that no page hears it twice. */
export const PERSON = 'person:';

export function personTopic(user_id: string): TopicName {
  return `${PERSON}${user_id}`;
}

export const STAFF_TOPIC: TopicName = 'staff';

export function conversationTopic(conversation_id: string): TopicName {
  return `conversation:${conversation_id}`;
}

export function deviceTopic(device_id: string): TopicName {
  return `device:${device_id}`;
}

export function sessionTopic(session_id: string): TopicName {
  return `remote:${session_id}`;
}

/** What servers say to each other of the two ends of remote control. */
export function controlTopic(session_id: string): TopicName {
  return `control:${session_id}`;
}

/** An event as listeners get it. `id` is null for one that is not kept. */
export interface Published {
  id: string | null;
  event: LiveEvent;
}

export interface Listener {
  /** Called once, before any event. `missed`: some of what came after the listener's `after` is no longer kept. */
  onStart(start: { cursor: string; missed: boolean }): void;
  /** Each listener of a topic gets the same object, so that what is made of it can be made once. */
  onEvent(published: Published): void;
  /** Something may not have been told. Nothing more is: the listener has to listen anew, with the last id that it heard. */
  onLost(): void;
}

/**
 * Every live event goes through here, to whoever listens to its topic. Kept events are told again after a gap, in the same order to everybody; those of the moment
 * (`OF_THE_MOMENT` of the contract) never are. In memory for one server, in Redis for several, behind one conformance test.
 */
export interface Topics {
  /** Never fails and never waits: who tells something has other things to do. */
  publish(topic: TopicName, event: LiveEvent): void;
  /** The same in the topic of every person who listens, or did lately. */
  publishToAll(event: LiveEvent): void;
  /** Whether somebody listens to a topic, or did lately and may ask what was told meanwhile. An event without a listener need not be made. */
  isHeard(topic: TopicName): Promise<boolean>;
  /** Tells what came after the event or cursor `after` first, then everything as it happens, until the answered function is called. */
  listen(topic: TopicName, after: string | undefined, listener: Listener): () => void;
  close(): void;
}

/** Events of one topic that may be asked for after a gap, and for how long nobody has to listen until they are forgotten, in ms. */
export const KEPT_MAXIMUM = 200;
export const FORGOTTEN_AFTER_MS = 5 * 60_000;

/**
 * Where somebody who has heard `after` goes on: `ids` are those of what is kept, oldest first, and the first of them is told to nobody (it is what came before). `from`
 * is the place of the first that they are told.
 */
export function resumeAt(ids: readonly string[], after: string | undefined): { cursor: string; missed: boolean; from: number } {
  const place = after === undefined ? ids.length - 1 : ids.indexOf(after);
  const missed = place === -1;
  const at = missed ? ids.length - 1 : place;
  return { cursor: ids[at] ?? '', missed, from: at + 1 };
}
