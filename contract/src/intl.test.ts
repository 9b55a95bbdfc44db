import { describe, expect, it } from 'vitest';
import {
  capitalize,
  compareNames,
  describeBytes,
  describeSize,
  describeSpan,
  describeWait,
  formatDate,
  formatDecimals,
  formatDollars,
  formatList,
  formatNumber,
  formatPercent,
  formatPrice,
  formatProgress,
  formatRelative,
  formatSpan,
  graphemes,
  listFirst,
  ordinal,
  plural,
} from './intl.ts';

it.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
  [1_234, '1,234 files'],
])('the plural form of %i is in %s', (count, text) => {
  expect(plural(count, { one: '1 file', other: `${formatNumber(count)} files` })).toBe(text);
});

it.each([
  [1, '1st'],
  [2, '2nd'],
  [3, '3rd'],
  [4, '4th'],
  [11, '11th'],
  [22, '22nd'],
  [113, '113th'],
])('the place %i is the %s', (place, text) => {
  expect(ordinal(place, { one: `${place}st`, two: `${place}nd`, few: `${place}rd`, other: `${place}th` })).toBe(text);
});

describe('a size', () => {
  it.each([
    [0, '0 B'],
    [68, '68 B'],
    [1023, '1023 B'],
    [1024, '1 KB'],
    [1536, '1.5 KB'],
    [1_288_490_188, '1.2 GB'],
    [2 * 1024 ** 3, '2 GB'],
    [1024 ** 3 - 1, '1 GB'],
  ])('of %i bytes is %s', (bytes, text) => {
    expect(describeBytes(bytes)).toBe(text);
  });
});

it('a size in a sentence has whole or half units', () => {
  expect([500, 3 * 1024 ** 2, 1536 * 1024 ** 2, 2 * 1024 ** 3].map(describeSize)).toEqual([
    '500 bytes',
    '3 MB',
    '1.5 GB',
    '2 GB',
  ]);
});

it.each([
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [61, '2 minutes'],
  [7_199, '120 minutes'],
  [7_200, '2 hours'],
  [7_201, '3 hours'],
  [172_800, '2 days'],
  [172_801, '3 days'],
])('a wait of %i seconds is never told shorter: %s', (seconds, text) => {
  expect(describeWait(seconds)).toBe(text);
});

it('writes shares in whole percent, and progress rounded down', () => {
  for (let percent = 0; percent <= 100; percent += 1) expect(formatPercent(percent / 100)).toBe(`${percent}%`);
  expect(formatPercent(0.996)).toBe('100%');
  expect(formatProgress(0.996)).toBe('99%');
  expect(formatProgress(1)).toBe('100%');
});

it('writes decimals and prices', () => {
  expect([formatDecimals(4.25, 1), formatDecimals(1999.9, 2)]).toEqual(['4.3', '1999.90']);
  expect([formatPrice(19.99, 'USD'), formatPrice(5, 'EUR'), formatPrice(1, 'USD')]).toEqual([
    '$19.99 USD',
    '€5.00 EUR',
    '$1.00 USD',
  ]);
  expect([formatDollars(9.99), formatDollars(1)]).toEqual(['9.99 US dollars', '1.00 US dollars']);
});

it('writes lists with a serial comma, with "or", and without a word before the last', () => {
  expect([formatList([]), formatList(['A']), formatList(['A', 'B']), formatList(['A', 'B', 'C'])]).toEqual([
    '',
    'A',
    'A and B',
    'A, B, and C',
  ]);
  expect(formatList(['A', 'B', 'C'], 'or')).toBe('A, B, or C');
  expect([formatList(['A', 'B'], 'plain'), formatList(['A', 'B', 'C'], 'plain')]).toEqual(['A, B', 'A, B, C']);
});

it('names the first of many, and never "1 more"', () => {
  expect(listFirst(['A', 'B', 'C', 'D'])).toBe('A, B, C, and D');
  expect(listFirst(['A', 'B', 'C', 'D', 'E'])).toBe('A, B, C, and 2 more');
  expect(listFirst(['A', 'B', 'C'], 1)).toBe('A and 2 more');
});

describe('a span', () => {
  it.each([
    [0, '1 second'],
    [1.4, '1 second'],
    [40, '40 seconds'],
    [89, '89 seconds'],
    [90, '2 minutes'],
    [3_600, '60 minutes'],
    [2 * 3_600, '2 hours'],
    [72 * 3_600, '3 days'],
  ])('of %d s is %s', (seconds, text) => {
    expect(describeSpan(seconds)).toBe(text);
  });

  it('has its unit in the right number', () => {
    expect([formatSpan(1, 'month'), formatSpan(12, 'month')]).toEqual(['1 month', '12 months']);
    expect([formatRelative(-1, 'day'), formatRelative(-12, 'minute')]).toEqual(['yesterday', '12 minutes ago']);
  });
});

it('writes a moment by the clocks of a place, in the form of the reader’s English', () => {
  const at = Date.parse('2026-11-20T23:40:07Z');
  expect(formatDate('time', at, { time_zone: 'UTC' })).toBe('23:40');
  expect(formatDate('long', at, { time_zone: 'Europe/Vienna' })).toBe('21 November 2026');
  expect(formatDate('long', at, { time_zone: 'UTC', locale: 'en-US' })).toBe('November 20, 2026');
  expect(formatDate('weekday', at, { time_zone: 'UTC' })).toBe('Fri 20 Nov');
});

it('reads characters as a person does', () => {
  expect([...graphemes('a👩‍👩‍👧e\u0301')]).toEqual(['a', '👩‍👩‍👧', 'e\u0301']);
  expect(capitalize('this computer')).toBe('This computer');
  expect(['Plan 10', 'plan 2'].toSorted(compareNames)).toEqual(['plan 2', 'Plan 10']);
});
