import { describe, expect, test } from 'vitest';
import { refuse, refuseField, refuseFor } from './platform.refusals.ts';
import { Problem } from './problem.ts';
import { asWritten } from './sentence.ts';

/** The most bytes of words in a refusal. */
const WORDS_BYTES = 4 * 1024;
const bytesOf = ({ detail, phrase, errors }: ReturnType<Problem['document']>) =>
  Buffer.byteLength(JSON.stringify({ detail, phrase, errors }));

describe('a refusal', () => {
  test('has the sentence of its catalog, and the code and values that say it', () => {
    const document = refuse('request.too_deep', { maximum: 32 }).document('1');
    expect(document).toMatchObject({ status: 400, code: 'malformed', detail: 'The body has more than 32 nested levels.' });
    expect(document.phrase).toEqual({ code: 'request.too_deep', params: { maximum: 32 } });
  });

  test('of a field says the same beside the field', () => {
    const document = refuseField('file', 'upload.other_field', { field: 'file' }).document('1');
    const phrase = { code: 'upload.other_field', params: { field: 'file' } };
    const message = 'Send the file in the field "file".';
    expect(document).toMatchObject({ status: 422, detail: message, phrase });
    expect(document.errors).toEqual([{ field: 'file', message, phrase }]);
  });

  test('of too many requests says the wait in words, and in seconds for programs', () => {
    const refusal = refuseFor(90_001, 'requests.too_many');
    expect(refusal.retry_after).toBe(91);
    expect(refusal.document('1')).toMatchObject({
      status: 429,
      detail: 'You sent too many requests at once. Try again in 2 minutes.',
      phrase: { code: 'requests.too_many', params: { wait: 91 } },
    });
  });

  test('without a sentence of its own has the code of the problem', () => {
    expect(new Problem('not_found').document('1').phrase).toEqual({ code: 'not_found', params: {} });
  });
});

test('a sentence without a code, an unknown code and a missing value do not compile', () => {
  const wrong = [
    // @ts-expect-error: a text has no code.
    () => new Problem('conflict', { detail: 'This is taken.' }),
    // @ts-expect-error: an object that looks like a sentence was made by no catalog.
    () => new Problem('conflict', { says: { english: 'This is taken.', phrase: { code: 'taken', params: {} } } }),
    // @ts-expect-error: an unknown code.
    () => refuse('request.is_bad'),
    // @ts-expect-error: a missing value.
    () => refuse('request.too_deep'),
    // @ts-expect-error: a value of another kind.
    () => refuse('request.too_deep', { maximum: 'ten' }),
    // @ts-expect-error: the refusal of a field needs one.
    () => refuse('upload.several_files'),
    // @ts-expect-error: a refusal without a wait.
    () => refuseFor(1, 'requests.too_many_at_once'),
  ];
  // Types alone refuse them: none is called.
  expect(wrong).toHaveLength(7);
});

describe('words of a caller in a refusal', () => {
  test.each([
    ['a long name', 'n'.repeat(100_000)],
    ['a long name of wide characters', '語'.repeat(100_000)],
  ])('are cut off in the sentence and in the values: %s', (_what, name) => {
    for (const refusal of [
      refuse('request.not_multipart', { field: name }),
      refuseField('x'.repeat(1_000), 'upload.other_field', { field: name }),
    ]) {
      const document = refusal.document('1');
      expect(document.detail.length).toBeLessThanOrEqual(1_000);
      expect(bytesOf(document)).toBeLessThanOrEqual(WORDS_BYTES);
    }
  });

  test('are there in both while there is room', () => {
    const { phrase } = refuse('request.not_multipart', { field: 'n'.repeat(5_000) }).document('1');
    expect(phrase?.params['field']).toHaveLength(1_000);
    const document = refuseField('file', 'upload.other_field', { field: 'n'.repeat(5_000) }).document('1');
    expect(document.errors?.[0]?.phrase?.params['field']).toHaveLength(240);
  });

  test('leave the phrase out where only the English has room', () => {
    const document = new Problem('conflict', { says: asWritten('語'.repeat(1_000)) }).document('1');
    expect(document.detail).toHaveLength(1_000);
    expect(document.phrase).toBeUndefined();
  });
});
