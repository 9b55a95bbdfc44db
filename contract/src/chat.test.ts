import { describe, expect, test } from 'vitest';
import { automaticReply, MESSAGE_LENGTH_MAXIMUM, messageSchema } from './chat.ts';

describe('the automatic reply (SPEC section 9)', () => {
  test.each([
    ['I think I have a virus', 'Choose files'],
    ['MALWARE!', 'Choose files'],
    ['my antivirus found something', 'Choose files'],
    ['The Firewall blocks my printer', 'Add Rule'],
    ['no network', 'Add Rule'],
    ['everything is SLOW', 'Restart the computer'],
    ['performance issues', 'Restart the computer'],
    ['a billing question', 'licence panel'],
    ['payment failed', 'licence panel'],
    ['please look at it remotely', 'New Session'],
    ['I cannot access my files', 'New Session'],
    ['hello', 'stored here for the support team'],
    ['', 'stored here for the support team'],
    ['<script>alert(1)</script>', 'stored here for the support team'],
  ])('to %j says %j', (message, part) => {
    expect(automaticReply(message)).toContain(part);
  });

  test.each([
    ['a virus blocks my network', 'virus'],
    ['the network is slow', 'network'],
    ['slow payment page', 'slow'],
    ['billing of remote access', 'billing'],
  ])('of two keywords in %j the earlier rule answers', (message, keyword) => {
    expect(automaticReply(message)).toBe(automaticReply(keyword));
  });

  test('every rule has words of its own', () => {
    const messages = ['virus', 'firewall', 'slow', 'billing', 'remote', 'hello'];
    expect(new Set(messages.map(automaticReply)).size).toBe(messages.length);
  });
});

describe('a message', () => {
  test.each([
    ['a'],
    ['  blanks stay  \n'],
    ["'; drop table users; --"],
    ['<img src=x onerror=alert(1)>'],
    ['🦔'.repeat(MESSAGE_LENGTH_MAXIMUM)],
  ])('%j is taken as it is', (message) => {
    expect(messageSchema.parse(message)).toBe(message);
  });

  test.each([
    [''],
    [' \n\t '],
    ['x'.repeat(MESSAGE_LENGTH_MAXIMUM + 1)],
    [` ${'x'.repeat(MESSAGE_LENGTH_MAXIMUM)}`],
    ['a\0b'],
    ['\ud800'],
    [7],
    [null],
    [undefined],
  ])('%j is not', (message) => {
    expect(messageSchema.safeParse(message).success).toBe(false);
  });
});
