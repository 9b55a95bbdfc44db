const count = new Intl.NumberFormat('en');

/** Words beside a figure that includes harmless test files; empty where it has none. */
export function describeTestFiles(amount: number | undefined): string | undefined {
  if (!amount) return undefined;
  return amount === 1 ? '1 of them is a harmless test file' : `${count.format(amount)} of them are harmless test files`;
}
