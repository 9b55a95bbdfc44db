import { CallError } from './call.ts';

/** The sentence of each field that the server refused, by the field's name on the wire. */
export function fieldMessagesOf(error: unknown): Record<string, string> {
  const errors = error instanceof CallError ? (error.problem?.errors ?? []) : [];
  return Object.fromEntries(errors.map(({ field, message }) => [field, message]));
}
