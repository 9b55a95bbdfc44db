import { describe, expect, test } from 'vitest';
import { MESSAGE_LENGTH_MAXIMUM, messageSchema } from './chat.ts';

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
