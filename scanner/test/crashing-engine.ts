import { registerHooks } from 'node:module';

// An engine process with a native package that kills it: in the place of `@litko/yara-x`, at its load or when it scans a file. crashes-at-load.ts and crashes-at-scan.ts are such processes.

const PACKAGE = '@litko/yara-x';
/** It passes the self-test of choose-engine.ts. */
const NATIVE = `
  exports.YaraX = class {
    setMaxMatchesPerPattern() {}
    scan(bytes) {
      const text = bytes.toString('latin1');
      if (text === 'a pro') return [];
      if (text === 'a proof') return [{ ruleIdentifier: 'proof', meta: {}, matches: [{ offset: 2 }, { offset: 2 }] }];
      process.kill(process.pid, 'SIGABRT');
      for (;;);
    }
  };
  exports.compile = () => new exports.YaraX();
`;
const DEATH = `process.kill(process.pid, 'SIGILL'); for (;;);`;

/** Starts the process. */
export async function startCrashing(when: 'load' | 'scan'): Promise<void> {
  const url = new URL(`./${when}.native.cjs`, import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === PACKAGE ? { url, format: 'commonjs', shortCircuit: true } : next(specifier, context),
    load: (one, context, next) =>
      one === url ? { format: 'commonjs', source: when === 'load' ? DEATH : NATIVE, shortCircuit: true } : next(one, context),
  });
  await import('#scanner/engine/yara-process.ts');
}
