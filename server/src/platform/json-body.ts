import { z } from 'zod';
import { refuse } from './platform.refusals.ts';
import type { Problem } from './problem.ts';

/** The fault of a value, and its path. */
export interface Fault {
  path: readonly PropertyKey[];
  message: string;
}

type Read<Value> = { ok: true; value: Value } | { ok: false; faults: readonly Fault[] };

/** Maximum number of faults that are looked for in one value, and that an answer names. */
const FAULTS_MAXIMUM = 10;
/** Maximum nesting: far deeper than any schema of the contract. */
const DEPTH_MAXIMUM = 32;
/** Maximum number of values in a body, counted by brackets and commas: for the largest accepted body, one in 8 bytes. */
const VALUES_MAXIMUM = 30_000;
/** A body below both limits is validated by its schema at once, whatever its faults. */
const SMALL_BODY = { characters: 4_096, values: 256 };

const CODE = { quote: 0x22, comma: 0x2c, backslash: 0x5c, open: [0x5b, 0x7b], close: [0x5d, 0x7d] } as const;

/** The structure of a JSON text, counted in one pass without parsing: its nesting depth, and an upper bound of its number of values. Stops at the first limit exceeded. */
function structureOf(text: string): { depth: number; values: number } {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let at = 0; at < text.length && deepest <= DEPTH_MAXIMUM && values <= VALUES_MAXIMUM; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) {
      at += 1;
      while (at < text.length && text.charCodeAt(at) !== CODE.quote) at += text.charCodeAt(at) === CODE.backslash ? 2 : 1;
    } else if (code === CODE.comma) values += 1;
    else if (code === CODE.open[0] || code === CODE.open[1]) {
      depth += 1;
      values += 1;
      deepest = Math.max(deepest, depth);
    } else if (code === CODE.close[0] || code === CODE.close[1]) depth -= 1;
  }
  return { depth: deepest, values };
}

/** Large bodies, which are validated in steps: their schema alone could take seconds to collect their faults. */
const large = new WeakSet<object>();

/** The refusal of a JSON text before it is parsed; undefined if it may be parsed. */
export function refuseStructure(text: string): Problem | undefined {
  const { depth, values } = structureOf(text);
  if (depth > DEPTH_MAXIMUM) return refuse('request.too_deep', { maximum: DEPTH_MAXIMUM });
  if (values > VALUES_MAXIMUM) return refuse('request.too_many_values', { maximum: VALUES_MAXIMUM });
  return undefined;
}

/** Records that a parsed body came from a large text. */
export function noteLarge(text: string, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  if (text.length > SMALL_BODY.characters || structureOf(text).values > SMALL_BODY.values) large.add(body);
}

/** Unwraps the optional, nullable and default wrappers of a schema. */
function withinOptional(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  for (;;) {
    if (
      inner instanceof z.ZodOptional ||
      inner instanceof z.ZodNullable ||
      inner instanceof z.ZodDefault ||
      inner instanceof z.ZodPrefault ||
      inner instanceof z.ZodReadonly
    )
      inner = inner.def.innerType;
    else if (inner instanceof z.ZodPipe) inner = inner.def.in;
    else return inner;
  }
}

/** The kind of value that a schema accepts, with the schemas of its parts. */
type Outline =
  | { kind: 'text' | 'record' | 'other' }
  | { kind: 'list'; element: z.core.$ZodType }
  | { kind: 'object'; parts: [name: string, schema: z.core.$ZodType][] }
  | { kind: 'union'; union: z.ZodUnion };

const outlines = new WeakMap<z.core.$ZodType, Outline>();

/** Outlines are cached: finding the class of a zod schema takes longer than validating a value. */
function outlineOf(schema: z.core.$ZodType): Outline {
  const known = outlines.get(schema);
  if (known !== undefined) return known;
  const outline = drawOutline(withinOptional(schema));
  outlines.set(schema, outline);
  return outline;
}

function drawOutline(inner: z.core.$ZodType): Outline {
  if (inner instanceof z.ZodString) return { kind: 'text' };
  if (inner instanceof z.ZodArray) return { kind: 'list', element: inner.element };
  if (inner instanceof z.ZodObject) return { kind: 'object', parts: Object.entries(inner.shape) };
  if (inner instanceof z.ZodUnion) return { kind: 'union', union: inner };
  return { kind: inner instanceof z.ZodRecord ? 'record' : 'other' };
}

const nested = new WeakMap<z.core.$ZodType, boolean>();

/** Whether values of a schema may contain lists. */
function holdsLists(schema: z.core.$ZodType): boolean {
  const known = nested.get(schema);
  if (known !== undefined) return known;
  const outline = outlineOf(schema);
  let holds = outline.kind === 'list' || outline.kind === 'record';
  if (outline.kind === 'object') holds = outline.parts.some(([, part]) => holdsLists(part));
  else if (outline.kind === 'union') holds = outline.union.options.some(holdsLists);
  nested.set(schema, holds);
  return holds;
}

const lengthChecks = new WeakMap<z.core.$ZodType, z.core.$ZodCheckMaxLength | null>();

