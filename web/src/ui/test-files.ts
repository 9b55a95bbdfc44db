import { formatNumber, plural } from '@palisade/contract/intl';

/** Text beside a figure without the harmless test files; undefined for none. */
export function describeUncounted(amount: number | undefined): string | undefined {
  if (!amount) return undefined;
  return plural(amount, {
    one: '1 harmless test file, not counted',
    other: `${formatNumber(amount)} harmless test files, not counted`,
  });
}

/** Text beside a figure of `all` that includes harmless test files; undefined for none. */
export function describeTestFiles(amount: number | undefined, all: number | undefined): string | undefined {
  if (!amount) return undefined;
  if (amount === 1 && all === 1) return 'It is a harmless test file';
  return plural(amount, {
    one: '1 of them is a harmless test file',
    other: `${formatNumber(amount)} of them are harmless test files`,
  });
}
