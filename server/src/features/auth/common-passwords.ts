import { PASSWORD_LENGTH } from '@palisade/contract/auth';
import { dictionary } from '@zxcvbn-ts/language-common';

let common: ReadonlySet<string> | undefined;

/**
 * Whether a password is one of those that attackers try first, in any case of its letters (OWASP ASVS 5, 6.2.4; NIST SP 800-63B, 5.1.1.2). The list is that
 * of the strength meter: the passwords that leaked most often.
 */
export function isCommonPassword(password: string): boolean {
  common ??= new Set(
    (dictionary['passwords-common'] ?? [])
      .map((entry) => String(entry))
      .filter((entry) => entry.length >= PASSWORD_LENGTH.minimum),
  );
  return common.has(password.toLowerCase());
}
