// Plants one violation of each import rule and of each other rule of the house, in a copy of the tree's shape, and expects the checks to bite.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

const house = mkdtempSync(join(tmpdir(), 'palisade-house-'));

const IMPORTS = 'lint/style/noRestrictedImports';

/** A file of each area, a module that it may not import, and the name where only some may not be. */
const FORBIDDEN = [
  ['contract/src/planted-node.ts', 'node:fs'],
  ['contract/src/planted-package.ts', 'fastify'],
  ['server/src/platform/planted.ts', '#features/auth/auth.ts'],
  ['server/src/platform/planted-app.ts', '#server/app.ts'],
  ['server/src/features/antivirus/planted.ts', '#features/auth/auth.ts'],
  ['server/src/features/antivirus/planted-up.ts', '../auth/auth.ts'],
  ['server/src/features/antivirus/planted-app.ts', '#server/app.ts'],
  ['server/src/features/antivirus/planted-app-part.ts', '#server/app/accounts.ts'],
  ['server/src/features/antivirus/planted-tables.ts', '#platform/tables.ts'],
  ['server/src/features/antivirus/planted-web.ts', '@palisade/web/src/api/call.ts'],
  ['server/src/features/antivirus/deeper/planted.ts', '../antivirus.ts'],
  ['server/src/features/antivirus/planted-scanner-test.ts', '@palisade/scanner/test/files'],
  ['scam/src/planted-http.ts', 'node:http'],
  ['scam/src/planted-dns.ts', 'node:dns/promises'],
  ['scam/src/planted-server.ts', '@palisade/server/src/app.ts'],
  ['names/src/planted-http.ts', 'node:http'],
  ['names/src/planted-server.ts', '@palisade/server/src/app.ts'],
  ['scanner/src/planted-up.ts', '../../server/src/app.ts'],
  ['scanner/src/planted-server.ts', '@palisade/server/src/app.ts'],
  ['scanner/src/planted-platform.ts', '#platform/disk.ts'],
  ['scanner/src/planted-web.ts', '@palisade/web/src/api/call.ts'],
  ['scanner/src/planted-http.ts', 'node:http'],
  ['scanner/src/planted-inflate.ts', 'node:zlib', 'inflateSync'],
  ['scanner/src/formats/planted-lz.ts', '#scanner/decompression/lz.ts', 'unpackLz4'],
  ['scanner/src/planted-test.ts', '#test/files.ts'],
  ['server/src/planted-up.ts', '../../web/src/app/main.tsx'],
  ['server/migrations/planted.ts', '#features/auth/auth.ts'],
  ['agent/src/link/planted.ts', '@palisade/server/src/app.ts'],
  ['agent/src/link/planted-up.ts', '../agent.ts'],
  ['agent/src/scan/planted.ts', 'node:fs/promises', 'unlink'],
  ['agent/src/telemetry/planted.ts', 'node:fs', 'readFileSync'],
  ['agent/src/control/planted.ts', 'fs/promises', 'chown'],
  ['agent/src/scan/planted-server.ts', '@palisade/server/src/app.ts'],
  ['web/src/api/planted.ts', '#features/antivirus/antivirus-page.tsx'],
  ['web/src/ui/planted-domain.ts', '#domain/scan/scan-row.tsx'],
  ['web/src/api/planted-domain.ts', '#domain/scan/scans.ts'],
  ['web/src/domain/planted.ts', '#features/antivirus/antivirus-page.tsx'],
  ['web/src/ui/planted.ts', '#app/theme.ts'],
  ['web/src/features/antivirus/planted.ts', '#features/auth/auth-page.tsx'],
  ['web/src/features/antivirus/planted-scanner.ts', '@palisade/scanner/examine'],
  ['web/src/features/antivirus/planted-app.ts', '#app/router.tsx'],
];

/** [file, source, rule of Biome that must bite] */
const VIOLATIONS = [
  ...FORBIDDEN.map(([file = '', from, name = 'x']) => [
    file,
    `import { ${name} } from '${from}';\nexport const y = ${name};\n`,
    IMPORTS,
  ]),
  [
    'scanner/src/planted-database.ts',
    "import { Kysely } from 'kysely';\nexport const database = Kysely;\n",
    'lint/correctness/noUndeclaredDependencies',
  ],
  ['server/src/features/auth/planted-environment.ts', 'export const port = process.env.PORT;\n', 'lint/style/noProcessEnv'],
  ['server/src/features/auth/PlantedName.ts', 'export const name = 1;\n', 'lint/style/useFilenamingConvention'],
  ['server/src/features/auth/planted-any.ts', 'export const value: any = 1;\n', 'lint/suspicious/noExplicitAny'],
  [
    'server/src/features/auth/planted-bang.ts',
    'export const first = (list: string[]) => list[0]!;\n',
    'lint/style/noNonNullAssertion',
  ],
  [
    'server/src/features/auth/planted-extension.ts',
    "import { one } from './planted-one';\nexport const two = one;\n",
    'lint/correctness/useImportExtensions',
  ],
  [
    'server/src/features/auth/planted-undeclared.ts',
    "import { z } from 'left-pad';\nexport const y = z;\n",
    'lint/correctness/noUndeclaredDependencies',
  ],
  [
    'server/src/features/auth/planted-barrel.ts',
    "export * from './planted-one.ts';\nexport * from './planted-any.ts';\n",
    'lint/performance/noBarrelFile',
  ],
  ['server/src/features/auth/planted-default.ts', 'export default 1;\n', 'lint/style/noDefaultExport'],
  [
    'server/src/features/auth/planted-cycle-a.ts',
    "import { b } from './planted-cycle-b.ts';\nexport const a = () => b;\n",
    'lint/suspicious/noImportCycles',
  ],
];

