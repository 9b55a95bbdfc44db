import { createHash } from 'node:crypto';
import { openSync, readFileSync, readSync } from 'node:fs';

/** The most frequently leaked passwords (OWASP ASVS 5, 6.2.4 and 6.2.12; NIST SP 800-63B-4, 3.1.1.2). */
export interface LeakedPasswords {
  /** Ignores case. */
  has(password: string): boolean;
}

const CHECKSUM_BYTES = 32;
const ENTRY_BYTES = 6;
const REMEDY = 'Build it again with: node scripts/leaked-passwords.mjs';

function sha256(bytes: Buffer | string): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function readTable(path: string): { handle: number; table: Buffer } {
  try {
    const handle = openSync(path, 'r');
    return { handle, table: readFileSync(handle) };
  } catch (error) {
    throw new Error(`We can’t read the table of leaked passwords ${path}. ${REMEDY}`, { cause: error });
  }
}

/**
 * Opens the table that `scripts/leaked-passwords.mjs` creates. It is searched on disk, because it is rarely used and larger than the server's memory for a hundred people.
 * It has 48 bits of each hash: one password in 600 million matches a leaked one by chance. @throws when the file is missing or damaged.
 */
export function readLeakedPasswords(path: string): LeakedPasswords {
  const { handle, table } = readTable(path);
  const bytes = table.length - CHECKSUM_BYTES;
  const count = bytes / ENTRY_BYTES;
  if (count < 1 || !Number.isInteger(count) || !sha256(table.subarray(CHECKSUM_BYTES)).equals(table.subarray(0, CHECKSUM_BYTES)))
    throw new Error(`The table of leaked passwords ${path} is damaged. ${REMEDY}`);
  const room = Buffer.alloc(ENTRY_BYTES);
  const entryAt = (place: number) => {
    readSync(handle, room, 0, ENTRY_BYTES, CHECKSUM_BYTES + place * ENTRY_BYTES);
    return room.readUIntBE(0, ENTRY_BYTES);
  };

  return {
    has(password) {
      const wanted = sha256(password.toLowerCase()).readUIntBE(0, ENTRY_BYTES);
      let [from, to] = [0, count];
      while (from < to) {
        const middle = (from + to) >>> 1;
        const entry = entryAt(middle);
        if (entry === wanted) return true;
        if (entry < wanted) from = middle + 1;
        else to = middle;
      }
      return false;
    },
  };
}
