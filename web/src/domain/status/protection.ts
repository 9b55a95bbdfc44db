import { formatNumber } from '@palisade/contract/intl';
import type { Status } from '@palisade/contract/status';

/** The words of a person's protection for the top bar, and the number of open steps. A danger comes first: then nothing else is said of protection. */
export function protectionOf({ state, protected_by, next, others }: Status): { words: string; steps: number } {
  const open = next === null ? [] : [next, ...others];
  const steps = open.length;
  const dangers = open.filter(({ is_danger }) => is_danger).length;
  const rest = steps - dangers;
  const begin =
    state === 'danger' && dangers > 0
      ? `${formatNumber(dangers)} danger`
      : protected_by.length > 0
        ? 'Protection active'
        : 'Scans uploads';
  const left = state === 'danger' && dangers > 0 ? rest : steps;
  return { words: left > 0 ? `${begin} · ${formatNumber(left)} to do` : begin, steps };
}
