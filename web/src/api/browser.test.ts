import { beforeEach, expect, test } from 'vitest';
import { browserId } from './browser.ts';

beforeEach(() => localStorage.clear());

test('a browser is known again by what it made up once', () => {
  const id = browserId();
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(browserId()).toBe(id);
});

test('a browser that was known before keeps what it was known by', () => {
  localStorage.setItem('palisade.device_id', '01890a5d-ac96-774b-bcce-b302099a8057');
  expect(browserId()).toBe('01890a5d-ac96-774b-bcce-b302099a8057');
  expect(localStorage.getItem('palisade.device_id')).toBeNull();
  expect(browserId()).toBe('01890a5d-ac96-774b-bcce-b302099a8057');
});
