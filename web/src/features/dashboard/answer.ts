import type { DashboardStatus } from '@palisade/contract/dashboard';
import { formatNumber, plural } from '@palisade/contract/intl';
import { describeTestFiles } from '#ui/test-files.ts';

export interface Answer {
  tone: 'good' | 'danger' | 'waiting' | 'none' | 'unknown';
  sentence: string;
  detail: string;
}

/**
 * Summary of the scans in one sentence that claims no more than was measured: a file that was read only in part never counts as harmless,
 * and an infected file counts as danger until it is quarantined or deleted (docs/decisions/monitor.md).
 */
export function answerOf(status: Pick<DashboardStatus, 'measured' | 'score_breakdown'> | undefined, isUnknown: boolean): Answer {
  if (!status) {
    return isUnknown
      ? {
          tone: 'unknown',
          sentence: 'Your security status could not be read.',
          detail: 'Results appear when the server answers.',
        }
      : { tone: 'unknown', sentence: 'Reading your security status…', detail: '' };
  }
  const answer = answerOfFiles(status.measured);
  // Files are not the only check: teal means that no record needs the person.
  const isTeal = answer.tone === 'good' || answer.tone === 'none';
  return isTeal && status.score_breakdown.length > 0 ? { ...answer, tone: 'waiting' } : answer;
}

/** Whether the score says something about this account. A new account has 100 because nothing was checked: no file, rule or device, and no finding about the account. */
export function isScored({
  measured: { files_scanned, firewall_rules },
  devices,
  score_breakdown,
}: Pick<DashboardStatus, 'measured' | 'devices' | 'score_breakdown'>): boolean {
  return files_scanned > 0 || firewall_rules > 0 || devices !== null || score_breakdown.some(({ deduction }) => deduction > 0);
}

function answerOfFiles(measured: DashboardStatus['measured']): Answer {
  const { files_infected, test_files_found, infected_in_the_open, files_pending, files_scanned } = measured;
  const clean = files_scanned - files_infected - files_pending;
  const figures = { infected: formatNumber(files_infected), pending: formatNumber(files_pending), clean: formatNumber(clean) };
  const unread =
    files_pending > 0
      ? plural(files_pending, {
          one: '1 file was not fully read yet.',
          other: `${figures.pending} files were not fully read yet.`,
        })
      : '';
  const isOnlyTest = files_infected > 0 && files_infected === test_files_found;
  if (infected_in_the_open && isOnlyTest)
    return {
      tone: 'waiting',
      sentence: plural(files_infected, {
        one: '1 harmless test file is still on the server.',
        other: `${figures.infected} harmless test files are still on the server.`,
      }),
      detail: plural(files_infected, {
        one: `We couldn’t quarantine or remove it. Tell support. ${unread}`,
        other: `We couldn’t quarantine or remove them. Tell support. ${unread}`,
      }).trim(),
    };
  if (infected_in_the_open)
    return {
      tone: 'danger',
      sentence: 'An infected file is still on the server.',
      detail: `We couldn’t quarantine or remove it. Tell support. ${unread}`.trim(),
    };
  if (isOnlyTest)
    return {
      tone: files_pending > 0 ? 'waiting' : 'good',
      sentence: plural(files_infected, {
        one: '1 harmless test file was found and quarantined or removed.',
        other: `${figures.infected} harmless test files were found and quarantined or removed.`,
      }),
      detail: `You don’t need to do anything. Test files only check that a scanner works. ${unread}`.trim(),
    };
  if (files_infected > 0) {
    const tests = describeTestFiles(test_files_found);
    const parts = [
      plural(files_infected, {
        one: 'Delete the original on your own device.',
        other: 'Delete the originals on your own device.',
      }),
      tests && `${tests}.`,
      unread,
    ];
    return {
      tone: files_pending > 0 ? 'waiting' : 'good',
      sentence: plural(files_infected, {
        one: '1 infected file was found and quarantined or removed.',
        other: `${figures.infected} infected files were found and quarantined or removed.`,
      }),
      detail: parts.filter(Boolean).join(' '),
    };
  }
  if (files_pending > 0) {
    return clean > 0
      ? { tone: 'waiting', sentence: 'Nothing dangerous was found in what was read.', detail: unread }
      : { tone: 'waiting', sentence: 'No file has been fully read yet.', detail: unread };
  }
  if (clean > 0)
    return {
      tone: 'good',
      sentence: 'Nothing dangerous was found.',
      detail: plural(clean, { one: '1 file was fully checked.', other: `${figures.clean} files were fully checked.` }),
    };
  return {
    tone: 'none',
    sentence: 'No file has been scanned yet.',
    detail: 'Scan the first one. The answer appears here.',
  };
}
