import { v7 } from 'uuid';

/** A new UUIDv7 (RFC 9562 section 5.7): ids of one process sort by creation, also within a millisecond. */
export function newId(): string {
  return v7();
}

/** When an id was made, in ms: the first 48 bits of a UUIDv7 say so. NaN for what is none. */
export function timeOfId(id: string): number {
  const [high = '', low = '', version = ''] = id.split('-');
  return version.startsWith('7') ? Number.parseInt(high + low, 16) : Number.NaN;
}
