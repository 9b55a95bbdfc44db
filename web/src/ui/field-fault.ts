import { emailFault } from '@palisade/contract/email';

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** The error of a field as an instruction; undefined if valid. The browser's own message may be in another language than the page, and does not handle pasted addresses. */
export function faultOf({ validity, type, value }: Field): string | undefined {
  if (validity.valueMissing) return 'Fill in this field to continue.';
  if (type === 'email') return value === '' ? undefined : emailFault(value);
  return validity.valid ? undefined : 'Check this field and try again.';
}
