import { fileURLToPath } from 'node:url';

/** The rule pack, which the server ships. */
export const SIGNATURES_FOLDER = fileURLToPath(new URL('../../server/signatures', import.meta.url));
