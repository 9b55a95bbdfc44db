import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { createAnswerAddresses } from './answer-address.ts';

const addresses = createAnswerAddresses({ address: 'help@example.com', key: Buffer.alloc(32, 7) });
const KIB = 1024;
/** As many letters as a token has. */
const LETTERS = addresses.of(newId()).split('@')[0]?.split('+')[1]?.length ?? 0;

/** The least that reading takes: what else the machine does only adds to it. In ms. */
function least(text: string): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 40; time += 1) {
    const began = performance.now();
    expect(addresses.read(text)).toBeUndefined();
    shortest = Math.min(shortest, performance.now() - began);
  }
  return shortest;
}

const HOSTILE: [string, string][] = [
  ['one long word', 'a'],
  ['words that are one letter too long', `${'a'.repeat(LETTERS + 1)}@`],
  ['words that lack their @', `1${'a'.repeat(LETTERS)}`],
  ['tokens that nobody gave out', `1${'a'.repeat(LETTERS)}@`],
  ['nothing but @', '@'],
];

test.each(HOSTILE)('a mail to %s is parsed in a time that grows with its length, and no longer than for 16 KiB', (_, part) => {
  const of = (length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length);
  const [small, large, too_large] = [of(2 * KIB), of(16 * KIB), of(64 * KIB)].map(least);
  // Eight times the length: eight times as long, where each letter costs the same; sixty-four times, were each looked at from every place.
  expect((large ?? 0) / Math.max(small ?? 0, 0.005)).toBeLessThan(24);
  expect((too_large ?? 0) / Math.max(large ?? 0, 0.005)).toBeLessThan(4);
});

test('a valid address is found behind invalid ones', () => {
  const id = newId();
  expect(addresses.read(`<${'a'.repeat(LETTERS)}@example.com>, Help <${addresses.of(id).toUpperCase()}>`)).toBe(id);
});
