import type { FindingTables } from '#platform/incident.ts';
import type { PersonalTable } from '#platform/personal-data.ts';

export const DETECTION_PERSONAL: readonly PersonalTable[] = [{ table: 'known_browsers' }];

export interface DetectionTables extends FindingTables {
  detection_windows: {
    rule: string;
    key: string;
    /** JSON; empty without counts. */
    state: string;
    updated_at: string;
    expires_at: string;
  };
  known_browsers: {
    id: string;
    user_id: string;
    /** Empty for a browser that stores no identifier. */
    browser_id: string;
    client: string;
    source: string;
    first_seen: string;
    last_seen: string;
    trusted_at: string | null;
    /** 0 or 1. */
    reviewed: number;
  };
}

declare module '#platform/tables.ts' {
  interface Tables extends DetectionTables {}
}
