import { createRequire } from 'node:module';
import type { YaraX } from '@litko/yara-x';
import { z } from 'zod';
import type { CompiledRules, RuleEngine } from './rule-engine.ts';

type Binding = typeof import('@litko/yara-x');
const isFunction = (value: unknown) => typeof value === 'function';
const bindingSchema = z.object({
  compile: z.custom<Binding['compile']>(isFunction),
  YaraX: z.custom<Binding['YaraX']>(isFunction),
});
const packageSchema = z.object({ version: z.string() });

const requirePackage = createRequire(import.meta.url);

function rulesOf(compiled: YaraX): CompiledRules {
  return {
    scan: (bytes, values) =>
      compiled.scan(bytes, values === undefined ? undefined : { ...values }).map(({ ruleIdentifier, meta, matches }) => ({
        rule: ruleIdentifier,
        meta: { ...meta },
        offsets: matches.map(({ offset }) => offset),
      })),
    // The binding frees the memory with its JavaScript object.
    release: () => {},
  };
}

/**
 * The native build of YARA-X.
 * @throws where its package has no binary for the platform, or the binary does not load (an older C library)
 */
export function loadNativeEngine(): RuleEngine {
  const { compile, YaraX } = bindingSchema.parse(requirePackage('@litko/yara-x'));
  return {
    kind: 'native',
    version: packageSchema.parse(requirePackage('@litko/yara-x/package.json')).version,
    compile(source, { variables, matches_per_pattern }) {
      // The type file of the binding names an undeclared class here.
      const compiled: unknown = compile(source, {
        enableIncludes: false,
        errorOnSlowPattern: true,
        errorOnSlowLoop: true,
        defineVariables: variables,
      });
      if (!(compiled instanceof YaraX)) throw new Error('The YARA-X binding answers something else than a rule set.');
      compiled.setMaxMatchesPerPattern(matches_per_pattern);
      return rulesOf(compiled);
    },
  };
}