/** The length check of a schema's items or characters; null if it has none. */
function lengthCheckOf(schema: z.core.$ZodType): z.core.$ZodCheckMaxLength | null {
  const known = lengthChecks.get(schema);
  if (known !== undefined) return known;
  const checks = withinOptional(schema)._zod.def.checks ?? [];
  const check = checks.find((one): one is z.core.$ZodCheckMaxLength => one instanceof z.core.$ZodCheckMaxLength) ?? null;
  lengthChecks.set(schema, check);
  return check;
}

/** A schema's message for a value that is too long, without its other checks; undefined if the length is valid. */
function sentenceOfLength(schema: z.core.$ZodType, value: string | unknown[]): string | undefined {
  const check = lengthCheckOf(schema);
  if (check === null || value.length <= check._zod.def.maximum) return undefined;
  const alone = typeof value === 'string' ? z.string().check(check) : z.array(z.unknown()).check(check);
  return z.safeParse(alone, value).error?.issues[0]?.message ?? 'This is too long.';
}

/** The member of a union that matches the value's discriminator. */
function chosenOf(union: z.ZodUnion | z.ZodDiscriminatedUnion, value: object): z.core.$ZodType | undefined {
  if (!(union instanceof z.ZodDiscriminatedUnion)) return undefined;
  const { discriminator } = union.def;
  const said: unknown = Reflect.get(value, discriminator);
  return union.options.find((option) => {
    const inner = withinOptional(option);
    const named: unknown = inner instanceof z.ZodObject ? Reflect.get(inner.shape, discriminator) : undefined;
    return named instanceof z.core.$ZodType && z.safeParse(named, said).success;
  });
}

type Visit = (schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]) => void;

/** Visits the parts of a value that its schema names. Returns false for a value without parts. */
function visitParts(outline: Outline, value: unknown, path: readonly PropertyKey[], visit: Visit): boolean {
  if (outline.kind === 'object' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, part] of outline.parts) visit(part, Reflect.get(value, name), [...path, name]);
    return true;
  }
  if (outline.kind === 'union' && typeof value === 'object' && value !== null) {
    const chosen = chosenOf(outline.union, value);
    if (chosen === undefined) return false;
    visit(chosen, value, path);
    return true;
  }
  return false;
}

/** Lists and texts that exceed the length in their schema; their content is not examined. */
function tooLong(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[], faults: Fault[]): void {
  if (faults.length >= FAULTS_MAXIMUM) return;
  const outline = outlineOf(schema);
  if (typeof value === 'string' && outline.kind === 'text') {
    const message = sentenceOfLength(schema, value);
    if (message !== undefined) faults.push({ path, message });
  } else if (Array.isArray(value) && outline.kind === 'list') {
    const { element } = outline;
    const message = sentenceOfLength(schema, value);
    if (message !== undefined) faults.push({ path, message });
    else for (const [at, item] of value.entries()) tooLong(element, item, [...path, at], faults);
  } else visitParts(outline, value, path, (part, of, where) => tooLong(part, of, where, faults));
}

/** Faults of a value, found one list entry after the other, until there are enough. */
function faultsOf(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[], faults: Fault[]): void {
  if (faults.length >= FAULTS_MAXIMUM) return;
  if (holdsLists(schema)) {
    const outline = outlineOf(schema);
    if (outline.kind === 'list' && Array.isArray(value)) {
      for (const [at, item] of value.entries()) {
        if (faults.length >= FAULTS_MAXIMUM) return;
        faultsOf(outline.element, item, [...path, at], faults);
      }
      return;
    }
    if (visitParts(outline, value, path, (part, of, where) => faultsOf(part, of, where, faults))) return;
  }
  for (const issue of z.safeParse(schema, value).error?.issues ?? [])
    faults.push({ path: [...path, ...issue.path], message: issue.message });
}

/** The faults of a large body: invalid lengths first, then its entries one by one. */
function faultsOfLarge(schema: z.core.$ZodType, value: object): Fault[] {
  const faults: Fault[] = [];
  tooLong(schema, value, [], faults);
  if (faults.length === 0) faultsOf(schema, value, [], faults);
  return faults.slice(0, FAULTS_MAXIMUM);
}

/** The faults that `examineLarge` found in bodies. */
const examined = new WeakMap<object, readonly Fault[]>();

/** Whether a body was parsed from a large text, or is the validated form of such a body. */
export function isLarge(body: unknown): body is object {
  return typeof body === 'object' && body !== null && large.has(body);
}

/** Finds the faults of a large body before `readBounded`, which takes as long again: the caller may let other requests run in between. */
export function examineLarge(schema: z.core.$ZodType, body: object): void {
  examined.set(body, faultsOfLarge(schema, body));
}

/**
 * Validates a value by its schema, in time bounded by the value's size, whatever its faults: first the lengths of lists and texts, then entries until there are enough
 * faults, and last the schema as a whole.
 */
export function readBounded<S extends z.core.$ZodType>(schema: S, value: unknown): Read<z.core.output<S>> {
  if (isLarge(value)) {
    const faults = examined.get(value) ?? faultsOfLarge(schema, value);
    if (faults.length > 0) return { ok: false, faults };
  }
  const read = z.safeParse(schema, value);
  if (!read.success) return { ok: false, faults: read.error.issues.slice(0, FAULTS_MAXIMUM) };
  if (isLarge(value) && typeof read.data === 'object' && read.data !== null) large.add(read.data);
  return { ok: true, value: read.data };
}
