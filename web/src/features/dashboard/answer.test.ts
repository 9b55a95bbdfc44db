import { describe, expect, it } from 'vitest';
import { dashboardOf, scanOf } from '#api/fake-records.ts';
import { answerOf } from './answer.ts';

const clean = () => scanOf();
const infected = () => scanOf({ scan_status: 'infected' });
const pending = () => scanOf({ scan_status: 'pending', status_detail: 'encrypted' });

describe('the answer', () => {
  it.each([
    ['nothing was scanned', [], 'none', 'No file has been scanned yet.'],
    ['all is clean', [clean(), clean()], 'good', 'Nothing dangerous was found.'],
    ['one file is infected', [clean(), infected()], 'good', '1 infected file was found and quarantined or removed.'],
    ['several are', [infected(), infected()], 'good', '2 infected files were found and quarantined or removed.'],
    ['a file was not read whole', [pending(), clean()], 'waiting', 'Nothing dangerous was found in what was read.'],
    ['no file was read whole', [pending()], 'waiting', 'No file has been fully read yet.'],
    [
      'one is infected and one was not read',
      [pending(), infected()],
      'waiting',
      '1 infected file was found and quarantined or removed.',
    ],
  ])('when %s', (_, recent_scans, tone, sentence) => {
    expect(answerOf(dashboardOf({ recent_scans }), false)).toMatchObject({ tone, sentence });
  });

  it('says what is left to do: the original, what was not read, or a file that lies open', () => {
    const status = dashboardOf({ recent_scans: [infected(), pending()] });
    expect(answerOf(status, false).detail).toBe('Delete the original on your own device. 1 file was not fully read yet.');
    expect(answerOf({ ...status, measured: { ...status.measured, infected_in_the_open: true } }, false)).toEqual({
      tone: 'danger',
      sentence: 'An infected file is still on the server.',
      detail: 'We couldn’t quarantine or remove it. Tell support. 1 file was not fully read yet.',
    });
  });

  it('does not frighten over the harmless files that programs like this one are tried out with', () => {
    const status = dashboardOf({ recent_scans: [infected(), infected()] });
    const answer = (test_files_found: number, more = {}) =>
      answerOf({ ...status, measured: { ...status.measured, test_files_found, ...more } }, false);
    expect(answer(2)).toEqual({
      tone: 'good',
      sentence: '2 harmless test files were found and quarantined or removed.',
      detail: 'You don’t need to do anything. Test files only check that a scanner works.',
    });
    expect(answer(1)).toMatchObject({
      sentence: '2 infected files were found and quarantined or removed.',
      detail: 'Delete the originals on your own device. 1 of them is a harmless test file.',
    });
    expect(answer(2, { infected_in_the_open: true })).toMatchObject({ tone: 'waiting' });
  });

  // proves: product-1.3-5
  it('is not teal while anything needs the person, though no file does', () => {
    const reason = {
      id: 'no_two_factor',
      title: 'Only a password protects your sign-in',
      deduction: 0,
      gain: 0,
      fix_route: '/',
    };
    const status = dashboardOf({ recent_scans: [clean()] });
    expect(answerOf(status, false).tone).toBe('good');
    expect(answerOf({ ...status, score_breakdown: [reason] }, false)).toMatchObject({
      tone: 'waiting',
      sentence: 'Nothing dangerous was found.',
    });
    const empty = dashboardOf({ recent_scans: [] });
    expect(answerOf({ ...empty, score_breakdown: [reason] }, false)).toMatchObject({
      tone: 'waiting',
      sentence: 'No file has been scanned yet.',
    });
  });

  it('claims nothing before the status is there, or when it could not be read', () => {
    expect(answerOf(undefined, false).tone).toBe('unknown');
    expect(answerOf(undefined, true).sentence).toBe('Your security status could not be read.');
  });
});
