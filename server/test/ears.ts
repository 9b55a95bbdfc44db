import type { LiveEvent } from '@palisade/contract/events';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect } from 'vitest';
import { newId } from '#platform/id.ts';
import type { TopicName, Topics } from '#platform/topics/topics.ts';

export const removed = (scan_id = newId()): LiveEvent => ({ kind: 'scan_removed', scan_id });

/** A listener, and what it has heard. */
export interface Ear {
  starts: { cursor: string; missed: boolean }[];
  ids: (string | null)[];
  events: LiveEvent[];
  lost: number;
  stop: () => void;
}

/** A listener, once it has begun. */
export async function listen(topics: Topics, topic: TopicName, after?: string): Promise<Ear> {
  const ear: Ear = { starts: [], ids: [], events: [], lost: 0, stop: () => {} };
  ear.stop = topics.listen(topic, after, {
    onStart: (start) => void ear.starts.push(start),
    onEvent({ id, event }) {
      ear.ids.push(id);
      ear.events.push(event);
    },
    onLost: () => {
      ear.lost += 1;
    },
  });
  await eventually(() => expect(ear.starts).toHaveLength(1));
  return ear;
}

export const heard = (ear: Ear, count: number) => eventually(() => expect(ear.events.length).toBeGreaterThanOrEqual(count));
