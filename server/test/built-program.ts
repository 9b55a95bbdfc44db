import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The file of a program in the build of the server, by its source. The gates build first and name the folder (TEST_BUILT_SERVER): a program of the build starts in
 * half the time. Undefined elsewhere, so that a single test runs what stands in the sources.
 */
export function builtProgram(source: string): string | undefined {
  const folder = process.env['TEST_BUILT_SERVER'] ?? '';
  if (folder === '') return undefined;
  const file = join(folder, source.replace(/\.ts$/, '.js'));
  return existsSync(file) ? file : undefined;
}
