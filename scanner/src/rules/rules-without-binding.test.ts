import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('the rules load on a platform without a binary of YARA-X, and say so when they are compiled', () => {
  const rules = fileURLToPath(new URL('./rules.ts', import.meta.url));
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier === '@litko/yara-x') throw new Error('no binary for this platform');
        return next(specifier, context);
      },
    });
    const { compileSource, engineVersion } = await import(${JSON.stringify(rules)});
    console.log(engineVersion());
    try { compileSource('rule a { condition: true }'); } catch ({ message }) { console.log(message); }`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(said).toMatch(/^\d+\.\d+\.\d+\nno binary for this platform\n$/);
});
