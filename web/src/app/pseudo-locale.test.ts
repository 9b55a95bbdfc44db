import { waitFor } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { changeWords, followSwitch, pseudo } from './pseudo-locale.ts';

afterEach(() => {
  document.body.replaceChildren();
  document.documentElement.removeAttribute('dir');
  window.history.replaceState(null, '', '/');
});

it('makes words longer and keeps figures', () => {
  expect(pseudo('Scan 3 files')).toBe('Šçáàñ 3 fíìléèš');
  expect('Choose files to scan them'.length * 1.25).toBeLessThan(pseudo('Choose files to scan them').length);
});

it('changes texts and names, also those that come later, and no data', async () => {
  document.body.innerHTML = '<main><p>Scan</p><bdi>maria</bdi><input placeholder="Name" /></main>';
  const stop = changeWords(document.body);
  const sentence = document.querySelector('p');
  expect(sentence).toHaveTextContent('Šçáàñ');
  expect(document.querySelector('bdi')).toHaveTextContent('maria');
  expect(document.querySelector('input')).toHaveAttribute('placeholder', 'Ñáàméè');
  if (sentence?.firstChild) sentence.firstChild.nodeValue = 'Open';
  const late = document.createElement('p');
  late.textContent = 'Late';
  document.querySelector('main')?.append(late);
  await waitFor(() => expect(document.querySelector('main')).toHaveTextContent('ÓÖpéèñmariaLáàtéè'));
  stop();
});

it('is kept by this browser until it is turned off, and turns the page around', () => {
  document.body.innerHTML = '<p>Scan</p>';
  followSwitch();
  expect(document.body).toHaveTextContent('Scan');
  window.history.replaceState(null, '', '/?pseudo=rtl');
  followSwitch();
  expect(document.documentElement).toHaveAttribute('dir', 'rtl');
  expect(document.body).toHaveTextContent('Šçáàñ');
  window.history.replaceState(null, '', '/?pseudo=off');
  document.body.innerHTML = '<p>Scan</p>';
  followSwitch();
  expect(localStorage.getItem('palisade.pseudo')).toBe('off');
});
