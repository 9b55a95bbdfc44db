import { expect, it } from 'vitest';
import { chatStateOf } from '#api/fake-desk.ts';
import { describeAvailability, waitingSince } from './availability.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const HERE = { is_here: true, is_open: true, opens_at: null };
const AWAY = { is_here: false, is_open: true, opens_at: null };
const CLOSED = { is_here: false, is_open: false, opens_at: '2026-11-23T09:00:00.000Z' };

it.each([
  ['here', { staff: HERE }, /^Support is here\.$/u],
  ['here', { staff: HERE, response_s: 240 }, /^Support is here\. First answers took 4 minutes in the last 7 days\.$/u],
  ['here', { staff: HERE, agent: 'tina' }, /^tina answers you\.$/u],
  ['away', { staff: AWAY }, /^We’re away\. We’ll answer within a day\.$/u],
  ['away', { staff: AWAY, response_s: 240, agent: 'tina' }, /^We’re away\. We’ll answer within a day\.$/u],
  ['away', { staff: CLOSED }, /^Support is back on Monday.* Leave a message; we’ll email you when we answer\.$/u],
])('is %s: %j', (tone, state, sentence) => {
  const found = describeAvailability(chatStateOf(state), NOW, true);
  expect(found.tone).toBe(tone);
  expect(found.sentence).toMatch(sentence);
});

it('knows since when a question waits for a person', () => {
  const at = (timestamp: string, sender: 'user' | 'support', is_automatic = false) => ({ timestamp, sender, is_automatic });
  const open = { status: 'open' } as const;
  const asked = [at('09:00', 'user'), at('09:01', 'support', true), at('09:02', 'user')];
  expect(waitingSince(asked, open)).toBe('09:00');
  expect(waitingSince([...asked, at('09:05', 'support')], open)).toBeUndefined();
  expect(waitingSince([...asked, at('09:05', 'support'), at('09:06', 'user')], open)).toBe('09:06');
  expect(waitingSince(asked, { status: 'closed' })).toBeUndefined();
});

it('says of an unconnected page only that, even while support is here', () => {
  const { tone, sentence } = describeAvailability(chatStateOf({ staff: HERE }), NOW, false);
  expect(tone).toBe('offline');
  expect(sentence).toMatch(/^You’re offline\./u);
});
