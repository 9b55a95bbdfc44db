import { newScan, type ScanRow } from '#features/antivirus/scan-row.ts';
import { newId } from '#platform/id.ts';

/** The record of a person's file without kept bytes, of which a test says what it is about. */
export function scanOf(user_id: string, scanned_at: string, parts: Partial<ScanRow> = {}): ScanRow {
  const id = parts.id ?? newId();
  return { ...newScan({ id, user_id, filename: 'a.exe', file_hash: id, size: 1, scanned_at }), ...parts };
}
