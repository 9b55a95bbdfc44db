import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { chooseEngine } from './choose-engine.ts';
import { loadNativeEngine } from './native-engine.ts';
import type { RuleEngine } from './rule-engine.ts';
import { loadWasmEngine } from './wasm-engine.ts';

const fails = (message: string, code?: string) => () => {
  // As the package says it: each file that it has tried, one as the cause of the other.
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code });
  throw new Error('Cannot find native binding.', { cause: new Error('Cannot find module', { cause }) });
};
const finding = (kind: RuleEngine['kind'], rule = 'proof'): RuleEngine => ({
  kind,
  version: '1',
  compile: () => ({
    scan: (bytes) => (bytes.includes('proof') ? [{ rule, meta: {}, offsets: [2, 2] }] : []),
    release: () => {},
  }),
});
const OTHER = ' The WebAssembly scanner reads your files instead.';

test.each([
  [
    'a C library that is too old',
    fails(
      "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /srv/palisade/yara.node)",
      'ERR_DLOPEN_FAILED',
    ),
    'it needs GLIBC_2.34',
  ],
  [
    'musl',
    fails('/srv/palisade/yara-x.linux-x64-gnu.node: cannot open shared object file', 'ERR_DLOPEN_FAILED'),
    'cannot open shared object file',
  ],
  ['a platform without a binary', fails('Cannot find module'), `there is none for ${process.platform} on ${process.arch}`],
  ['a binary that finds something else', () => finding('native', 'other'), 'its self-test went wrong'],
])('falls back to WebAssembly over %s', (_name, loadNative, reason) => {
  const { engine, note } = chooseEngine(undefined, loadNative, () => finding('wasm'));
  expect(engine.kind).toBe('wasm');
  expect(note).toBe(`The native scanner does not run on this computer: ${reason}.${OTHER}`);
});

test('takes the engine that was asked for, and no other', () => {
  const both = [() => finding('native'), () => finding('wasm')] as const;
  expect(chooseEngine(undefined, ...both)).toMatchObject({ engine: { kind: 'native' }, note: null });
  expect(chooseEngine('wasm', ...both)).toMatchObject({ engine: { kind: 'wasm' }, note: null });
  expect(chooseEngine('native', ...both)).toMatchObject({ engine: { kind: 'native' }, note: null });
  expect(() => chooseEngine('native', fails('no binary'), both[1])).toThrow('Cannot find native binding.');
});

test('an engine process without the native package compiles with WebAssembly', () => {
  const chooser = fileURLToPath(new URL('./choose-engine.ts', import.meta.url));
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier === '@litko/yara-x') throw new Error('no binary for this platform');
        return next(specifier, context);
      },
    });
    const { chosenEngine } = await import(${JSON.stringify(chooser)});
    const { engine, note } = chosenEngine();
    const rules = engine.compile('rule a { strings: $a = "abc" condition: $a }', { variables: {}, matches_per_pattern: 4 });
    console.log(engine.kind, engine.version, JSON.stringify(rules.scan(Buffer.from('xabcabc'))), note);`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env: {} });
  expect(said).toMatch(
    /^wasm \d+\.\d+\.\d+ \(WebAssembly\) \[\{"rule":"a","meta":\{\},"offsets":\[1,4\]\}\] The native scanner does not run/,
  );
});

test('both engines refuse and report alike', () => {
  const options = { variables: { filename: '' }, matches_per_pattern: 4 };
  const engines = [loadNativeEngine, loadWasmEngine].flatMap((load) => {
    try {
      return [load()];
    } catch {
      return [];
    }
  });
  const answers = engines.map(({ compile }) => {
    const first = (source: string) => {
      try {
        compile(source, options).release();
        return 'compiles';
      } catch (error) {
        return error instanceof Error ? error.message.split('\n', 1)[0] : '';
      }
    };
    const rules = compile(
      'private rule hidden { condition: true } rule a : tag { meta: n = 3 text = "é" flag = true strings: $a = "ab" $p = "ba" private condition: (#a > 0 and $p) or filename == "x" }',
      options,
    );
    return {
      errors: [
        'rule a { condition: nothing }',
        'rule a { condition: for any i in (0..filesize) : (uint8(i) == 3) }',
        'rule a { strings: $a = { 00 [0-10] 01 } condition: $a }',
        'import "magic" rule a { condition: magic.type() == "x" }',
        'rule a { condition: true } rule a { condition: true }',
        'import "pe" import "elf" import "dotnet" import "macho" import "lnk" import "math" import "hash" rule a { condition: true }',
      ].map(first),
      // A pattern reports four matches; a value of one content is not kept for the next.
      scans: [
        rules.scan(Buffer.from('ab'.repeat(9))),
        rules.scan(Buffer.from('y'), { filename: 'x' }),
        rules.scan(Buffer.from('y')),
        rules.scan(Buffer.alloc(0)),
      ],
    };
  });
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) expect(answer).toEqual(answers.at(-1));
  expect(answers.at(-1)?.scans).toEqual([
    [{ rule: 'a', meta: { n: 3, text: 'é', flag: 'unknown' }, offsets: [0, 2, 4, 6] }],
    [{ rule: 'a', meta: { n: 3, text: 'é', flag: 'unknown' }, offsets: [] }],
    [],
    [],
  ]);
  expect(answers.at(-1)?.errors.slice(0, 3)).toEqual([
    'Compilation error (E009): error[E009]: unknown identifier `nothing`',
    'Compilation error (E034): error[E034]: potentially slow loop',
    'Compilation error (E018): error[E018]: slow pattern',
  ]);
});
