import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assignmentSchema,
  centsOf,
  expiryOf,
  newTemplateSchema,
  PRICE_MAXIMUM,
  priceOf,
  priceSchema,
  statusOf,
} from './subscription.ts';

const MAXIMUM_CENTS = PRICE_MAXIMUM * 100;
const cents = fc.integer({ min: 0, max: MAXIMUM_CENTS });

describe('prices', () => {
  test.each([
    [0, 0],
    [-0, 0],
    [0.01, 1],
    [0.29, 29],
    [0.57, 57],
    [1.1, 110],
    [2.2, 220],
    [4.35, 435],
    [19.99, 1999],
    [1_000_000, 100_000_000],
  ])('%d dollars are %d cents, and back', (price, expected) => {
    expect(centsOf(price)).toBe(expected);
    expect(priceOf(expected)).toBe(price + 0);
  });

  test('sums are made in cents: 1.1 + 2.2 is 3.3', () => {
    expect(priceOf(centsOf(1.1) + centsOf(2.2))).toBe(3.3);
  });

  test('every amount of cents survives the way over JSON', () => {
    fc.assert(
      fc.property(cents, (amount) => {
        const price = priceSchema.parse(JSON.parse(JSON.stringify(priceOf(amount))));
        expect(centsOf(price)).toBe(amount);
        expect(JSON.stringify(price)).toMatch(/^\d+(?:\.\d{1,2})?$/u);
      }),
    );
  });

  test('a third decimal is refused, however small', () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 9 }), (amount, thousandth) => {
        expect(priceSchema.safeParse(Number(`${(amount / 100).toFixed(2)}${thousandth}`)).success).toBe(false);
      }),
    );
    expect(priceSchema.safeParse(1.1 + 2.2).success).toBe(false);
  });

  test.each([-0.01, -1, PRICE_MAXIMUM + 0.01, Number.POSITIVE_INFINITY, Number.NaN, '19.99', null, undefined, true])(
    '%s is no price',
    (price) => {
      expect(priceSchema.safeParse(price).success).toBe(false);
    },
  );
});

describe('the expiry', () => {
  test.each([
    ['2026-01-31T23:59:59.999Z', 1, '2026-02-28T23:59:59.999Z'],
    ['2028-01-31T00:00:00.000Z', 1, '2028-02-29T00:00:00.000Z'],
    ['2026-01-30T10:00:00.000Z', 1, '2026-02-28T10:00:00.000Z'],
    ['2026-03-31T10:00:00.000Z', 1, '2026-04-30T10:00:00.000Z'],
    ['2026-02-28T10:00:00.000Z', 1, '2026-03-28T10:00:00.000Z'],
    ['2026-08-31T10:00:00.000Z', 6, '2027-02-28T10:00:00.000Z'],
    ['2028-02-29T10:00:00.000Z', 12, '2029-02-28T10:00:00.000Z'],
    ['2028-02-29T10:00:00.000Z', 24, '2030-02-28T10:00:00.000Z'],
    ['2026-12-31T10:00:00.000Z', 36, '2029-12-31T10:00:00.000Z'],
    ['2026-11-20T10:00:00.123Z', 3, '2027-02-20T10:00:00.123Z'],
    // The last Sunday of March, when clocks in Europe change: UTC does not.
    ['2026-02-28T01:30:00.000Z', 1, '2026-03-28T01:30:00.000Z'],
    ['1900-01-31T10:00:00.000Z', 1, '1900-02-28T10:00:00.000Z'],
    ['2000-01-31T10:00:00.000Z', 1, '2000-02-29T10:00:00.000Z'],
  ])('%s and %d months is %s', (start, months, end) => {
    expect(expiryOf(start, months)).toBe(end);
  });

  const starts = fc.date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2199-12-31T00:00:00Z'), noInvalidDate: true });
  const months = fc.constantFrom(1, 3, 6, 12, 24, 36);

  test('lies so many months later, at the same time of day, on the same day or the last of its month', () => {
    fc.assert(
      fc.property(starts, months, (start, count) => {
        const end = new Date(expiryOf(start.toISOString(), count));
        const monthsOf = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
        expect(monthsOf(end) - monthsOf(start)).toBe(count);
        expect(end.toISOString().slice(10)).toBe(start.toISOString().slice(10));
        const dayAfter = new Date(end.getTime() + 86_400_000);
        const isLastOfMonth = dayAfter.getUTCDate() === 1;
        expect(end.getUTCDate() === start.getUTCDate() || (isLastOfMonth && end.getUTCDate() < start.getUTCDate())).toBe(true);
      }),
    );
  });
});

