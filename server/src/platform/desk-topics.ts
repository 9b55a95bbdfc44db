import type { UserInfo } from '@palisade/contract/auth';
import { EVENTS_CLOSED, type HeardTopic, OPEN_CONVERSATIONS_MAXIMUM, type ServerFrame } from '@palisade/contract/events';
import type { Connection } from './channels/channel-service.ts';
import type { Refusal } from './channels/frames.ts';
import { newId } from './id.ts';
import type { DeskFrame, PageSeat } from './page-seats.ts';
import { conversationTopic, type Published, STAFF_TOPIC, type TopicName, type Topics } from './topics/topics.ts';

/** The support desk's part of the events channel: frames that staff pages may receive and send besides those of their own person. */
export interface DeskTopics {
  mayHearStaff(me: UserInfo): boolean;
  /** Finds a conversation that this person may serve. */
  find(me: UserInfo, conversation_id: string): Promise<{ id: string; user_id: string } | undefined>;
  /** Registers an open staff page at `place`, until the returned function is called. */
  arrive(me: UserInfo, place: string): () => void;
  /** Registers that the page shows a conversation, until the returned function is called. */
  open(me: UserInfo, conversation: { id: string; user_id: string }, place: string): () => void;
  /** Reports that a person types; null means in their own conversation. */
  typing(me: UserInfo, conversation_id: string | null): Promise<void>;
}

/** One page's part of the desk's events. */
export type DeskSeat = PageSeat<DeskFrame>;

/** Frames of desk events, serialized once for many pages. */
const frames = new WeakMap<Published, Buffer>();
function frameOf(published: Published, topic: HeardTopic): Buffer {
  let text = frames.get(published);
  if (text === undefined) {
    const { id, event } = published;
    text = Buffer.from(JSON.stringify({ kind: 'event', id, event, topic } satisfies ServerFrame));
    frames.set(published, text);
  }
  return text;
}

/** Minimum interval between reports of typing by one page, in ms; more frequent ones are ignored. */
const TYPING_LEAST_MS = 1_000;

export const LOST: Refusal = { code: EVENTS_CLOSED.again, reason: 'Some events may be missing.' };

export function createDeskSeat(parts: {
  user: UserInfo;
  topics: Pick<Topics, 'listen'>;
  desk: DeskTopics;
  connection: Pick<Connection<unknown, ServerFrame>, 'tell' | 'tellText' | 'end'>;
  onFailure: (error: unknown) => void;
}): DeskSeat {
  const { user, topics, desk, connection, onFailure } = parts;
  const place = newId();
  /** By topic: functions that end the subscription. One whose lookup is still running has none yet. */
  const heard = new Map<TopicName, { ends: (() => void)[] }>();
  let hasLeft = false;
  let typed_at = Number.NEGATIVE_INFINITY;

  function listen(name: TopicName, topic: HeardTopic, after: string | undefined): () => void {
    return topics.listen(name, after, {
      onStart: (start) => connection.tell({ kind: 'listening', topic, ...start }),
      onEvent: (published) => connection.tellText(frameOf(published, topic)),
      onLost: () => connection.end(LOST),
    });
  }

  function stop(name: TopicName): void {
    for (const end of heard.get(name)?.ends ?? []) end();
    heard.delete(name);
  }

  function listenToStaff(after: string | undefined): void {
    if (!desk.mayHearStaff(user)) {
      connection.tell({ kind: 'refused', topic: 'staff' });
      return;
    }
    stop(STAFF_TOPIC);
    heard.set(STAFF_TOPIC, { ends: [listen(STAFF_TOPIC, 'staff', after), desk.arrive(user, place)] });
  }

  async function listenToConversation(conversation_id: string, after: string | undefined): Promise<void> {
    const name = conversationTopic(conversation_id);
    const topic = { conversation_id };
    stop(name);
    const open = [...heard.keys()].filter((one) => one !== STAFF_TOPIC).length;
    if (open >= OPEN_CONVERSATIONS_MAXIMUM) {
      connection.tell({ kind: 'refused', topic });
      return;
    }
    const seat: { ends: (() => void)[] } = { ends: [] };
    heard.set(name, seat);
    const conversation = await desk.find(user, conversation_id);
    // The page may have left the topic, or subscribed again, in the meantime.
    if (hasLeft || heard.get(name) !== seat) return;
    if (conversation === undefined) {
      heard.delete(name);
      connection.tell({ kind: 'refused', topic });
      return;
    }
    seat.ends = [listen(name, topic, after), desk.open(user, conversation, place)];
  }

  return {
    onFrame(frame) {
      switch (frame.kind) {
        case 'listen':
          listenToStaff(frame.after);
          return;
        case 'listen_conversation':
          listenToConversation(frame.conversation_id, frame.after).catch((error: unknown) => {
            onFailure(error);
            connection.end(LOST);
          });
          return;
        case 'leave_conversation':
          stop(conversationTopic(frame.conversation_id));
          return;
        case 'typing':
          if (performance.now() - typed_at < TYPING_LEAST_MS) return;
          typed_at = performance.now();
          desk.typing(user, frame.conversation_id).catch(onFailure);
          return;
      }
    },
    isOfStaff: () => heard.size > 0,
    leave() {
      hasLeft = true;
      for (const name of [...heard.keys()]) stop(name);
    },
  };
}
