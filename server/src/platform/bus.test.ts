import type { LiveEvent } from '@palisade/contract/events';
import { expect, test } from 'vitest';
import { type Bus, createBus } from './bus.ts';
import { newId } from './id.ts';

const event = (): LiveEvent => ({ kind: 'scan_removed', scan_id: newId() });

function listen(bus: Bus, after?: string) {
  const heard: string[] = [];
  const starts: { cursor: string; missed: boolean }[] = [];
  const stop = bus.listen('maria', after, {
    onStart: (start) => void starts.push(start),
    onEvent: ({ id }) => void heard.push(id ?? 'of the moment'),
  });
  return { heard, start: starts[0] ?? { cursor: '', missed: true }, stop };
}

test('keeps so many events and no more, and says what it cannot tell any more', () => {
  const bus = createBus({ kept: 3 });
  const first = listen(bus);
  for (let count = 0; count < 5; count += 1) bus.publish('maria', event());
  const ids = first.heard;
  expect(ids).toHaveLength(5);
  expect(listen(bus, ids[1])).toMatchObject({ start: { missed: false }, heard: ids.slice(2) });
  expect(listen(bus, ids[4])).toMatchObject({ start: { missed: false, cursor: ids[4] }, heard: [] });
  expect(listen(bus, ids[0])).toMatchObject({ start: { missed: true, cursor: ids[4] }, heard: [] });
  expect(listen(bus, first.start.cursor)).toMatchObject({ start: { missed: true } });
});

test('does not tell an event of the moment again', () => {
  const bus = createBus();
  const first = listen(bus);
  bus.publish('maria', {
    kind: 'scan_progress',
    scan_id: newId(),
    upload_key: null,
    progress: { stage: 'queued', place: 1 },
  });
  bus.publish('maria', event());
  expect(first.heard).toHaveLength(2);
  expect(listen(bus, first.start.cursor).heard).toEqual(first.heard.slice(1));
});

test('tells nothing to who has stopped listening, but keeps it for when they are back', () => {
  const bus = createBus();
  const { heard, start, stop } = listen(bus);
  stop();
  bus.publish('maria', event());
  bus.publish('somebody else', event());
  expect(heard).toEqual([]);
  expect(listen(bus, start.cursor).heard).toHaveLength(1);
});
