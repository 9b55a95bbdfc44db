import { formatNumber, plural } from '@palisade/contract/intl';
import type { Status } from '@palisade/contract/status';

/** The protection text for the top bar, and the number of open steps. In the state `danger` it names only the danger. */
export function protectionOf({ protected_by, next, others }: Status): { words: string; steps: number } {
  const open = next === null ? [] : [next, ...others];
  const dangers = open.filter(({ is_danger }) => is_danger).length;
  const protection = protected_by.length > 0 ? 'Protection active' : 'Scans uploads';
  const begin = dangers === 0 ? protection : plural(dangers, { one: '1 danger', other: `${formatNumber(dangers)} dangers` });
  const left = open.length - dangers;
  return { words: left > 0 ? `${begin} · ${formatNumber(left)} to do` : begin, steps: open.length };
}
