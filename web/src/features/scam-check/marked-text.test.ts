import type { ScamReason } from '@palisade/contract/scam-check';
import { expect, it } from 'vitest';
import { markedPieces } from './marked-text.tsx';

const TEXT = 'Pay now at evil.example';
const at = (start: number, end: number, more: Partial<NonNullable<ScamReason['span']>> = {}) => ({
  span: { source: 'text' as const, index: 0, start, end, text: TEXT.slice(start, end), ...more },
});
const marked = (reasons: Parameters<typeof markedPieces>[1]) =>
  markedPieces(TEXT, reasons).flatMap(({ text, reasons: of }) => (of.length > 0 ? [`${text} ${of.join()}`] : []));

it('marks each place with its reason, and overlapping places with every reason', () => {
  expect(marked([at(11, 23), at(0, 3)])).toEqual(['Pay 1', 'evil.example 0']);
  expect(marked([at(0, 7), at(4, 10)])).toEqual(['Pay  0', 'now 0,1', ' at 1']);
  expect(markedPieces(TEXT, [at(0, 7), at(4, 10)]).map(({ ending }) => ending)).toEqual([[], [0], [1], []]);
});

it('keeps every letter of the text', () => {
  const pieces = markedPieces(TEXT, [at(0, 7), at(4, 10), at(4, 10)]);
  expect(pieces.map(({ text }) => text).join('')).toBe(TEXT);
});

it.each([
  ['of another source', at(0, 3, { source: 'picture' })],
  ['of another part of the source', at(0, 3, { index: 1 })],
  ['with other words', at(0, 3, { text: 'Win' })],
  ['without words', at(3, 3)],
  ['beyond the text', at(40, 44, { text: 'more' })],
  ['that is missing', { span: null }],
])('marks no place %s', (_, reason) => {
  expect(marked([reason])).toEqual([]);
});

it('marks the whole place of a reason that repeats only its beginning', () => {
  expect(marked([at(0, 10, { text: 'Pay' })])).toEqual(['Pay now at 0']);
});
