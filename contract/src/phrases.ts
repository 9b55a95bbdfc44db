import { ALERT_PHRASES } from './alert-phrases.ts';
import { SCAN_PHRASES } from './scan-phrases.ts';

/** Sentences of the contract that have a code, by what says them. The server adds those of its refusals, of the security check and of the chat. For the server and for translators: pages read what they are told, and do without these words in their files. */
export const PHRASES = { alerts: ALERT_PHRASES, scan_notes: SCAN_PHRASES } as const;
