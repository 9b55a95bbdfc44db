import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module's address of the program beside it, as source and as built. */
const BESIDE = /new URL\(\s*import\.meta\.url\.endsWith\('\.ts'\) \? '\.\/([\w-]+)\.ts' : '[^']+',\s*import\.meta\.url,?\s*\)/gu;

/**
 * A plugin of vitest. The gates build first and name the folder in TEST_BUILT_SERVER. Tested modules then start the threads and processes of the build, which are ready in a third of the time.
 * A test that is run alone starts the sources.
 */
export function builtPrograms() {
  const folder = process.env['TEST_BUILT_SERVER'] ?? '';
  return {
    name: 'built-programs',
    enforce: 'pre' as const,
    transform(code: string): string | undefined {
      if (folder === '' || !code.includes('import.meta.url.endsWith')) return undefined;
      return code.replace(BESIDE, (whole, name: string) => {
        const file = join(folder, `${name}.js`);
        return existsSync(file) ? `new URL(${JSON.stringify(pathToFileURL(file).href)})` : whole;
      });
    },
  };
}
