import { registerHooks } from 'node:module';

// An engine process whose `@litko/yara-x` is replaced by a package that kills it: at its load, at the first use of the rules, or at a file with the EICAR text. The files
// crashes-at-load.ts, crashes-at-rules.ts and crashes-at-file.ts start one each.

const PACKAGE = '@litko/yara-x';
/** It passes the self-test of choose-engine.ts. @param fatal the texts that kill it, as a regular expression */
const nativeThatDies = (fatal: string) => `
  exports.YaraX = class {
    setMaxMatchesPerPattern() {}
    scan(bytes) {
      const text = bytes.toString('latin1');
      if (text === 'a pro') return [];
      if (text === 'a proof') return [{ ruleIdentifier: 'proof', meta: {}, matches: [{ offset: 2 }, { offset: 2 }] }];
      if (!/${fatal}/.test(text)) return [];
      process.kill(process.pid, 'SIGABRT');
      for (;;);
    }
  };
  exports.compile = () => new exports.YaraX();
`;
const SOURCES = {
  load: `process.kill(process.pid, 'SIGILL'); for (;;);`,
  rules: nativeThatDies('^'),
  file: nativeThatDies('EICAR'),
};

/** Starts the process. */
export async function startCrashing(when: keyof typeof SOURCES): Promise<void> {
  const url = new URL(`./${when}.native.cjs`, import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === PACKAGE ? { url, format: 'commonjs', shortCircuit: true } : next(specifier, context),
    load: (one, context, next) =>
      one === url ? { format: 'commonjs', source: SOURCES[when], shortCircuit: true } : next(one, context),
  });
  await import('#scanner/engine/yara-process.ts');
}
