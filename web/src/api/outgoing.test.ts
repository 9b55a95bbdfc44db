import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { CallError } from './call.ts';
import { reportConnection } from './connection.ts';
import { createOutgoing, isFirstTry, type OutgoingQueue } from './outgoing.ts';

/** Advances the clock of the tests where there is one. */
const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000 });

const refused = new CallError('problem', 403, { type: 'x', title: 'x', status: 403, detail: 'Not you.', code: 'forbidden' });
const lost = () => new CallError('network', 0);

let queue: OutgoingQueue<string>;
/** Arguments of `send`, and the outcome that the test chooses. */
let sends: { body: string; id: string; end: (outcome: Error | undefined) => void }[];
let arrived: string[];

function create(): OutgoingQueue<string> {
  return createOutgoing({
    name: 'maria',
    schema: z.string(),
    send: (body, id) =>
      new Promise<string>((resolve, reject) => {
        sends.push({ body, id, end: (outcome) => (outcome ? reject(outcome) : resolve(body)) });
      }),
    onSent: (body) => {
      arrived.push(body);
    },
  });
}

const states = () => queue.read().map(({ body, state }) => `${body} ${state}`);

async function end(index: number, outcome?: Error): Promise<void> {
  await soon(() => expect(sends.length).toBeGreaterThan(index));
  sends[index]?.end(outcome);
  await soon(() => expect(queue.read().find(({ id }) => id === sends[index]?.id)?.state).not.toBe('sending'));
}

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  sends = [];
  arrived = [];
  queue = create();
});

afterEach(() => {
  queue.stop();
  reportConnection('online');
});

describe('waiting messages', () => {
  it('goes one after the other, in the order in which it was written', async () => {
    queue.add('first');
    queue.add('second');
    await soon(() => expect(states()).toEqual(['first sending', 'second waiting']));
    expect(sends).toHaveLength(1);
    await end(0);
    await end(1);
    expect(arrived).toEqual(['first', 'second']);
    expect(queue.read()).toEqual([]);
    expect(Object.keys(localStorage)).toEqual([]);
  });

  it('waits for the connection with all after it, and goes as soon as that is back, under the same id', async () => {
    queue.add('first');
    queue.add('second');
    reportConnection('offline');
    await end(0, lost());
    expect(states()).toEqual(['first waiting', 'second waiting']);
    expect(queue.read()[0]?.sentence).toMatch(/Network error/u);
    reportConnection('online');
    // A repeated message delays no new one.
    await soon(() => expect(states()).toEqual(['first sending', 'second waiting']));
    expect(isFirstTry(queue.read())).toBe(false);
    await end(1);
    await end(2);
    expect(sends.map(({ body }) => body)).toEqual(['first', 'first', 'second']);
    expect(sends[1]?.id).toBe(sends[0]?.id);
  });

  it('is tried again after a while where the connection says nothing', async () => {
    vi.useFakeTimers();
    queue.add('first');
    await end(0, lost());
    await vi.advanceTimersByTimeAsync(1_900);
    expect(sends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(sends).toHaveLength(2);
  });

  it('waits as long as a busy server asks for', async () => {
    vi.useFakeTimers();
    queue.add('first');
    const problem = { type: 'x', title: 'x', status: 429, detail: 'Wait.', code: 'too_many_requests' as const };
    await end(0, new CallError('problem', 429, problem, 7));
    await vi.advanceTimersByTimeAsync(6_900);
    expect(sends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(sends).toHaveLength(2);
  });

  it('stays where it was refused, says why, holds up nothing else, and goes when somebody tries again', async () => {
    queue.add('first');
    queue.add('second');
    await end(0, refused);
    await end(1);
    expect(arrived).toEqual(['second']);
    expect(queue.read()).toMatchObject([{ body: 'first', state: 'failed', sentence: 'Not you.' }]);
    queue.retry(sends[0]?.id ?? '');
    await end(2);
    expect(arrived).toEqual(['second', 'first']);
    expect(sends[2]?.id).toBe(sends[0]?.id);
  });

  it('can be taken back, unless it is on its way', async () => {
    queue.add('first');
    expect(queue.discard(queue.read()[0]?.id ?? '')).toBeUndefined();
    await end(0, refused);
    expect(queue.discard(sends[0]?.id ?? '')).toBe('first');
    expect(queue.read()).toEqual([]);
  });

  // proves: support-customer-27
  it('outlives a reload: what waited, what was on its way, and what was refused', async () => {
    queue.add('refused');
    await end(0, refused);
    queue.add('on its way');
    queue.add('waits');
    await soon(() => expect(sends).toHaveLength(2));
    queue.stop();
    queue = create();
    await soon(() => expect(states()).toEqual(['refused failed', 'on its way sending', 'waits waiting']));
    expect(sends[2]?.id).toBe(sends[1]?.id);
  });

  // proves: support-fault-4
  it('shows what another tab writes, and forgets what another tab has sent', async () => {
    queue.add('of this tab');
    await end(0, refused);
    const key = 'palisade.outgoing.maria.0b0e0000-0000-4000-8000-000000000001';
    const value = JSON.stringify({ body: 'of another', at: '2026-01-01T00:00:00.000Z', state: 'failed' });
    localStorage.setItem(key, value);
    window.dispatchEvent(new StorageEvent('storage', { key }));
    expect(states()).toEqual(['of another failed', 'of this tab failed']);
    localStorage.removeItem(key);
    window.dispatchEvent(new StorageEvent('storage', { key }));
    expect(states()).toEqual(['of this tab failed']);
  });

  it('passes over what nobody can read', () => {
    localStorage.setItem('palisade.outgoing.maria.x', '{"body":1}');
    localStorage.setItem('palisade.outgoing.maria.y', 'not json');
    queue.stop();
    queue = create();
    expect(queue.read()).toEqual([]);
  });
});
