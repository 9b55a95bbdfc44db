import { describe, expect, test } from 'vitest';
import { readerOf } from './reader.ts';
import { CODE_ALPHABET, CODE_LENGTH, formatCode, remoteSessionSchema, sessionCodeSchema } from './remote.ts';

describe('a session code', () => {
  test('has no characters that are mistaken for each other, and at least 40 bits', () => {
    expect(CODE_ALPHABET).not.toMatch(/[0O1I]/u);
    expect(new Set(CODE_ALPHABET).size).toBe(CODE_ALPHABET.length);
    expect(CODE_LENGTH * Math.log2(CODE_ALPHABET.length)).toBeGreaterThanOrEqual(40);
  });

  test('is grouped for reading aloud', () => {
    expect(formatCode('K7M4QP9XD')).toBe('K7M-4QP-9XD');
  });

  test.each(['K7M-4QP-9XD', 'k7m4qp9xd', ' K7M 4QP 9XD ', 'k7m–4qp–9xd', 'K-7-M-4-Q-P-9-X-D'])(
    'typed as %j is one and the same',
    (typed) => {
      expect(sessionCodeSchema.parse(typed)).toBe('K7M-4QP-9XD');
    },
  );

  test.each([
    '',
    'K7M-4QP-9X',
    'K7M-4QP-9XDA',
    'K7M-4QP-9X0',
    'O7M-4QP-9XD',
    "'; drop table",
    'K'.repeat(1_000),
    7,
    null,
    undefined,
  ])('%j is none', (typed) => {
    expect(sessionCodeSchema.safeParse(typed).success).toBe(false);
  });
});

test.each([
  ['pending', 'waiting'],
  ['active', 'active'],
  ['completed', 'ended'],
])('a session with the specified fields alone and the status %s is %s, and its code lasts half an hour', (status, phase) => {
  const id = '019a0000-0000-7000-8000-000000000001';
  const session = { id, session_code: 'K7M-4QP-9XD', status, started_at: '2026-11-30T10:00:00.000Z' };
  expect(readerOf(remoteSessionSchema).parse(session)).toMatchObject({ phase, expires_at: '2026-11-30T10:30:00.000Z' });
});
