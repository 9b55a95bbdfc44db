import fc from 'fast-check';
import { z } from 'zod';

/** As much of a JSON schema as values are made from. */
interface Shape {
  type?: string | undefined;
  format?: string | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  anyOf?: Shape[] | undefined;
  oneOf?: Shape[] | undefined;
  properties?: Record<string, Shape> | undefined;
  items?: Shape | undefined;
}

const shapeSchema: z.ZodType<Shape> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    format: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    anyOf: z.array(shapeSchema).optional(),
    oneOf: z.array(shapeSchema).optional(),
    properties: z.record(z.string(), shapeSchema).optional(),
    items: shapeSchema.optional(),
  }),
);

/** Stand for an id and an email that are chosen when the call is made: `@id:7@`. */
export const PLACEHOLDER = /@(id|email):(\d+)@/g;
const placeholder = (kind: 'id' | 'email') => fc.nat(100_000).map((number) => `@${kind}:${number}@`);

const STRINGS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\u202egnp.exe',
  '\ud800',
  '👩‍👩‍👧‍👦',
  'x'.repeat(300),
  'x'.repeat(70_000),
  "' or 1=1 --",
  "'; drop table users; --",
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '%00',
  '%s%n',
  '\r\nSet-Cookie: a=b',
  '1e999',
  '-0',
  'NaN',
  '2026-02-30T25:61:61Z',
  '9999-12-31T23:59:59.999Z',
  '*',
  '0.0.0.0/0',
  '::ffff:127.0.0.1',
  '65536',
  'constructor',
  '__proto__',
] as const;

const hostileString = fc.oneof(
  fc.constantFrom(...STRINGS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 20 }),
);

/** Any JSON, unasked for. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileString,
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    -(2 ** 31) - 1,
    [],
    {},
    [[[[[[]]]]]],
    { $gt: '' },
    { toString: 1 },
    { length: -1 },
    JSON.parse('{"__proto__":{"role":"admin"}}'),
    Array.from({ length: 2_000 }, () => 0),
  ),
  placeholder('id'),
);

const seldom = (likely: fc.Arbitrary<unknown>) => fc.oneof({ weight: 14, arbitrary: likely }, { weight: 1, arbitrary: hostile });

function likelyString(format: string | undefined): fc.Arbitrary<unknown> {
  if (format === 'uuid') return placeholder('id');
  if (format === 'email') return placeholder('email');
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  return fc.oneof(fc.string({ minLength: 1, maxLength: 12 }), fc.constantFrom('*', '443', 'a long enough text'), hostileString);
}

function valueFor(shape: Shape): fc.Arbitrary<unknown> {
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices !== undefined) return seldom(fc.oneof(...choices.map(valueFor)));
  if (shape.const !== undefined) return seldom(fc.constant(shape.const));
  if (shape.enum !== undefined) return seldom(fc.constantFrom(...shape.enum));
  switch (shape.type ?? 'none') {
    case 'object': {
      const properties = Object.entries(shape.properties ?? {});
      const whole = fc.record(Object.fromEntries(properties.map(([name, property]) => [name, valueFor(property)])));
      const broken = fc
        .tuple(
          fc.subarray(properties.map(([name]) => name)),
          whole,
          fc.constantFrom('id', 'user_id', 'role', 'constructor', 'extra'),
          hostile,
        )
        .map(([kept, all, name, value]) => ({
          ...Object.fromEntries(Object.entries(all).filter(([key]) => kept.includes(key))),
          [name]: value,
        }));
      return fc.oneof({ weight: 6, arbitrary: whole }, { weight: 1, arbitrary: broken }, { weight: 1, arbitrary: hostile });
    }
    case 'array':
      return seldom(fc.array(valueFor(shape.items ?? {}), { maxLength: 4 }));
    case 'string':
      return seldom(likelyString(shape.format));
    case 'integer':
    case 'number':
      return seldom(fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom(12, 1, 19.99, -1, 1e21)));
    case 'boolean':
      return seldom(fc.boolean());
    default:
      return hostile;
  }
}

/** Values for a schema: mostly valid ones, often nearly valid ones, sometimes anything. */
export function valuesFor(schema: z.ZodType): fc.Arbitrary<unknown> {
  return valueFor(shapeSchema.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' })));
}

export const hostileStrings = hostileString;
