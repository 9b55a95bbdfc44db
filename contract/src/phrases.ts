import { ALERT_PHRASES } from './alert-phrases.ts';
import { SCAN_PHRASES } from './scan-phrases.ts';

/** All phrase catalogs of the contract. The server adds those of its refusals, the security check and the chat. Only the server and translators use them: pages show the received English and do not load them. */
export const PHRASES = { alerts: ALERT_PHRASES, scan_notes: SCAN_PHRASES } as const;
