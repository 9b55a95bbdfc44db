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
    ['one file is infected', [clean(), infected()], 'danger', '1 file is infected.'],
    ['several are', [infected(), infected()], 'danger', '2 files are infected.'],
    ['a file was not read whole', [pending(), clean()], 'waiting', 'Nothing dangerous was found in what was read.'],
    ['no file was read whole', [pending()], 'waiting', 'No file has been fully read yet.'],
    ['one is infected and one was not read', [pending(), infected()], 'danger', '1 file is infected.'],
  ])('when %s', (_, recent_scans, tone, sentence) => {
    expect(answerOf(dashboardOf({ recent_scans }).measured, false)).toMatchObject({ tone, sentence });
  });

  it('claims nothing before the status is there, or when it could not be read', () => {
    expect(answerOf(undefined, false).tone).toBe('unknown');
    expect(answerOf(undefined, true).sentence).toBe('Your security status could not be read.');
  });
});
