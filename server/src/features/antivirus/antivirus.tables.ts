import type { ScanStatus, StatusDetail } from '@palisade/contract/antivirus';

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
    engines: string;
    coverage: string | null;
    /** 1 while the uploaded bytes wait in the spool for an engine. */
    spooled: number;
    attempts: number;
  };
}
