/** Business constants of the specification, and limits that server, pages and agent share. */

/** The version that the layout shows. */
export const VERSION = '3.7.9';

/** Number of characters of a scan's SHA-256 that screens show. */
export const HASH_PREFIX_LENGTH = 8;

/** Rows of a list without `?limit=`, and the maximum of `?limit=`. */
export const PAGE_SIZE_DEFAULT = 200;
export const PAGE_SIZE_MAXIMUM = 500;

/** Largest JSON body in bytes. */
export const JSON_BODY_MAXIMUM = 256 * 1024;

/** The names that the rule pack gives the industry's harmless test files (family `industry-test`). */
export const TEST_FILE_THREATS: readonly string[] = [
  'EICAR-Test-File',
  'GTUBE-Test-Mail',
  'GTUBE-Test-Mail.Rspamd',
  'AMSI-Test-Sample',
  'ClamAV-Test-File',
];
