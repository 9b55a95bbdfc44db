import { type LiveEvent, OF_THE_MOMENT } from '@palisade/contract/events';
import { newId } from '#platform/id.ts';
import { FORGOTTEN_AFTER_MS, KEPT_MAXIMUM, type Listener, PERSON, resumeAt, type TopicName, type Topics } from './topics.ts';

/** The events of one topic, kept while a listener exists or may come back. */
interface Log {
  /** The id before the first kept event: that of the last dropped event, or of the start. */
  before: string;
  kept: { id: string; event: LiveEvent }[];
  listeners: Set<Listener>;
  forget: NodeJS.Timeout | undefined;
}

interface MemoryTopicsOptions {
  kept?: number | undefined;
  /** Called with each event before its listeners, even if there are none. */
  before?: { told(topic: TopicName): void; toldAll(): void };
}

/** Topics in this process. */
export function createMemoryTopics(options: MemoryTopicsOptions = {}): Topics {
  const { before } = options;
  const kept_maximum = options.kept ?? KEPT_MAXIMUM;
  const logs = new Map<TopicName, Log>();

  function logOf(topic: TopicName): Log {
    let log = logs.get(topic);
    if (log === undefined) {
      log = { before: newId(), kept: [], listeners: new Set(), forget: undefined };
      logs.set(topic, log);
    }
    return log;
  }

  function tell(log: Log, event: LiveEvent): void {
    if (OF_THE_MOMENT.has(event.kind)) {
      const ofTheMoment = { id: null, event };
      for (const listener of log.listeners) listener.onEvent(ofTheMoment);
      return;
    }
    const published = { id: newId(), event };
    log.kept.push(published);
    if (log.kept.length > kept_maximum) log.before = log.kept.shift()?.id ?? log.before;
    for (const listener of log.listeners) listener.onEvent(published);
  }

  return {
    publish(topic, event) {
      before?.told(topic);
      const log = logs.get(topic);
      // Without recent listeners, nobody can have missed the event.
      if (log !== undefined) tell(log, event);
    },

    publishToAll(event) {
      before?.toldAll();
      for (const [topic, log] of logs) if (topic.startsWith(PERSON)) tell(log, event);
    },

    isHeard: (topic) => Promise.resolve(logs.has(topic)),

    listen(topic, after, listener) {
      const log = logOf(topic);
      clearTimeout(log.forget);
      const { from, ...start } = resumeAt([log.before, ...log.kept.map(({ id }) => id)], after);
      listener.onStart(start);
      for (const published of log.kept.slice(from - 1)) listener.onEvent(published);
      log.listeners.add(listener);
      return () => {
        log.listeners.delete(listener);
        if (log.listeners.size > 0) return;
        log.forget = setTimeout(() => logs.delete(topic), FORGOTTEN_AFTER_MS);
        log.forget.unref();
      };
    },

    close() {
      for (const { forget } of logs.values()) clearTimeout(forget);
      logs.clear();
    },
  };
}
