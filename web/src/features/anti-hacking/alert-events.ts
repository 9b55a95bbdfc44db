import type { AlertDetail } from '@palisade/contract/alerts';

type EvidenceEvent = AlertDetail['evidence']['events'][number];

/** Equal events as one row: first time, last time and count. */
export interface EventGroup extends EvidenceEvent {
  until: string;
  count: number;
}

/** Groups events with the same text and source, in the order of their first event. */
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
