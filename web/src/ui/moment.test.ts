import { describe, expect, it } from 'vitest';
import { describeAge, describeMoment, describeSince } from './moment.tsx';

const now = new Date(2026, 10, 20, 10, 24, 7).getTime();
const at = (...parts: [number, number, number, number, number]) => new Date(...parts).toISOString();

describe('a moment', () => {
  it.each([
    [at(2026, 10, 20, 10, 12), /^today, 10:12/u],
    [at(2026, 10, 19, 23, 59), /^yesterday, /u],
    [at(2026, 10, 3, 9, 0), /Nov.*, 9:00|3 Nov.*, 09:00/u],
    [at(2025, 11, 31, 9, 0), /2025/u],
  ])('%s reads %s', (iso, text) => {
    expect(describeMoment(iso, now)).toMatch(text);
  });
});

describe('an age', () => {
  it.each([
    [20_000, 'just now'],
    [-60_000, 'just now'],
    [60_000, '1 minute ago'],
    [12 * 60_000, '12 minutes ago'],
    [3 * 3_600_000, '3 hours ago'],
    [26 * 3_600_000, 'yesterday'],
  ])('of %i ms reads %s', (age, text) => {
    expect(describeAge(new Date(now - age).toISOString(), now)).toBe(text);
  });

  it.each([
    [40, 'less than a minute'],
    [-10, 'less than a minute'],
    [12 * 60 + 59, '12 minutes'],
    [3_600, '1 hour'],
    [50 * 3_600, '2 days'],
  ])('of %i seconds is a wait of %s', (seconds, text) => {
    expect(describeSince(new Date(now - seconds * 1_000).toISOString(), now)).toBe(text);
  });
});
