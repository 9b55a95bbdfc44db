import { z } from 'zod';

/** Values for a field that takes a single value. */
type Leaf = (schema: z.core.$ZodType) => unknown;

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
/** Texts of which each schema of the contract takes one or another. */
const TEXTS = [
  ...['x', ID, '2026-11-20T10:00:00.000Z', '10.0.0.1', '/home', '0'.repeat(64), '0'.repeat(32), '09:00', '2026-11-20', 'AAAA'],
  ...['name@example.com', 'a long enough text', '443', 'UTC', 'ABCDE-FGHJK', 'https://example.com/', 'EUR', '*', '123456'],
];
/** Texts over which readers work longest: beginnings of their patterns. */
export const DEAR_TEXTS = [
  'a',
  ' ',
  '.',
  ':',
  ',',
  '-',
  '1',
  '@a.',
  'a@',
  '::',
  '1,',
  '{{',
  '\\',
  '\u00df',
  '\ud83d\ude00',
  '/../',
  '<a ',
];

function inner(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  )
    return inner(schema.def.innerType);
  return schema instanceof z.ZodPipe ? inner(schema.def.in) : schema;
}

/** A value that a schema takes, where one of the usual ones is. */
export const valid: Leaf = (schema) => {
  const bare = inner(schema);
  if (bare instanceof z.ZodLiteral) return bare.def.values[0];
  if (bare instanceof z.ZodEnum) return bare.options[0];
  return [...TEXTS, 1, 0, 5, true, null, {}].find((value) => z.safeParse(schema, value).success) ?? null;
};

const lengthOf = (value: unknown) => JSON.stringify(value ?? null).length;

function maximumOf({ _zod: { def } }: z.core.$ZodType): number {
  const found = (def.checks ?? []).find((check) => check instanceof z.core.$ZodCheckMaxLength);
  return found instanceof z.core.$ZodCheckMaxLength ? found._zod.def.maximum : Number.POSITIVE_INFINITY;
}

/** A value of the shape of a schema with as many entries in its lists as they take and as `bytes` hold. `turn` chooses among the shapes of a union. */
export function filled(schema: z.core.$ZodType, leaf: Leaf, bytes: number, turn: number): unknown {
  const bare = inner(schema);
  if (bare instanceof z.ZodObject) {
    const parts = Object.entries(bare.shape);
    const dear = parts.filter(([, part]) => [z.ZodArray, z.ZodObject, z.ZodUnion].some((kind) => inner(part) instanceof kind));
    const each = Math.floor((bytes - parts.length * 40) / Math.max(1, dear.length));
    return Object.fromEntries(parts.map(([name, part]) => [name, filled(part, leaf, each, turn)]));
  }
  if (bare instanceof z.ZodUnion) {
    const option = bare.options[turn % bare.options.length];
    return option === undefined ? null : filled(option, leaf, bytes, turn);
  }
  if (bare instanceof z.ZodArray) {
    const item = filled(bare.element, leaf, Math.min(bytes, 20_000), turn);
    return Array.from({ length: Math.max(0, Math.min(maximumOf(bare), Math.floor(bytes / (lengthOf(item) + 1)))) }, () => item);
  }
  return leaf(schema);
}

/** The names of the members of a schema, or none. */
export function membersOf(schema: z.core.$ZodType): string[] {
  const bare = inner(schema);
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
}
