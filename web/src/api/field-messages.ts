import { CallError, sentenceOf } from './call.ts';

/** Sentences of refused fields, by the field's name in the contract. */
export function fieldMessagesOf(error: unknown): Record<string, string> {
  const errors = error instanceof CallError ? (error.problem?.errors ?? []) : [];
  return Object.fromEntries(errors.map(({ field, message }) => [field, message]));
}

/** The message for the only field of a form: its own sentence, or that of the error. */
export function messageAt(field: string, error: Error | null): string | null {
  return error && (fieldMessagesOf(error)[field] ?? sentenceOf(error));
}