/** Files that keep every rule: a check that bites these is worth nothing. */
const GOOD = [
  [
    'contract/src/planted-good.ts',
    "import { z } from 'zod';\nimport { one } from './planted-one.ts';\n\nexport const schema = z.literal(one);\n",
  ],
  ['contract/src/planted-one.ts', 'export const one = 1;\n'],
  [
    'scanner/src/planted-good.ts',
    "import { createConnection } from 'node:net';\nimport { scan } from '@palisade/contract/antivirus';\nimport { z } from 'zod';\nimport { one } from './planted-one.ts';\n\nexport const good = { createConnection, scan, z, one };\n",
  ],
  ['scanner/src/planted-one.ts', 'export const one = 1;\n'],
  [
    'scanner/src/planted.test.ts',
    "import { expect, test } from 'vitest';\nimport { EICAR } from '#test/files.ts';\n\ntest('it is there', () => {\n  expect(EICAR.length).toBe(68);\n});\n",
  ],
  [
    'server/src/features/auth/planted-scanner.ts',
    "import { examine } from '@palisade/scanner/examine';\n\nexport const e = examine;\n",
  ],
  ['server/src/features/auth/planted-one.ts', 'export const one = 1;\n'],
  ['agent/src/files/planted-good.ts', "import { openSync } from 'node:fs';\n\nexport const opened = openSync;\n"],
  [
    'server/src/features/auth/planted-good.ts',
    "import { z } from 'zod';\nimport { Problem } from '#platform/problem.ts';\nimport { one } from './planted-one.ts';\n\nexport const good = { z, Problem, one };\n",
  ],
];

const SUPPORT = [
  ['server/src/features/auth/planted-cycle-b.ts', "import { a } from './planted-cycle-a.ts';\n\nexport const b = () => a;\n"],
];

for (const [file, source] of [...VIOLATIONS, ...GOOD, ...SUPPORT]) {
  mkdirSync(dirname(join(house, file)), { recursive: true });
  writeFileSync(join(house, file), source);
}
for (const file of [
  'biome.json',
  '.oxlintrc.json',
  'package.json',
  'tsconfig.base.json',
  'contract/package.json',
  'names/package.json',
  'scam/package.json',
  'scanner/package.json',
  'server/package.json',
  'server/tsconfig.json',
  'web/package.json',
]) {
  cpSync(join(ROOT, file), join(house, file));
}
symlinkSync(join(ROOT, 'node_modules'), join(house, 'node_modules'));

/** @param {string} program @param {string[]} args */
function tool(program, args) {
  return spawnSync(join(ROOT, 'node_modules', '.bin', program), args, {
    cwd: house,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}

describe('Biome', () => {
  const { stdout, stderr } = tool('biome', ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', '.']);
  const found = JSON.parse(stdout || '{"diagnostics":[]}').diagnostics.map((/** @type {any} */ diagnostic) => ({
    file: String(diagnostic.location?.path?.file ?? diagnostic.location?.path)
      .replaceAll('\\', '/')
      .replace(/^\.\//, ''),
    rule: diagnostic.category,
  }));

  test('read the planted tree', () => expect(found.length, stderr).toBeGreaterThan(0));

  test.each(VIOLATIONS)('%s is refused', (file, _source, rule) => {
    expect(found).toContainEqual({ file, rule });
  });

  test.each(GOOD)('%s passes', (file) => {
    expect(found.filter((/** @type {{ file: string }} */ diagnostic) => diagnostic.file === file)).toEqual([]);
  });
});

describe('oxlint with types', () => {
  const cases = {
    'floating.ts': ['export const go = async () => 1;\nexport function start() {\n  go();\n}\n', 'no-floating-promises'],
    'misused.ts': [
      "export const on = async (name: string) => name;\nif (on('a')) throw new Error('always');\n",
      'no-misused-promises',
    ],
    'switch.ts': [
      "export function f(kind: 'a' | 'b'): number {\n  switch (kind) {\n    case 'a':\n      return 1;\n  }\n  return 2;\n}\n",
      'switch-exhaustiveness-check',
    ],
    'long.ts': [`export function f() {\n${'  console.log(1);\n'.repeat(120)}}\n`, 'max-lines-per-function'],
    'large.ts': [Array.from({ length: 451 }, (_, at) => `export const x${at} = 1;\n`).join(''), 'max-lines'],
    'as.ts': ['export const n = (value: unknown) => value as number;\n', 'consistent-type-assertions'],
  };
  const folder = join(house, 'server/src/features/auth');
  for (const [name, [source]] of Object.entries(cases)) writeFileSync(join(folder, `planted-${name}`), source ?? '');
  const { stdout } = tool('oxlint', ['--type-aware', '--format=json', 'server']);
  const diagnostics = JSON.parse(stdout).diagnostics;

  test.each(Object.entries(cases))('%s is refused', (name, [, rule]) => {
    const rules = diagnostics
      .filter((/** @type {any} */ diagnostic) => String(diagnostic.filename).endsWith(`/planted-${name}`))
      .map((/** @type {any} */ diagnostic) => diagnostic.code);
    expect(rules.join()).toContain(rule);
  });
});

describe('the workspaces', () => {
  test.each(['server', 'web'])('%s gives nothing away to the others', (workspace) => {
    const script = `import(${JSON.stringify(`@palisade/${workspace}/src/main.ts`)}).then(() => process.exit(0), (error) => { console.log(error.code); process.exit(1); })`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, encoding: 'utf8' });
    expect(stdout.trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
