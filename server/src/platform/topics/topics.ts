import type { LiveEvent } from '@palisade/contract/events';

/**
 * Names of event topics: events of one person, of all staff of the support desk, of staff with a conversation open, of one device's orders, and of the two pages
 * of a remote session.
 */
export type TopicName = `${typeof PERSON}${string}` | 'staff' | `${'conversation' | 'device' | 'remote' | 'control'}:${string}`;

/** The prefix of people's topics: an event for everybody goes to these, so that no page hears it twice. */
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

/** The servers' topic between the two ends of a remote control session. */
export function controlTopic(session_id: string): TopicName {
  return `control:${session_id}`;
}

/** An event as listeners get it. `id` is null for one that is not kept. */
export interface Published {
  id: string | null;
  event: LiveEvent;
}

export interface Listener {
  /** Called once, before any event. `missed`: some events after the listener's `after` are no longer stored. */
  onStart(start: { cursor: string; missed: boolean }): void;
  /** Each listener of a topic gets the same object, so that a frame can be made from it once. */
  onEvent(published: Published): void;
  /** Something may not have been told. No more events follow: the listener has to listen again, with the last id that it heard. */
  onLost(): void;
}

/**
 * Every live event goes through here, to the listeners of its topic. Kept events are told again after a gap, in the same order to everybody; those of the moment
 * (`OF_THE_MOMENT` of the contract) never are. In memory for one server, in Redis for several, behind one conformance test.
 */
export interface Topics {
  /** Never fails and never waits: the publisher has other work. */
  publish(topic: TopicName, event: LiveEvent): void;
  /** The same in the topic of every person who listens, or did lately. */
  publishToAll(event: LiveEvent): void;
  /** Whether a topic has listeners, or had some lately who may ask for events meanwhile. An event without a listener need not be made. */
  isHeard(topic: TopicName): Promise<boolean>;
  /** Sends the events after the event or cursor `after` first, then all later ones, until the returned function is called. */
  listen(topic: TopicName, after: string | undefined, listener: Listener): () => void;
  close(): void;
}

/** The most stored events of one topic, and the time without listeners after which they are deleted, in ms. */
export const KEPT_MAXIMUM = 200;
export const FORGOTTEN_AFTER_MS = 5 * 60_000;

/**
 * The place at which a listener resumes after `after`: `ids` are the stored events, oldest first, and the first of them is not sent (it marks the earlier end). `from`
 * is the index of the first one to send.
 */
export function resumeAt(ids: readonly string[], after: string | undefined): { cursor: string; missed: boolean; from: number } {
  const place = after === undefined ? ids.length - 1 : ids.indexOf(after);
  const missed = place === -1;
  const at = missed ? ids.length - 1 : place;
  return { cursor: ids[at] ?? '', missed, from: at + 1 };
}
