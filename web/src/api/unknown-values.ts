import { readerOf } from '@palisade/contract/reader';
import { wordPromisingLeast } from '@palisade/contract/reader-words';
import { z } from 'zod';

/** Fields that become null if their value is unknown, because no sentence exists for it. */
const MAY_BE_EMPTY: readonly unknown[] = ['status_detail', 'end_reason'];
/** Maximum number of replaced values in one reply. */
const REPLACED_MAXIMUM = 2_000;

type Issue = z.core.$ZodIssue;

function replacementFor({ path, code, ...issue }: Issue): unknown {
  if (code !== 'invalid_value' || !('values' in issue)) return undefined;
  if (MAY_BE_EMPTY.includes(path.at(-1))) return null;
  return wordPromisingLeast(issue.values);
}

/** Sets the value at a path of a parsed JSON reply. */
function put(answer: unknown, path: readonly PropertyKey[], value: unknown): void {
  const [key, ...rest] = path;
  if (typeof answer !== 'object' || answer === null || key === undefined) return;
  if (rest.length > 0) put(Reflect.get(answer, key), rest, value);
  else Reflect.set(answer, key, value);
}

/**
 * Parses a reply by its schema. Replies of other servers are parsed by the derived reader (`readerOf`), which gives defaults to fields outside the specification.
 * Unknown enum values are replaced if a substitute exists. Undefined if the reply cannot be parsed.
 */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, answer: unknown): { data: z.output<Schema> } | undefined {
  const exact = schema.safeParse(answer);
  if (exact.success) return exact;
  const reader = readerOf(schema);
  const parsed = reader.safeParse(answer);
  if (parsed.success) return asRead<Schema>(parsed.data);
  const { issues } = parsed.error;
  if (issues.length > REPLACED_MAXIMUM) return undefined;
  for (const issue of issues) {
    const value = replacementFor(issue);
    if (value === undefined || typeof Reflect.get(Object(placeOf(answer, issue.path)), issue.path.at(-1) ?? '') !== 'string')
      return undefined;
    put(answer, issue.path, value);
  }
  const again = reader.safeParse(answer);
  return again.success ? asRead<Schema>(again.data) : undefined;
}

/** The type of a derived reader's result is that of its schema. */
const asRead = <Schema extends z.ZodType>(data: unknown) => ({ data: z.custom<z.output<Schema>>().parse(data) });

function placeOf(answer: unknown, path: readonly PropertyKey[]): unknown {
  return path
    .slice(0, -1)
    .reduce<unknown>((place, key) => (place === undefined ? undefined : Reflect.get(Object(place), key)), answer);
}
