import { expect, it } from 'vitest';
import { parseTemplate } from './drafts.ts';
import { readPrice } from './typed-price.ts';

const draft = {
  template_name: 'Solo',
  base_price: '',
  duration_months: '12',
  max_devices: '1',
  max_web_devices: '10',
  max_profiles: '5',
  is_premium: false,
  features: [],
  feature: '',
};

it.each([
  ['9,99', 9.99],
  ['1.249,50', 1249.5],
  ['1,249.5', 1249.5],
])('sends %s as %d', (base_price, price) => {
  expect(parseTemplate({ ...draft, base_price })).toMatchObject({ ok: true, body: { base_price: price } });
});

it('asks what was meant, at the field', () => {
  const sentence = 'Enter a clear price: 1234.00 or 1.23.';
  expect(readPrice('1.234')).toEqual({ kind: 'unclear', sentence });
  expect(parseTemplate({ ...draft, base_price: '1,234' })).toMatchObject({
    ok: false,
    sentence,
    fields: { base_price: sentence },
  });
  const refused = parseTemplate(draft);
  expect(refused.ok ? '' : refused.fields['base_price']).toMatch(/^Enter a price from 0/u);
});
