import { expect, test } from 'vitest';
import { ALERT_PHRASES, alertEnglish, alertPhrase, asWritten, knownAlertPhrase } from './alert-phrases.ts';
import { englishOf, type Template } from './phrase.ts';
import { PHRASES } from './phrases.ts';
import { templateFaults } from './template-faults.ts';

const CATALOGS: Readonly<Record<string, Readonly<Record<string, Template>>>> = PHRASES;
const TEMPLATES = Object.entries(CATALOGS).flatMap(([catalog, templates]) =>
  Object.entries(templates).map(([code, template]) => ({ catalog, code, template })),
);

test.each(TEMPLATES)('$catalog: $code names the parameters that it uses, and says each of their values', ({ code, template }) => {
  expect(templateFaults(code, template)).toEqual([]);
});

test('a template with a forgotten or an unknown parameter has a fault', () => {
  expect(templateFaults('a', { english: 'One {b}.', params: {} })).toHaveLength(2);
  expect(templateFaults('a', { english: 'One.', params: { b: 'text' } })).toEqual(['a uses  and names b.']);
  expect(templateFaults('A b', { english: 'One.', params: {} })).toEqual(['A b has the form of no code.']);
});

test('values have the form of their kind', () => {
  const template = {
    english: '{plain} {grouped} {wait} {bytes} {names}',
    params: { plain: 'number', grouped: 'grouped', wait: 'wait', bytes: 'bytes', names: 'names' },
  } as const;
  const values = { plain: 1_200, grouped: 1_200, wait: 1_200, bytes: 25 * 1024 ** 2, names: 'Laptop\nTower' };
  expect(englishOf(template, values)).toBe('1200 1,200 20 minutes 25 MB "Laptop" and "Tower"');
});

test('a code that names an address says the same as the one without', () => {
  const withAddress = Object.keys(ALERT_PHRASES).filter((code) => code.endsWith('.from'));
  expect(withAddress.length).toBeGreaterThan(9);
  for (const code of withAddress) expect(Object.keys(ALERT_PHRASES)).toContain(code.slice(0, -'.from'.length));
});

test('values are text, and never templates', () => {
  const phrase = alertPhrase('false_alarm', { threat: '{filename} $&', filename: '{threat}' });
  expect(alertEnglish(phrase)).toBe('A newer check found no {filename} $& in {threat}. You can restore the file.');
});

test('the plural follows the count', () => {
  const said = (count: number) => alertEnglish(alertPhrase('event.device.failed_sign_ins', { count }));
  expect([0, 1, 2, 1_000].map(said)).toEqual([
    'Failed to sign in 0 times',
    'Failed to sign in once',
    'Failed to sign in 2 times',
    'Failed to sign in 1000 times',
  ]);
});

test('a kept phrase of another version is told from a known one', () => {
  expect(knownAlertPhrase(asWritten('Hello.'))).toEqual({ code: 'as_written', params: { sentence: 'Hello.' } });
  for (const code of ['of_a_newer_version', 'toString', '__proto__'])
    expect(knownAlertPhrase({ code, params: {} })).toBeUndefined();
});
