import type { z } from 'zod';

/**
 * What is shown for a word that this page does not know, because the server is newer: of the words that it knows in that place the first of these, which are
 * the ones that promise least. A file is then not called clean, an alert not over, a check not passed.
 */
const PROMISING_LEAST: readonly unknown[] = [
  'other',
  'unknown',
  'pending',
  'open',
  'high',
  'issues_found',
  'waiting',
  'down',
  'customer',
  'public',
  'expired',
  'cancelled',
  'server',
  'monitor',
  'internal',
  // A rule is shown as one that lets in whatever it may be about.
  'all',
  'inbound',
  'allow',
  'support',
  'accepted_risk',
  'requests',
  'source',
  'wrong_passwords',
  'no_entry',
  'alarm',
  'yara',
  'there',
  'low',
  'recovery_code',
];
/** Fields that may be empty: of a reason that has no words here nothing is said. */
const MAY_BE_EMPTY: readonly unknown[] = ['status_detail', 'end_reason'];
/** So many unknown words are replaced in one answer. */
const REPLACED_MAXIMUM = 2_000;

type Issue = z.core.$ZodIssue;

function replacementFor({ path, code, ...issue }: Issue): unknown {
  if (code !== 'invalid_value' || !('values' in issue)) return undefined;
  if (MAY_BE_EMPTY.includes(path.at(-1))) return null;
  return PROMISING_LEAST.find((word) => issue.values.some((known) => known === word));
}

/** Puts `value` at a place of an answer that was read from JSON. */
function put(answer: unknown, path: readonly PropertyKey[], value: unknown): void {
  const [key, ...rest] = path;
  if (typeof answer !== 'object' || answer === null || key === undefined) return;
  if (rest.length > 0) put(Reflect.get(answer, key), rest, value);
  else Reflect.set(answer, key, value);
}

/** Reads an answer by its schema; words that the schema does not know are replaced first where there is one to stand for them. Undefined for what cannot be read. */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, answer: unknown): { data: z.output<Schema> } | undefined {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed;
  const { issues } = parsed.error;
  if (issues.length > REPLACED_MAXIMUM) return undefined;
  for (const issue of issues) {
    const value = replacementFor(issue);
    if (value === undefined || typeof Reflect.get(Object(placeOf(answer, issue.path)), issue.path.at(-1) ?? '') !== 'string')
      return undefined;
    put(answer, issue.path, value);
  }
  const again = schema.safeParse(answer);
  return again.success ? again : undefined;
}

function placeOf(answer: unknown, path: readonly PropertyKey[]): unknown {
  return path
    .slice(0, -1)
    .reduce<unknown>((place, key) => (place === undefined ? undefined : Reflect.get(Object(place), key)), answer);
}
