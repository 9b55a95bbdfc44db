import type { Scan } from '@palisade/contract/antivirus';
import type { ScanProgress } from '@palisade/contract/events';
import { formatList, formatNumber, formatSpan, plural } from '@palisade/contract/intl';
import { hasFailed } from './upload-queue.ts';
import { isEnded, type Upload, type UploadState } from './upload-state.ts';

/** Fixed cost of a file in bytes, for request and record: sixty small files take longer than one file of their total size. */
const COST_OF_A_FILE = 256 * 1024;
/** Share of a file's time that sending takes; scanning takes the rest. */
const SENDING = 0.5;
/** Progress and time in ms that the estimate of the remaining time requires. */
const GUESS_FROM = { share: 0.03, ms: 3_000 } as const;

export interface UploadSummary {
  total: number;
  ended: number;
  clean: number;
  /** Test files are not included. */
  infected: number;
  test_files: number;
  /** Files with a record that are not fully checked. */
  pending: number;
  /** Files without a record because of a failure. */
  failed: number;
  cancelled: number;
  /** Progress of all files, from 0 to 1. */
  share: number;
  /** Remaining time in ms; undefined while it cannot be estimated. */
  ms_left: number | undefined;
}

/** Progress of the scanner within a file, from 0 to 1; undefined if unknown. */
export function shareOf(progress: ScanProgress | undefined): number | undefined {
  if (progress?.stage !== 'reading') return undefined;
  const { share, members_found, members_read } = progress;
  if (members_found > 0) return members_read > 0 ? members_read / members_found : undefined;
  return share < 1 ? share : undefined;
}

function shareDone(state: UploadState): number {
  if (state.phase === 'waiting') return 0;
  if (state.phase === 'sending') return SENDING * state.share;
  if (state.phase === 'scanning') return SENDING + (1 - SENDING) * (shareOf(state.progress) ?? 0);
  return 1;
}

/** The scan of a finished upload; otherwise undefined. */
export function scanOfUpload({ state }: Upload): Scan | undefined {
  return state.phase === 'done' ? state.scan : undefined;
}

/** Whether a finished upload is infected and not a harmless test file. */
export function isInfected(upload: Upload): boolean {
  const scan = scanOfUpload(upload);
  return scan?.scan_status === 'infected' && !scan.is_test_file;
}

/** Figures of all files of a batch. `now` in ms. */
export function summaryOf(uploads: readonly Upload[], now: number): UploadSummary {
  const count = (is: (upload: Upload) => boolean) => uploads.filter(is).length;
  const has = (status: Scan['scan_status'], is_test_file = false) =>
    count((upload) => {
      const scan = scanOfUpload(upload);
      return scan?.scan_status === status && (status !== 'infected' || scan.is_test_file === is_test_file);
    });
  const latest = uploads.at(-1)?.batch;
  const batch = uploads.filter((upload) => upload.batch === latest);
  let whole = 0;
  let done = 0;
  for (const { file, state } of batch) {
    const weight = file.size + COST_OF_A_FILE;
    whole += weight;
    done += weight * shareDone(state);
  }
  const share = whole === 0 ? 1 : done / whole;
  const spent = now - (batch[0]?.added_at ?? now);
  const isGuess = share >= GUESS_FROM.share && share < 1 && spent >= GUESS_FROM.ms;
  return {
    total: uploads.length,
    ended: count(isEnded),
    clean: has('clean'),
    infected: has('infected'),
    test_files: has('infected', true),
    pending: has('pending'),
    failed: count(hasFailed),
    cancelled: count(({ state }) => state.phase === 'cancelled'),
    share,
    ms_left: isGuess ? (spent * (1 - share)) / share : undefined,
  };
}

/** The results in a few words, good ones first: "59 clean, 1 infected". Empty before the first. */
export function describeSummary({ clean, infected, test_files, pending, failed, cancelled }: UploadSummary): string {
  const tests = plural(test_files, {
    one: '1 harmless test file',
    other: `${formatNumber(test_files)} harmless test files`,
  });
  return formatList(
    [
      ...(clean > 0 ? [`${formatNumber(clean)} clean`] : []),
      ...(infected > 0 ? [`${formatNumber(infected)} infected`] : []),
      ...(test_files > 0 ? [tests] : []),
      ...(pending > 0 ? [`${formatNumber(pending)} pending`] : []),
      ...(failed > 0 ? [`${formatNumber(failed)} not scanned`] : []),
      ...(cancelled > 0 ? [`${formatNumber(cancelled)} cancelled`] : []),
    ],
    'plain',
  );
}

/** The result of a single file: "clean", "not scanned". Empty while it is unknown. */
export function describeResult({ clean, infected, test_files, pending, failed, cancelled }: UploadSummary): string {
  if (infected > 0) return 'infected';
  if (test_files > 0) return 'harmless test file';
  if (failed > 0) return 'not scanned';
  if (pending > 0) return 'pending';
  if (cancelled > 0) return 'cancelled';
  return clean > 0 ? 'clean' : '';
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** "About 3 minutes left." */
export function describeTimeLeft(ms: number): string {
  if (ms < MINUTE) return 'Less than a minute left.';
  if (ms < 90 * MINUTE) return `About ${formatSpan(Math.round(ms / MINUTE), 'minute')} left.`;
  return `About ${formatSpan(Math.round(ms / HOUR), 'hour')} left.`;
}

const RANKS = { infected: 0, pending: 1, clean: 2 } as const satisfies Record<Scan['scan_status'], number>;

/** Infected files first, then pending, then clean ones; newest first within each. */
export function byUrgency(one: Scan, other: Scan): number {
  const rank = (scan: Scan) => RANKS[scan.scan_status] + (scan.is_test_file ? 0.5 : 0);
  return rank(one) - rank(other) || (one.id < other.id ? 1 : -1);
}