describe('the status', () => {
  const EXPIRY = '2026-12-20T10:00:00.000Z';
  const at = Date.parse(EXPIRY);
  const untouched = { expires_at: EXPIRY, ended_as: null, ended_at: null };
  const before = new Date(at - 1000).toISOString();
  const after = new Date(at + 1000).toISOString();

  test.each([
    ['active until the last millisecond', untouched, at - 1, 'active'],
    ['expired in that of its expiry', untouched, at, 'expired'],
    ['active for ever without one', { ...untouched, expires_at: null }, Number.MAX_SAFE_INTEGER, 'active'],
    ['replaced', { expires_at: EXPIRY, ended_as: 'replaced', ended_at: before }, at - 500, 'replaced'],
    [
      'replaced also when it would be over by now',
      { expires_at: EXPIRY, ended_as: 'replaced', ended_at: before },
      at + 500,
      'replaced',
    ],
    [
      'expired when it was replaced after its end',
      { expires_at: EXPIRY, ended_as: 'replaced', ended_at: after },
      at + 2000,
      'expired',
    ],
    [
      'expired when it was replaced in that instant',
      { expires_at: EXPIRY, ended_as: 'replaced', ended_at: EXPIRY },
      at,
      'expired',
    ],
    ['cancelled', { expires_at: EXPIRY, ended_as: 'cancelled', ended_at: before }, at - 500, 'cancelled'],
    ['cancelled without expiry', { expires_at: null, ended_as: 'cancelled', ended_at: before }, at, 'cancelled'],
  ] as const)('is %s', (_, end, now, status) => {
    expect(statusOf(end, now)).toBe(status);
  });
});

const PLAN = {
  ...{ plan_name: 'Family Shield', price: 19.99, duration_months: 12, max_devices: 5, is_premium: true },
  features: ['Anti-hacking monitor', 'Five devices'],
};
const HOSTILE = `'; drop table subscriptions; -- <script>alert(1)</script> "quoted" \u{1f600}`;

describe('an assignment', () => {
  const valid = { user_email: 'maria@example.com', ...PLAN };

  test('is taken as typed, without blanks around it and without fields of others', () => {
    const typed = {
      ...valid,
      user_email: '  MARIA@Example.COM ',
      plan_name: `  ${HOSTILE} `,
      features: [' a ', HOSTILE],
      role: 'admin',
    };
    expect(assignmentSchema.parse(typed)).toEqual({ ...valid, plan_name: HOSTILE, features: ['a', HOSTILE] });
  });

  test.each([
    ['user_email', 'no address'],
    ['user_email', 7],
    ['user_email', undefined],
    ['plan_name', '   '],
    ['plan_name', 'x'.repeat(101)],
    ['plan_name', 'a\u0000b'],
    ['plan_name', 'two\nlines'],
    ['plan_name', '\ud800'],
    ['plan_name', ['Solo']],
    ['price', 9.999],
    ['price', 1_000_000.01],
    ['duration_months', 7],
    ['duration_months', 0],
    ['duration_months', '12'],
    ['duration_months', 1.5],
    ['max_devices', 0],
    ['max_devices', 2],
    ['max_devices', '5'],
    ['is_premium', 'true'],
    ['is_premium', 1],
    ['features', 'one'],
    ['features', undefined],
    ['features.0', ['  ']],
    ['features.1', ['fine', 3]],
    ['features.0', ['x'.repeat(201)]],
    ['features', Array.from({ length: 51 }, (_, index) => `Feature ${index}`)],
    ['request_id', 'not an id'],
  ])('with %s: %j is refused by name', (field, value) => {
    const refused = assignmentSchema.safeParse({ ...valid, [field.split('.')[0] ?? field]: value });
    expect(refused.error?.issues.map(({ path }) => path.join('.'))).toContain(field);
  });
});

test.each([
  ['template_name', ''],
  ['template_name', 'x'.repeat(101)],
  ['base_price', '1'],
  ['base_price', 0.001],
  ['duration_months', 3],
  ['max_devices', 4],
  ['is_premium', null],
  ['features', {}],
])('a template with %s: %j is refused by name', (field, value) => {
  const { plan_name, price, ...rest } = PLAN;
  const template = { template_name: plan_name, base_price: price, ...rest };
  expect(newTemplateSchema.safeParse(template).success).toBe(true);
  const refused = newTemplateSchema.safeParse({ ...template, [field]: value });
  expect(refused.error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});
