import { z } from 'zod';
import { leastOf } from './reader-words.ts';

/**
 * Derives the schemas with which pages read replies from the schemas of the server, so that each fact is stated once. Only the fields that the specification names are
 * required (`specified`); all others have defaults, so that a page can read replies of a server that has only those fields, or of an older version. Ids are
 * opaque, times are accepted in any valid format, and unknown fields are dropped.
 */

interface Specified {
  /** Fields that the specification names and that are always present. */
  required: readonly string[];
  /** Defaults that are derived from the present fields, in place of those of the types. */
  fill: (record: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}
const SPECIFIED = new WeakMap<z.ZodType, Specified>();

/** Marks the fields of a record that the specification names, and returns the schema. */
export function specified<Schema extends z.ZodObject>(
  required: readonly (keyof z.output<Schema> & string)[],
  schema: Schema,
  fill: Specified['fill'] = () => ({}),
): Schema {
  SPECIFIED.set(schema, { required, fill });
  return schema;
}

/** The time of a record without a known time. */
const NO_TIME = '1970-01-01T00:00:00.000Z';
/** Fields that identify a record if it has no id. */
const NAMES = ['email', 'username'] as const;
const DEFAULTS: Readonly<Record<string, unknown>> = { currency: 'USD' };

/** Parses a time; without an offset it is UTC, as this product writes it. Undefined if invalid. */
function moment(text: string): string | undefined {
  const has_offset = /(?:z|[+-]\d{2}:?\d{2})$/iu.test(text) || !/^\d{4}-\d{2}-\d{2}[t ]\d/iu.test(text);
  const ms = Date.parse(has_offset ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

type Record_ = Readonly<Record<string, unknown>>;
const isTime = (schema: z.core.$ZodType) => 'format' in schema._zod.def && schema._zod.def.format === 'datetime';
const isId = (schema: z.core.$ZodType) => 'format' in schema._zod.def && schema._zod.def.format === 'uuid';

/** The default of a missing field. `record` has the fields that are present. */
export function defaultOf(schema: z.core.$ZodType, name = '', record: Record_ = {}): unknown {
  if (name in DEFAULTS) return DEFAULTS[name];
  if (schema instanceof z.ZodOptional) return undefined;
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue;
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodBoolean) return false;
  if (schema instanceof z.ZodNumber) return Math.max(0, Number.isFinite(schema.minValue) ? (schema.minValue ?? 0) : 0);
  if (schema instanceof z.ZodEnum) return leastOf(schema.options);
  if (schema instanceof z.ZodLiteral) return [...schema.values][0];
  if (schema instanceof z.ZodObject) return filled(schema, {});
  if (schema instanceof z.ZodUnion) return schema.options[0] && defaultOf(schema.options[0], name, record);
  if (schema instanceof z.ZodPipe) return defaultOf(schema.in, name, record);
  if (isTime(schema))
    return Object.values(record).find((value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/u.test(value)) ?? NO_TIME;
  if (isId(schema)) return String(NAMES.map((one) => record[one]).find((value) => typeof value === 'string') ?? '');
  return '';
}

/** A record with defaults for its missing fields. */
function filled(schema: z.ZodObject, record: Record_): Record<string, unknown> {
  const own = SPECIFIED.get(schema)?.fill(record) ?? {};
  const missing = Object.entries(schema.shape).flatMap(([name, field]) => {
    if (record[name] !== undefined || field instanceof z.ZodOptional) return [];
    return [[name, own[name] ?? defaultOf(field, name, record)] as const];
  });
  return { ...record, ...Object.fromEntries(missing) };
}

/** Whether a reader requires a field: the specification names it, or it identifies the record or its kind. */
function isNeeded(schema: z.ZodObject, name: string, discriminator: string | undefined): boolean {
  const marked = SPECIFIED.get(schema);
  return name === discriminator || (marked === undefined ? name === 'id' : marked.required.includes(name));
}

/** The smallest reply that a reader accepts: records with only the required fields, and lists of one record. For tests of the reader and of screens. */
export function leastAnswer(schema: z.core.$ZodType, discriminator?: string): unknown {
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape)
        .filter(([name]) => isNeeded(schema, name, discriminator))
        .map(([name, field]) => [name, leastAnswer(field)]),
    );
  if (schema instanceof z.ZodArray) return [leastAnswer(schema.element)];
  if (schema instanceof z.ZodDiscriminatedUnion)
    return schema.options[0] && leastAnswer(schema.options[0], schema.def.discriminator);
  if (schema instanceof z.ZodUnion) return schema.options[0] && leastAnswer(schema.options[0]);
  if (schema instanceof z.ZodPipe) return leastAnswer(schema.in);
  if (isId(schema)) return 'id-1';
  return defaultOf(schema);
}

const readers = new WeakMap<z.core.$ZodType, z.ZodType>();

function objectReader(schema: z.ZodObject, discriminator: string | undefined): z.ZodType {
  const shape = Object.fromEntries(
    Object.entries(schema.shape).map(([name, field]) => {
      const reader = readerOf(field);
      return [name, isNeeded(schema, name, discriminator) ? reader : reader.optional()];
    }),
  );
  return z.object(shape).transform((record) => filled(schema, record));
}

function build(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return objectReader(schema, undefined);
  if (schema instanceof z.ZodArray) return z.array(readerOf(schema.element));
  if (schema instanceof z.ZodNullable) return readerOf(schema.unwrap()).nullable();
  if (schema instanceof z.ZodOptional)
    return readerOf(schema.unwrap())
      .nullish()
      .transform((value) => value ?? undefined);
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const { discriminator } = schema.def;
    const [first, ...others] = schema.options
      .map((option) => (option instanceof z.ZodObject ? objectReader(option, discriminator) : option))
      .filter(isDiscriminable);
    return first === undefined ? z.unknown() : z.discriminatedUnion(discriminator, [first, ...others]);
  }
  if (schema instanceof z.ZodUnion) return z.union([...schema.options.filter(isReadable), ...schema.options.map(readerOf)]);
  if (isTime(schema))
    return z.string().transform((text, context) => {
      const iso = moment(text);
      if (iso === undefined) context.addIssue({ code: 'custom', message: 'This date and time doesn’t exist.' });
      return iso ?? NO_TIME;
    });
  if (isId(schema)) return z.union([z.string(), z.number().transform(String)]);
  return isReadable(schema) ? schema : z.unknown();
}

/** Whether a schema declares the values of its discriminator, which a discriminated union requires of each option. */
const isDiscriminable = (schema: z.core.$ZodType): schema is z.core.$ZodType & z.core.$ZodTypeDiscriminable =>
  schema._zod.propValues !== undefined;

const isReadable = (schema: z.core.$ZodType): schema is z.ZodType => schema instanceof z.ZodType;

/** The derived reader of a schema, cached by schema. */
export function readerOf(schema: z.core.$ZodType): z.ZodType {
  const known = readers.get(schema);
  if (known !== undefined) return known;
  const built = build(schema);
  readers.set(schema, built);
  return built;
}
