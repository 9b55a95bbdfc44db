// Creates the temporary folder of a vitest run, in which all tests create their files, and removes it when the run ends.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A `globalSetup` of vitest. @returns a function that removes the folder */
export default function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-'));
  // The mode of /tmp, because some tests run as other users.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
