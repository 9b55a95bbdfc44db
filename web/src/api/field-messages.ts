import { CallError, sentenceOf } from './call.ts';

/** The sentence of each field that the server refused, by the field's name on the wire. */
export function fieldMessagesOf(error: unknown): Record<string, string> {
  const errors = error instanceof CallError ? (error.problem?.errors ?? []) : [];
  return Object.fromEntries(errors.map(({ field, message }) => [field, message]));
}

/** The message at the only field of a form: its own sentence, or that of the whole refusal. */
export function messageAt(field: string, error: Error | null): string | null {
  return error && (fieldMessagesOf(error)[field] ?? sentenceOf(error));
}
