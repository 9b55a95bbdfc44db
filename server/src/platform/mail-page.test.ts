import { readFileSync } from 'node:fs';
import { SURFACES } from '@palisade/contract/accent';
import { expect, test } from 'vitest';
import { mailPage } from './mail-page.ts';

const LOGO = { path: '/api/logo/0123.png', width: 120, height: 60, on: 'any' } as const;
const LETTER = {
  text: 'Hello <b>Maria</b>,\n\nSee https://shield.example.com/help, or ask.\n\nhttps://shield.example.com/?a=1&b=2\n\n-- \nHarbour & Co\nSupport: +1 800\n',
  provider_name: 'Harbour & Co',
  public_url: 'https://shield.example.com',
};

test('a letter in the look of the product is text alone', () => {
  expect(mailPage({ ...LETTER, brand: { accent: null, logo: null } })).toBeUndefined();
});

test('a letter has the logo with the provider’s name, a button, and its text escaped', () => {
  const page = mailPage({ ...LETTER, brand: { accent: '#ffcc00', logo: LOGO } }) ?? '';
  expect(page).toContain('<img src="https://shield.example.com/api/logo/0123.png" width="60" height="30" alt="Harbour &amp; Co"');
  expect(page).toContain('Hello &lt;b&gt;Maria&lt;/b&gt;,');
  expect(page).toMatch(
    /See <a href="https:\/\/shield\.example\.com\/help" [^>]*>https:\/\/shield\.example\.com\/help<\/a>, or ask/u,
  );
  expect(page).toMatch(/<a href="https:\/\/shield\.example\.com\/\?a=1&amp;b=2" [^>]*>Open the page<\/a>/u);
  expect(page).toContain('Harbour &amp; Co<br>Support: +1 800');
  // The shade of the light scheme, on which white can be read.
  expect(page).not.toContain('#ffcc00');
});

test('without a public address the name stands for the logo', () => {
  const page = mailPage({ ...LETTER, public_url: undefined, brand: { accent: null, logo: LOGO } });
  expect(page).not.toContain('<img');
  expect(page).toContain('>Harbour &amp; Co</p>');
});

test('an accent is checked on the surfaces that pages have', () => {
  const css = readFileSync(new URL('../../../web/src/app/tokens.css', import.meta.url), 'utf8');
  for (const [scheme, colors] of Object.entries(SURFACES)) {
    const block = css.slice(css.indexOf(`[data-mantine-color-scheme="${scheme}"] {`));
    const surfaces = ['page', 'surface', 'raised', 'sunken'].map(
      (name) => new RegExp(`--${name}: (#\\w+);`, 'u').exec(block)?.[1],
    );
    expect(new Set(surfaces)).toEqual(new Set(colors));
  }
});
