const count = new Intl.NumberFormat('en');

/** What is said beside a figure that has the industry's harmless test files in it; nothing where it has none. */
export function describeTestFiles(amount: number | undefined): string | undefined {
  if (!amount) return undefined;
  return amount === 1 ? '1 of them is a harmless test file' : `${count.format(amount)} of them are harmless test files`;
}
