// The temporary folder of one run of vitest: every test makes its files below it, and it goes when the run ends.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A `globalSetup` of vitest. @returns what removes the folder */
export default function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-'));
  // Tests work as other users too: the rights of /tmp.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
