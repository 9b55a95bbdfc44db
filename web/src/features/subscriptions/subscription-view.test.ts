import { describe, expect, it } from 'vitest';
import { subscriptionOf } from '#api/fake-records.ts';
import { EVERYTHING, type SortKey, viewOf } from './subscription-view.ts';

const ANNA = subscriptionOf({
  user_email: 'anna@example.com',
  user_username: 'Anna',
  plan_name: 'Solo 2',
  price: 9,
  is_premium: false,
});
const BEN = subscriptionOf({
  user_email: 'ben@example.com',
  user_username: 'ben',
  plan_name: 'Solo 10',
  price: 100,
  duration_months: 1,
  status: 'expired',
  expires_at: '2026-12-01T00:00:00.000Z',
});
const CARA = subscriptionOf({
  user_email: 'cara@example.com',
  user_username: 'STRASSE',
  plan_name: 'Family',
  price: 19.99,
  duration_months: 24,
  status: 'cancelled',
  expires_at: null,
});
const ALL = [CARA, BEN, ANNA];
const NOW = Date.parse('2026-11-20T10:00:00Z');

describe('searching', () => {
  it.each([
    ['', [CARA, BEN, ANNA]],
    ['  ', [CARA, BEN, ANNA]],
    ['ANNA', [ANNA]],
    ['solo', [BEN, ANNA]],
    ['solo ben', [BEN]],
    ['ben solo', [BEN]],
    ['strasse', [CARA]],
    ['nobody', []],
    ['.*', []],
  ])('for %j finds by email, username and plan', (search, found) => {
    expect(viewOf(ALL, { ...EVERYTHING, search }, NOW)).toEqual(found);
  });

  it('keeps to active plans that end within 30 days', () => {
    const [soon, later] = ['2026-12-20T10:00:00.000Z', '2026-12-20T10:00:00.001Z'].map((expires_at) => ({ ...ANNA, expires_at }));
    expect(viewOf([soon ?? ANNA, later ?? ANNA, BEN, CARA], { ...EVERYTHING, status: 'ending' }, NOW)).toEqual([soon]);
  });

  it('keeps to a status', () => {
    expect(viewOf(ALL, { ...EVERYTHING, status: 'expired' }, NOW)).toEqual([BEN]);
    expect(viewOf(ALL, { ...EVERYTHING, status: 'replaced' }, NOW)).toEqual([]);
    expect(viewOf(ALL, { ...EVERYTHING, status: 'active', search: 'ben' }, NOW)).toEqual([]);
  });
});

describe('sorting', () => {
  it.each<[SortKey, typeof ALL]>([
    ['user', [ANNA, BEN, CARA]],
    ['plan', [CARA, ANNA, BEN]],
    ['price', [ANNA, CARA, BEN]],
    ['duration', [BEN, ANNA, CARA]],
    ['type', [ANNA, CARA, BEN]],
    ['status', [ANNA, CARA, BEN]],
    ['expires', [BEN, ANNA, CARA]],
  ])('by %s, and the other way round', (key, sorted) => {
    expect(viewOf(ALL, { ...EVERYTHING, sort: { key, descending: false } }, NOW)).toEqual(sorted);
    const down = viewOf(ALL, { ...EVERYTHING, sort: { key, descending: true } }, NOW);
    if (key !== 'type') expect(down).toEqual(sorted.toReversed());
    expect(ALL).toEqual([CARA, BEN, ANNA]);
  });
});
