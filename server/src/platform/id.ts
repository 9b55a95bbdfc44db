import { v7 } from 'uuid';

/** A new UUIDv7 (RFC 9562 section 5.7): ids of one process sort by creation, also within a millisecond. */
export function newId(): string {
  return v7();
}
