import type { Severity } from '@palisade/contract/anti-hacking';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface AlertTables {
  alerts: {
    id: string;
    user_id: string;
    threat_type: string;
    severity: Severity;
    description: string;
    created_at: string;
    /** 0 or 1, as `simulated`. */
    blocked: number;
    ip_address: string | null;
    simulated: number;
    /** What happened once is told once, however often it is reported. */
    dedupe_key: string;
  };
}

export const ALERT_PERSONAL: readonly PersonalTable[] = [{ table: 'alerts' }];
