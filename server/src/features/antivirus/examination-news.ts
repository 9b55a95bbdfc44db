import type { Scan } from '@palisade/contract/antivirus';
import type { Copy, ScanRow as Row } from './scan-row.ts';

/** A file in which something was found. */
export interface InfectedFile {
  user_id: string;
  scan: Scan;
  /** One of the industry's harmless test files. */
  is_test_file: boolean;
  /** The state of the stored bytes, as verified. */
  copy: Copy;
  /** Perhaps for the second time: the server has started, and an earlier run may have ended before its report. */
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
  /** An engine has read a file. `size` in bytes. */
  read(file: { size: number; ms: number }): void;
  /** A file got a verdict, by a reading or without one. */
  verdict(status: Row['scan_status']): void;
}

/** The caller that waits for a scan, and may end it: the page's key for the file, and the signal of a cancelled upload. */
export interface Waiter {
  key: string | undefined;
  signal: AbortSignal;
}

/** Receives changed and removed records. */
export interface RecordNews {
  changed(row: Row): void;
  removed(row: Pick<Row, 'id' | 'user_id'>): void;
}
