import { expect, test } from 'vitest';
import { ALERT_PHRASES, alertEnglish, alertPhrase, asWritten, knownAlertPhrase } from './alert-phrases.ts';
import { englishOf, type Template } from './phrase.ts';
import { PHRASES } from './phrases.ts';

const CATALOGS: Readonly<Record<string, Readonly<Record<string, Template>>>> = PHRASES;
const TEMPLATES = Object.entries(CATALOGS).flatMap(([catalog, templates]) =>
  Object.entries(templates).map(([code, template]) => ({ catalog, code, template })),
);

const formsOf = ({ english }: Template) => (typeof english === 'string' ? [english] : [english.one, english.other]);
const placeholdersOf = (text: string) => [...text.matchAll(/\{(.*?)\}/gu)].map(([, name]) => name ?? '');

/** Each combination of choices, with plain values for the other parameters. */
function valuesOf({ params }: Template): Record<string, string | number>[] {
  let all: Record<string, string | number>[] = [{}];
  for (const [name, parameter] of Object.entries(params)) {
    const values = typeof parameter === 'object' ? Object.keys(parameter) : parameter === 'text' ? ['“x” & $1'] : [1, 2, 7_200];
    all = all.flatMap((some) => values.map((value) => ({ ...some, [name]: value })));
  }
  return all;
}

test.each(TEMPLATES)('$catalog: $code names the parameters that it uses, and says each of their values', ({ code, template }) => {
  expect(code).toMatch(/^[a-z_\d]+(\.[a-z_\d]+)*$/u);
  const used = new Set(formsOf(template).flatMap(placeholdersOf));
  if (typeof template.english !== 'string') used.add(template.english.count);
  expect([...used].sort()).toEqual(Object.keys(template.params).sort());
  for (const values of valuesOf(template)) {
    const english = englishOf(template, values);
    expect(english).not.toMatch(/[{}]|undefined|null|NaN|^\s|\s$| {2}/u);
    expect(english).not.toBe('');
  }
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
