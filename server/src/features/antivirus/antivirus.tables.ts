import type { ScanStatus, StatusDetail } from '@palisade/contract/antivirus';
import type { ReportStatus } from '@palisade/contract/quarantine';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface AntivirusTables {
  scans: {
    id: string;
    user_id: string;
    filename: string;
    scan_status: ScanStatus;
    status_detail: StatusDetail | null;
    scanned_at: string;
    threat_detected: string | null;
    threat_member: string | null;
    file_hash: string;
    size: number;
    media_type: string | null;
    first_seen_at: string;
    /** JSON. */
    threat_facts: string | null;
    /** JSON. */
    notes: string;
    /** The notes as phrases, in their order; null in rows from before. */
    note_phrases: string | null;
    engines: string;
    coverage: string | null;
    /** 1 while the uploaded bytes wait in the spool for an engine. */
    spooled: number;
    attempts: number;
    /** Number of engine crashes (of edition `engine_deaths_edition`) while reading these bytes. */
    engine_deaths: number;
    engine_deaths_edition: string | null;
    /** Readings that were cut off by the end of their server, since the last completed one. */
    unended_readings: number;
    /** 1 while the bytes are kept encrypted. */
    sealed: number;
    /** The data folder with the bytes while they are `spooled` or `sealed`: only the server that runs on it may read or remove them. */
    home: string | null;
    /** 1 while the sealed bytes are in the shared store, set before the record exists: every server with the store may read them. */
    in_store: number;
    /** Checksum of the sealed bytes; null for files sealed before it was recorded. */
    sealed_sha256: string | null;
    /** Time at which kept bytes are removed. */
    kept_until: string | null;
    /** The engine edition of the verdict; null if the verdict may not be reused. */
    edition: string | null;
    /** The time of the original reading, if the verdict was reused from an earlier upload. */
    answered_from: string | null;
    /** The device that found the file in place, its name at that time, and the path. Such a file was never uploaded. */
    device_id: string | null;
    device_name: string | null;
    device_path: string | null;
    /** When the infection ended, and who ended it; null while it is open, and for files that are not infected. */
    closed_at: string | null;
    closed_by: 'person' | 'agent' | 'upgrade' | null;
  };
  /** The number of each person's records. Written only by database triggers (server/migrations/baseline/scan-counts.ts), in the transaction of each change of `scans`. */
  scan_counts: {
    user_id: string;
    clean: number;
    infected: number;
    pending: number;
    /** Number of the infected ones that are the industry's test files. */
    test_files: number;
  };
  quarantine_reports: {
    id: string;
    scan_id: string;
    user_id: string;
    reason: string;
    status: ReportStatus;
    reported_at: string;
    decided_at: string | null;
  };
}

export const ANTIVIRUS_PERSONAL: readonly PersonalTable[] = [
  { table: 'scans', json: ['notes', 'note_phrases', 'engines', 'coverage', 'threat_facts'] },
  { table: 'scan_counts', key: 'user_id' },
  { table: 'quarantine_reports' },
];

declare module '#platform/tables.ts' {
  interface Tables extends AntivirusTables {}
}
