import { ALERT_PHRASES } from './alert-phrases.ts';
import { SCAN_PHRASES } from './scan-phrases.ts';

/** Every sentence that has a code, by what says it. For the server and for translators: pages read what they are told, and do without these words in their files. */
export const PHRASES = { alerts: ALERT_PHRASES, scan_notes: SCAN_PHRASES } as const;
