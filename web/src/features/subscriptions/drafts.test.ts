import { describe, expect, it } from 'vitest';
import { CallError } from '#api/call.ts';
import { EMPTY_ASSIGNMENT, featuresOf, parseAssignment, refusalOf } from './drafts.ts';

const TYPED = { ...EMPTY_ASSIGNMENT, user_email: 'maria@example.com', plan_name: 'Family Shield', price: '19.99' };

it.each([
  ['a feature that was typed and not added', ['One'], ' Two ', ['One', 'Two']],
  ['one that is in the list', ['One'], 'One', ['One']],
  ['blanks', ['One'], '  ', ['One']],
])('the features of a plan have %s once', (_, features, feature, sent) => {
  expect(featuresOf({ features, feature })).toEqual(sent);
  expect(parseAssignment({ ...TYPED, features, feature })).toMatchObject({ ok: true, body: { features: sent } });
});

it('a third decimal is refused at the field', () => {
  const refused = parseAssignment({ ...TYPED, price: '9.999' });
  expect(refused.ok ? '' : refused.fields['price']).toMatch(/^Enter a clear price/u);
});

describe('a failed call', () => {
  it('says what the server said, and at each field the first sentence about it', () => {
    const errors = [
      { field: 'features.0', message: 'Use at most 200 characters.' },
      { field: 'features.3', message: 'Use at least one letter.' },
      { field: 'price', message: 'Too high.' },
    ];
    const problem = {
      type: 'about:blank',
      title: 'Refused',
      status: 422,
      code: 'invalid_field',
      detail: 'Look.',
      errors,
    } as const;
    expect(refusalOf(new CallError('problem', 422, problem), 'It failed')).toEqual({
      sentence: 'Error: Look.',
      fields: { features: 'Use at most 200 characters.', price: 'Too high.' },
    });
  });

  it('has words of its own where the server said nothing', () => {
    expect(refusalOf(new Error('no network'), 'It failed')).toEqual({ sentence: 'It failed', fields: {} });
  });
});
