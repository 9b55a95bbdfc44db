import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authorOf } from './mail-author.ts';

const fieldsOf = (...lines: string[]) =>
  lines.map((line) => {
    const at = line.indexOf(':');
    return { key: line.slice(0, at).toLowerCase(), value: line.slice(at + 1).trim() };
  });
const MARIA = 'maria@example.com';
const EVE = 'eve@example.net';

describe('the author of a mail', () => {
  test.each([
    ['an address', [`From: ${MARIA}`]],
    ['a name and an address', [`From: Maria Example <${MARIA}>`]],
    ['capitals', ['From: <Maria@Example.COM>']],
    ['a name with a comma in quotes', [`From: "Example, Maria" <${MARIA}>`]],
    ['a name with an address in quotes', [`From: "${EVE}" <${MARIA}>`]],
    ['an encoded name', [`From: =?utf-8?q?M=C3=A1ria?= <${MARIA}>`]],
    ['a comment', [`From: ${MARIA} (Maria)`]],
    ['a sender that is the same', [`From: ${MARIA}`, `Sender: Maria <${MARIA.toUpperCase()}>`]],
  ])('is the one that From names: %s', (_what, lines) => {
    expect(authorOf(fieldsOf(...lines))).toEqual({ address: MARIA });
  });

  test.each([
    ['no From', ['To: x@example.com'], 'no_author'],
    ['an empty From', ['From:'], 'no_author'],
    ['two From fields', [`From: ${MARIA}`, `From: ${EVE}`], 'several_authors'],
    ['two From fields that are the same', [`From: ${MARIA}`, `From: ${MARIA}`], 'several_authors'],
    ['two addresses', [`From: ${MARIA}, ${EVE}`], 'several_authors'],
    ['two addresses, named', [`From: Maria <${MARIA}>, Eve <${EVE}>`], 'several_authors'],
    ['two addresses in brackets', [`From: <${MARIA}> <${EVE}>`], 'several_authors'],
    ['a group', [`From: friends: ${MARIA};`], 'several_authors'],
    ['an empty group', ['From: nobody:;'], 'several_authors'],
    ['a name alone', ['From: Maria'], 'several_authors'],
    ['two @', ['From: <maria@example.com@example.net>'], 'several_authors'],
    ['a route', [`From: <@example.net:${MARIA}>`], 'several_authors'],
    ['a quoted local part', ['From: <"maria@example.com"@example.net>'], 'several_authors'],
    ['another sender', [`From: ${MARIA}`, `Sender: ${EVE}`], 'other_sender'],
    ['two senders', [`From: ${MARIA}`, `Sender: ${MARIA}`, `Sender: ${EVE}`], 'other_sender'],
    ['somebody who sent it on', [`From: ${MARIA}`, `Resent-From: ${EVE}`], 'other_sender'],
  ])('is no author with %s', (_what, lines, fault) => {
    expect(authorOf(fieldsOf(...lines))).toEqual({ address: undefined, fault });
  });

  test('is an address with one @ or none, for any field', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom(MARIA, EVE, ',', '<', '>', ':', ';', '"', '(', ')', '\\'))),
        (parts) => {
          const { address } = authorOf([{ key: 'from', value: parts.join('') }]);
          return address === undefined || /^[^\s@]+@[^\s@]+$/u.test(address);
        },
      ),
      { seed: 30, numRuns: 2_000 },
    );
  });
});
