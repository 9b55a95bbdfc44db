import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const FOLDER = new URL('../../contract/src/', import.meta.url);

const sentSchema = z.union([
  z
    .object({ method: z.string(), path: z.string(), access: z.string() })
    .extend({ body: z.unknown(), query: z.unknown(), params: z.unknown() })
    .partial({ body: true, query: true, params: true })
    .transform(({ method, path, body, query, params }) => ({ name: `${method} ${path}`, schemas: { body, query, params } })),
  z
    .object({ path: z.string(), hello: z.instanceof(z.ZodType), said: z.instanceof(z.ZodType), frame_bytes: z.number() })
    .transform(({ path, hello, said }) => ({ name: `socket ${path}`, schemas: { hello, said } })),
]);

/** Formats whose pattern allows so many letters alone. */
const BOUNDED_FORMATS = new Set(['uuid', 'date', 'ipv4']);

/** Whether a pattern allows so many letters alone: it is of one piece from beginning to end, and repeats nothing without a bound. */
function isBoundedPattern(pattern: RegExp): boolean {
  const bare = pattern.source.replaceAll(/\\./gu, 'x').replaceAll(/\[[^\]]*\]/gu, 'x');
  return bare.startsWith('^') && bare.endsWith('$') && !/[*+]|\{\d+,\}/u.test(bare);
}

const checksOf = (schema: z.ZodType) => schema._zod.def.checks ?? [];

const hasMaximum = (schema: z.ZodType) =>
  checksOf(schema).some((check) => check instanceof z.core.$ZodCheckMaxLength || check instanceof z.core.$ZodCheckLengthEquals);

function isBoundedString(schema: z.ZodString | z.ZodStringFormat): boolean {
  if (hasMaximum(schema) || BOUNDED_FORMATS.has(schema.format ?? '')) return true;
  const patterns = checksOf(schema).flatMap((check) => (check instanceof z.core.$ZodCheckRegex ? [check._zod.def.pattern] : []));
  return patterns.some(isBoundedPattern);
}

/** Where a schema takes lists, texts or records without a bound. */
function unbounded(schema: unknown, where: string, seen = new Set<unknown>()): string[] {
  if (!(schema instanceof z.ZodType) || seen.has(schema)) return [];
  seen.add(schema);
  const into = (inner: unknown, name: string) => unbounded(inner, name, new Set(seen));
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, part]) => into(part, `${where}.${name}`));
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option, at) => into(option, `${where}|${at}`));
  if (schema instanceof z.ZodPipe)
    return into(schema.def.in, where).concat(schema.def.in instanceof z.ZodTransform ? into(schema.def.out, where) : []);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodCatch ||
    schema instanceof z.ZodReadonly
  )
    return into(schema.def.innerType, where);
  if (schema instanceof z.ZodArray)
    return [...(hasMaximum(schema) ? [] : [`${where}: a list`]), ...into(schema.element, `${where}[]`)];
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat)
    return isBoundedString(schema) ? [] : [`${where}: a text`];
  const isScalar = ['number', 'int', 'boolean', 'enum', 'literal', 'null', 'transform', 'undefined'].includes(schema.def.type);
  return isScalar ? [] : [`${where}: ${schema.def.type}`];
}

async function everything() {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(
    files.map(async (name) => z.record(z.string(), z.unknown()).parse({ ...(await import(new URL(name, FOLDER).href)) })),
  );
  return modules.flatMap((exported) => Object.values(exported)).flatMap((value) => sentSchema.safeParse(value).data ?? []);
}

describe('inputs of a server', async () => {
  const all = await everything();

  test('is every endpoint and every socket of the contract', () => {
    expect(all.length).toBeGreaterThan(150);
    expect(all.some(({ name }) => name === 'socket /agent/socket')).toBe(true);
  });

  test('has a schema for each parameter in the path', () => {
    const parametersOf = ({ schemas }: (typeof all)[number]) =>
      'params' in schemas && schemas.params instanceof z.ZodObject ? Object.keys(schemas.params.shape) : [];
    const named = all.map(({ name }) => [...name.matchAll(/\{(\w+)\}/gu)].map(([, parameter]) => parameter));
    expect(all.map(parametersOf)).toEqual(named);
  });

  test('has a bound for each list and each text in it', () => {
    const faults = all.flatMap(({ name, schemas }) =>
      Object.entries(schemas).flatMap(([part, schema]) => unbounded(schema, `${name} ${part}`)),
    );
    // A frame of a call: 64 KiB at most, and read by the schema of its page's side (remote-signal.ts) before anything looks into it.
    expect(faults).toEqual(['socket /events said|6.signal: unknown']);
  });

  test.each([
    ['a list', z.object({ a: z.array(z.int()).optional() }), ['x.a: a list']],
    ['a text in a list', z.array(z.string()).max(3), ['x[]: a text']],
    ['a text behind a transformation', z.preprocess((value) => value, z.string()), ['x: a text']],
    ['a record', z.record(z.string(), z.int()), ['x: record']],
    ['a pattern without an end', z.string().regex(/^a+$/u), ['x: a text']],
    ['a pattern in the middle', z.string().regex(/a/u), ['x: a text']],
    ['nothing, with a bounded pattern', z.string().regex(/^[0-9a-f]{64}$/u), []],
    ['nothing, with an id', z.uuid(), []],
    ['nothing, with bounds', z.array(z.string().max(3).trim()).max(2), []],
  ])('without a bound is found: %s', (_what, schema, faults) => {
    expect(unbounded(schema, 'x')).toEqual(faults);
  });
});
