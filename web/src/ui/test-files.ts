import { formatNumber, plural } from '@palisade/contract/intl';

/** Text beside a figure without the harmless test files; undefined for none. */
export function describeUncounted(amount: number | undefined): string | undefined {
  if (!amount) return undefined;
  return plural(amount, {
    one: '1 harmless test file, not counted',
    other: `${formatNumber(amount)} harmless test files, not counted`,
  });
}
