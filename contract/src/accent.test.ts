import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accentRules, CONTRAST_LEAST, colorOf, contrast, SURFACES, shadesOf } from './accent.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const scheme = fc.constantFrom('dark' as const, 'light' as const);

test.each([
  ['#ABC', '#aabbcc'],
  [' 0b7a6b ', '#0b7a6b'],
  ['red', undefined],
  ['#12345', undefined],
  ['#00000080', undefined],
  ['', undefined],
])('reads %j as %s', (text, read) => {
  expect(colorOf(text)).toBe(read);
});

test('computes contrast as WCAG does', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

test('every color gets shades that can be read on every background, as text and below text', () => {
  fc.assert(
    fc.property(color, scheme, (text, of) => {
      const { accent, ink, soft } = shadesOf(text, of);
      for (const other of [ink, soft, ...SURFACES[of]]) expect(contrast(accent, other)).toBeGreaterThanOrEqual(CONTRAST_LEAST);
    }),
    { seed: 49, numRuns: 3_000 },
  );
});

test('a color that passes stays as it is, and one that does not keeps its hue', () => {
  expect(shadesOf('#0b7a6b', 'light').accent).toBe('#0b7a6b');
  expect(shadesOf('#2fd0b6', 'dark').accent).toBe('#2fd0b6');
  const { accent } = shadesOf('#ffcc00', 'light');
  const [red = 0, green = 0, blue = 0] = (accent.match(/[\da-f]{2}/gu) ?? []).map((part) => Number.parseInt(part, 16));
  expect(blue).toBeLessThan(3);
  expect(green / red).toBeCloseTo(0.8, 1);
});

test('the rules hold colors alone', () => {
  fc.assert(
    fc.property(color, (text) => {
      expect(accentRules(text)).toMatch(
        /^(:root\[data-mantine-color-scheme="(dark|light)"\]\{(--[a-z-]+:#[\da-f]{6};?)+\}){2}$/u,
      );
    }),
    { seed: 49 },
  );
});
