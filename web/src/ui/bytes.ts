const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];
const STEP = 1024;

/** A size for a person: "68 B", "1.2 GB". */
export function describeBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1023.95 would round to "1024.0".
  while (value >= STEP - 0.05 && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/u, '');
  return `${digits} ${UNITS[unit]}`;
}
