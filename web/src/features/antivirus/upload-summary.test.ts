import { describe, expect, it } from 'vitest';
import { scanOf } from '#api/fake-records.ts';
import type { Upload, UploadState } from './upload-state.ts';
import { byUrgency, describeSummary, describeTimeLeft, summaryOf } from './upload-summary.ts';

let lastId = 0;
const MEGABYTE = 1024 ** 2;

function uploadOf(state: UploadState, size = MEGABYTE, batch = 1): Upload {
  const file = new File([], 'a.bin');
  Object.defineProperty(file, 'size', { value: size });
  lastId += 1;
  return { id: lastId, key: String(lastId), file, batch, added_at: 0, state };
}

const done = (parts: Parameters<typeof scanOf>[0] = {}) => uploadOf({ phase: 'done', scan: scanOf(parts) });

describe('the summary of many files', () => {
  it('counts each result once, test files apart from infected ones', () => {
    const uploads = [
      ...Array.from({ length: 59 }, () => done()),
      done({ scan_status: 'infected' }),
      done({ scan_status: 'infected', is_test_file: true }),
      done({ scan_status: 'pending' }),
      uploadOf({ phase: 'failed', sentence: '', is_final: false }),
      uploadOf({ phase: 'cancelled' }),
    ];
    const summary = summaryOf(uploads, 0);
    expect(describeSummary(summary)).toBe('59 clean, 1 infected, 1 harmless test file, 1 pending, 1 not scanned, 1 cancelled');
    expect(summary.ended).toBe(summary.total);
    expect(summary.share).toBe(1);
  });

  it('weighs progress by size', () => {
    const uploads = [done(), uploadOf({ phase: 'waiting' }, 9 * MEGABYTE)];
    expect(summaryOf(uploads, 0).share).toBeCloseTo(1.25 / (1.25 + 9.25));
  });

  it('counts half of a sent file, and the scanner’s share of the other half', () => {
    const reading = { stage: 'reading', engine: 'YARA-X', share: 0.5, members_read: 0, members_found: 0 } as const;
    expect(summaryOf([uploadOf({ phase: 'sending', share: 1 })], 0).share).toBe(0.5);
    expect(summaryOf([uploadOf({ phase: 'scanning', progress: reading })], 0).share).toBe(0.75);
  });

  it('guesses the time left from the time spent, not at once', () => {
    const uploads = [done(), uploadOf({ phase: 'waiting' })];
    expect(summaryOf(uploads, 1_000).ms_left).toBeUndefined();
    expect(summaryOf(uploads, 60_000).ms_left).toBe(60_000);
    expect(summaryOf([uploadOf({ phase: 'waiting' })], 60_000).ms_left).toBeUndefined();
  });

  it('leaves an earlier failure out of the progress', () => {
    const failed = uploadOf({ phase: 'failed', sentence: '', is_final: false }, MEGABYTE, 1);
    const summary = summaryOf([failed, uploadOf({ phase: 'waiting' }, MEGABYTE, 2)], 0);
    expect(summary.share).toBe(0);
    expect(summary.failed).toBe(1);
  });
});

it.each([
  [5_000, 'Less than a minute left.'],
  [60_000, 'About 1 minute left.'],
  [200_000, 'About 3 minutes left.'],
  [3 * 3_600_000, 'About 3 hours left.'],
])('says %i ms as "%s"', (ms, words) => expect(describeTimeLeft(ms)).toBe(words));

it('sorts infected files first, then harmless test files, pending and clean ones', () => {
  const scans = [
    scanOf({ filename: 'clean' }),
    scanOf({ filename: 'pending', scan_status: 'pending' }),
    scanOf({ filename: 'test', scan_status: 'infected', is_test_file: true }),
    scanOf({ filename: 'infected', scan_status: 'infected' }),
  ];
  expect(scans.toSorted(byUrgency).map(({ filename }) => filename)).toEqual(['infected', 'test', 'pending', 'clean']);
});
