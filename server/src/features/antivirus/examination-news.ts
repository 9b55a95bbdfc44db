import type { Scan } from '@palisade/contract/antivirus';
import type { Copy, ScanRow as Row } from './scan-row.ts';

/** A file in which something was found. */
export interface InfectedFile {
  user_id: string;
  scan: Scan;
  /** One of the industry's harmless test files. */
  is_test_file: boolean;
  /** The verified state of the stored bytes. */
  copy: Copy;
  /** May be a repetition: the server has restarted, and an earlier run may have ended before its report. */
  told_again: boolean;
}

/** A file with an earlier finding that newer signatures no longer find. */
export interface ClearedFile {
  user_id: string;
  scan: Scan;
  /** The earlier finding. */
  threat: string;
}

/** Receives scan metrics. */
export interface ScanMeter {
  /** Called when an engine has read a file. `size` is in bytes. */
  read(file: { size: number; ms: number }): void;
  /** Called when a file got a verdict, with or without a reading. */
  verdict(status: Row['scan_status']): void;
}

/** The caller that waits for a scan and may cancel it: the page's key for the file, and the signal of the upload. */
export interface Waiter {
  key: string | undefined;
  signal: AbortSignal;
}

/** Receives changed and removed records. */
export interface RecordNews {
  changed(row: Row): void;
  removed(row: Pick<Row, 'id' | 'user_id'>): void;
}
