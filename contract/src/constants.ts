/** The specification's business constants and the limits that the wire shares with every side. */

/** The version label of the layout. */
export const VERSION = '3.7.9';

/** Characters of a scan's SHA-256 that the screens show. */
export const HASH_PREFIX_LENGTH = 8;

/** List endpoints: rows answered without `?limit=`, and the most that `?limit=` may ask for. */
export const PAGE_SIZE_DEFAULT = 200;
export const PAGE_SIZE_MAXIMUM = 500;

/** Largest JSON body in bytes. */
export const JSON_BODY_MAXIMUM = 256 * 1024;

/** The industry's harmless test files by the names that the rule pack gives them (family `industry-test`). */
export const TEST_FILE_THREATS: readonly string[] = [
  'EICAR-Test-File',
  'GTUBE-Test-Mail',
  'GTUBE-Test-Mail.Rspamd',
  'AMSI-Test-Sample',
  'ClamAV-Test-File',
];
