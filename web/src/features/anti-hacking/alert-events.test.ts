import { describe, expect, it } from 'vitest';
import { groupEvents } from './alert-events.ts';

const at = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`;
const event = (minute: number, what: string, source: string | null = '192.0.2.1') => ({
  at: at(minute),
  what,
  source,
  phrase: null,
});

describe('sample events', () => {
  it('with the same words and source are one row with its count, first, and last time', () => {
    expect(groupEvents([event(3, 'A wrong password.'), event(1, 'A wrong password.'), event(5, 'A wrong password.')])).toEqual([
      { at: at(1), until: at(5), count: 3, what: 'A wrong password.', source: '192.0.2.1', phrase: null },
    ]);
  });

  it('that differ in words or source stay apart', () => {
    const events = [event(1, 'One.'), event(1, 'Other.'), event(1, 'One.', '192.0.2.2'), event(1, 'One.', null)];
    expect(groupEvents(events).map(({ count }) => count)).toEqual([1, 1, 1, 1]);
  });
});
