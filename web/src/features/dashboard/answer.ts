import type { DashboardStatus } from '@palisade/contract/dashboard';
import { describeTestFiles } from '#ui/test-files.ts';

export interface Answer {
  tone: 'good' | 'danger' | 'waiting' | 'none' | 'unknown';
  sentence: string;
  detail: string;
}

function files(count: number, one: string, many: string, kind = ''): string {
  return count === 1 ? `1 ${kind}file ${one}` : `${new Intl.NumberFormat('en').format(count)} ${kind}files ${many}`;
}

/**
 * Summary of the scans, in one sentence that claims no more than was measured: a file that was not read whole is never counted as harmless, and what was found
 * is danger while it lies open, not when it is sealed or gone (docs/decisions/monitor.md).
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
  // The files are not all: teal says that nothing needs anybody.
  const isTeal = answer.tone === 'good' || answer.tone === 'none';
  return isTeal && status.score_breakdown.length > 0 ? { ...answer, tone: 'waiting' } : answer;
}

/**
 * Whether the score says something about this account. A new one has 100 because nothing was looked at: no file, no rule, no device, and nothing in the account itself
 * that costs points.
 */
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
  const unread = files_pending > 0 ? `${files(files_pending, 'was', 'were')} not fully read yet.` : '';
  const isOnlyTest = files_infected > 0 && files_infected === test_files_found;
  if (infected_in_the_open && isOnlyTest)
    return {
      tone: 'waiting',
      sentence: `${files(files_infected, 'is', 'are', 'harmless test ')} still on the server.`,
      detail: `We couldn’t quarantine or remove it. Tell support. ${unread}`.trim(),
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
      sentence: `${files(files_infected, 'was', 'were', 'harmless test ')} found and quarantined or removed.`,
      detail: `You don’t need to do anything. Test files only check that a scanner works. ${unread}`.trim(),
    };
  if (files_infected > 0) {
    const tests = describeTestFiles(test_files_found);
    const parts = [
      `Delete the ${files_infected === 1 ? 'original' : 'originals'} on your own device.`,
      tests && `${tests}.`,
      unread,
    ];
    return {
      tone: files_pending > 0 ? 'waiting' : 'good',
      sentence: `${files(files_infected, 'was', 'were', 'infected ')} found and quarantined or removed.`,
      detail: parts.filter(Boolean).join(' '),
    };
  }
  if (files_pending > 0) {
    return clean > 0
      ? { tone: 'waiting', sentence: 'Nothing dangerous was found in what was read.', detail: unread }
      : { tone: 'waiting', sentence: 'No file has been fully read yet.', detail: unread };
  }
  if (clean > 0)
    return { tone: 'good', sentence: 'Nothing dangerous was found.', detail: `${files(clean, 'was', 'were')} fully checked.` };
  return {
    tone: 'none',
    sentence: 'No file has been scanned yet.',
    detail: 'Scan the first one. The answer appears here.',
  };
}
