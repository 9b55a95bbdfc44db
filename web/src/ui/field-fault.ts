import { emailFault } from '@palisade/contract/email';

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** The fault of a field, as an instruction; undefined where there is none. A browser's own sentence is in another language than the page, and it knows no pasted address. */
export function faultOf({ validity, type, value }: Field): string | undefined {
  if (validity.valueMissing) return 'Fill in this field to continue.';
  if (type === 'email') return value === '' ? undefined : emailFault(value);
  return validity.valid ? undefined : 'Check this field and try again.';
}
