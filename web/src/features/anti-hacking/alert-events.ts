import type { AlertDetail } from '@palisade/contract/alerts';

type EvidenceEvent = AlertDetail['evidence']['events'][number];

/** Sample events that tell the same, as one row: the first time, the last time, and how many they are. */
export interface EventGroup extends EvidenceEvent {
  until: string;
  count: number;
}

/** Joins events with the same words and source, in the order of their first one. */
export function groupEvents(events: readonly EvidenceEvent[]): EventGroup[] {
  const groups = new Map<string, EventGroup>();
  for (const event of events) {
    const key = JSON.stringify([event.what, event.source]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { ...event, until: event.at, count: 1 });
    else {
      known.count += 1;
      if (event.at < known.at) known.at = event.at;
      if (event.at > known.until) known.until = event.at;
    }
  }
  return [...groups.values()];
}
