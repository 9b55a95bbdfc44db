const BROWSER_KEY = 'palisade.browser_id';
/** Previous storage key of the browser's id. */
const FORMER_KEY = 'palisade.device_id';

/** A random UUID (RFC 9562 section 5.4). Not crypto.randomUUID, which exists only on secure origins. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}

/** The id that recognises this browser at the next sign-in; it survives signing out. Undefined without storage. */
export function browserId(): string | undefined {
  try {
    const kept = localStorage.getItem(BROWSER_KEY);
    if (kept !== null) return kept;
    const id = localStorage.getItem(FORMER_KEY) ?? randomUuid();
    localStorage.setItem(BROWSER_KEY, id);
    localStorage.removeItem(FORMER_KEY);
    return id;
  } catch {
    return undefined;
  }
}
