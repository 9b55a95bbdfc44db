import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The file of a program in the build of the server, by the name of its source. The gates build first and name the folder in TEST_BUILT_SERVER: a built program is ready in a half to a third of the
 * time. Undefined elsewhere, so that a test that is run alone starts the sources.
 */
export function builtProgram(source: string): string | undefined {
  const folder = process.env['TEST_BUILT_SERVER'] ?? '';
  if (folder === '') return undefined;
  const file = join(folder, source.replace(/\.ts$/, '.js'));
  return existsSync(file) ? file : undefined;
}

/** A module's address of the program beside it, as source and as built. */
const BESIDE = /new URL\(\s*import\.meta\.url\.endsWith\('\.ts'\) \? '\.\/([\w-]+\.ts)' : '[^']+',\s*import\.meta\.url,?\s*\)/gu;

/** A plugin of vitest: tested modules start the threads and processes of the build, where there is one. */
export function builtPrograms() {
  return {
    name: 'built-programs',
    enforce: 'pre' as const,
    transform(code: string): string | undefined {
      if (!code.includes('import.meta.url.endsWith')) return undefined;
      return code.replace(BESIDE, (whole, source: string) => {
        const file = builtProgram(source);
        return file === undefined ? whole : `new URL(${JSON.stringify(pathToFileURL(file).href)})`;
      });
    },
  };
}
