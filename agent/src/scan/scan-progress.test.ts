import { describe, expect, it } from 'vitest';
import { afterCount, afterFile, afterSeen, atEnd, EMPTY_TALLY, shownProgress, withEstimate } from './scan-progress.ts';

const seen = (files: number) =>
  Array.from({ length: files }).reduce((tally: typeof EMPTY_TALLY) => afterSeen(tally), EMPTY_TALLY);

describe('the counts of a scan', () => {
  it('count each outcome once, and bytes only of files that were read', () => {
    const outcomes = ['read', 'read', 'known', 'pending', 'gone'] as const;
    const tally = outcomes.reduce((before, outcome) => afterFile(before, outcome, 10), seen(5));
    expect(tally.progress).toMatchObject({ files_read: 2, files_known: 1, files_pending: 1, bytes_read: 20 });
    expect(tally.files_seen).toBe(4);
    expect(atEnd(tally).progress).toMatchObject({ files_total: 4, is_counted: true, seconds_left: 0, path: null });
  });

  it('estimate the remaining time only after all files were counted', () => {
    const tally = { ...seen(10), files_counted: 40 };
    expect(withEstimate(tally, 5_000).progress).toMatchObject({ files_total: 40, seconds_left: null });
    expect(withEstimate(afterCount(tally, true), 5_000).progress).toMatchObject({ files_total: 40, seconds_left: 15 });
    expect(withEstimate(afterCount(tally, false), 5_000).progress.seconds_left).toBeNull();
  });

  it('show the checkpoint until the run has got as far again', () => {
    const { progress } = EMPTY_TALLY;
    const checkpoint = { ...progress, files_read: 5, files_total: 8, bytes_per_second: 7 };
    expect(shownProgress({ ...progress, files_known: 4, files_total: 9 }, checkpoint)).toMatchObject({
      files_read: 5,
      files_known: 0,
      files_total: 9,
      bytes_per_second: 0,
    });
    expect(shownProgress({ ...progress, files_known: 5 }, checkpoint)).toMatchObject({ files_read: 0, files_known: 5 });
  });
});
