const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** A size for people: whole and half gigabytes, whole megabytes, and bytes below one. `bytes` is a whole number. */
export function describeSize(bytes: number): string {
  if (bytes >= GIB) return `${Math.round((bytes / GIB) * 10) / 10} GB`;
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MB` : `${bytes} bytes`;
}
