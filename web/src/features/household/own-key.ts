/** The alphabet of keys: lower-case base32 (RFC 4648 section 6). */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const KEY_LETTERS = 26;

/**
 * This browser's own key to a person's page. Guardians know the key in the address, so names that they may not see are shown only with this one.
 * Undefined without storage.
 */
export function ownKeyOf(key: string): string | undefined {
  const name = `palisade.ask.${key}`;
  try {
    const kept = localStorage.getItem(name);
    if (kept !== null) return kept;
    const random = [...crypto.getRandomValues(new Uint8Array(KEY_LETTERS))];
    const own = random.map((byte) => LETTERS[byte % LETTERS.length]).join('');
    localStorage.setItem(name, own);
    return own;
  } catch {
    return undefined;
  }
}
