import type { LiveEvent } from '@palisade/contract/events';

/** Names of event topics: events of one person, of all support staff, of staff with an open conversation, of one device's commands, and of the two pages of a remote session. */
export type TopicName = `${typeof PERSON}${string}` | 'staff' | `${'conversation' | 'device' | 'remote' | 'control'}:${string}`;

/** The prefix of people's topics: an event for everybody is published to these, so that no page receives it twice. */
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

/** An event as listeners receive it. `id` is null if it is not stored. */
export interface Published {
  id: string | null;
  event: LiveEvent;
}

export interface Listener {
  /** Called once, before any event. `missed`: some events after the listener's `after` are no longer stored. */
  onStart(start: { cursor: string; missed: boolean }): void;
  /** All listeners of a topic receive the same object, so that its frame can be serialized once. */
  onEvent(published: Published): void;
  /** Events may have been missed. No more events follow: the listener must listen again, with the last id that it received. */
  onLost(): void;
}

/**
 * Distributes every live event to the listeners of its topic. Stored events are sent again after a gap, in the same order to all; momentary ones (`OF_THE_MOMENT` of the
 * contract) never are. In memory for one server, in Redis for several, behind one conformance test.
 */
export interface Topics {
  /** Never rejects and never blocks: the publisher has other work. */
  publish(topic: TopicName, event: LiveEvent): void;
  /** Publishes an event to the topic of every person with a current or recent listener. */
  publishToAll(event: LiveEvent): void;
  /** Whether a topic has a current listener, or a recent one that may ask for missed events. Otherwise an event need not be created. */
  isHeard(topic: TopicName): Promise<boolean>;
  /** Sends the events after the event or cursor `after`, then all later ones, until the returned function is called. */
  listen(topic: TopicName, after: string | undefined, listener: Listener): () => void;
  close(): void;
}

/** Maximum number of stored events of one topic, and the time without listeners after which they are deleted, in ms. */
export const KEPT_MAXIMUM = 200;
export const FORGOTTEN_AFTER_MS = 5 * 60_000;

/**
 * The position from which a listener resumes after `after`: `ids` are the stored events, oldest first; the first is only a marker of the start. `from` is the index of the
 * first one to send.
 */
export function resumeAt(ids: readonly string[], after: string | undefined): { cursor: string; missed: boolean; from: number } {
  const place = after === undefined ? ids.length - 1 : ids.indexOf(after);
  const missed = place === -1;
  const at = missed ? ids.length - 1 : place;
  return { cursor: ids[at] ?? '', missed, from: at + 1 };
}
