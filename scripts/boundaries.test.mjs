// Plants one violation of each import rule and of each other rule of the house, in a copy of the tree's shape, and expects the checks to bite.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

const house = mkdtempSync(join(tmpdir(), 'palisade-house-'));
afterAll(() => rmSync(house, { recursive: true, force: true }));

const IMPORTS = 'lint/style/noRestrictedImports';

/** [file, source, rule of Biome that must bite] */
const VIOLATIONS = [
  ['contract/src/planted-node.ts', "import { readFile } from 'node:fs';\nexport const read = readFile;\n", IMPORTS],
  ['contract/src/planted-package.ts', "import { fastify } from 'fastify';\nexport const app = fastify;\n", IMPORTS],
  [
    'server/src/platform/planted.ts',
    "import { createAuth } from '#features/auth/auth.ts';\nexport const auth = createAuth;\n",
    IMPORTS,
  ],
  ['server/src/platform/planted-app.ts', "import { createApp } from '#server/app.ts';\nexport const app = createApp;\n", IMPORTS],
  [
    'server/src/features/antivirus/planted.ts',
    "import { createAuth } from '#features/auth/auth.ts';\nexport const auth = createAuth;\n",
    IMPORTS,
  ],
  [
    'server/src/features/antivirus/planted-up.ts',
    "import { createAuth } from '../auth/auth.ts';\nexport const auth = createAuth;\n",
    IMPORTS,
  ],
  [
    'server/src/features/antivirus/planted-app.ts',
    "import { createApp } from '#server/app.ts';\nexport const app = createApp;\n",
    IMPORTS,
  ],
  [
    'server/src/features/antivirus/planted-app-part.ts',
    "import { buildAccounts } from '#server/app/accounts.ts';\nexport const accounts = buildAccounts;\n",
    IMPORTS,
  ],
  [
    'server/src/features/antivirus/planted-web.ts',
    "import { call } from '@palisade/web/src/api/call.ts';\nexport const c = call;\n",
    IMPORTS,
  ],
  [
    'server/src/features/antivirus/deeper/planted.ts',
    "import { scanOf } from '../antivirus.ts';\nexport const s = scanOf;\n",
    IMPORTS,
  ],
  [
    'server/src/features/antivirus/planted-scanner-test.ts',
    "import { EICAR } from '@palisade/scanner/test/files';\nexport const e = EICAR;\n",
    IMPORTS,
  ],
  ['scam/src/planted-http.ts', "import { createServer } from 'node:http';\nexport const create = createServer;\n", IMPORTS],
  ['scam/src/planted-dns.ts', "import { resolve } from 'node:dns/promises';\nexport const ask = resolve;\n", IMPORTS],
  [
    'scam/src/planted-server.ts',
    "import { createApp } from '@palisade/server/src/app.ts';\nexport const app = createApp;\n",
    IMPORTS,
  ],
  ['scanner/src/planted-up.ts', "import { x } from '../../server/src/app.ts';\nexport const y = x;\n", IMPORTS],
  [
    'scanner/src/planted-server.ts',
    "import { createApp } from '@palisade/server/src/app.ts';\nexport const app = createApp;\n",
    IMPORTS,
  ],
  ['scanner/src/planted-platform.ts', "import { openDisk } from '#platform/disk.ts';\nexport const disk = openDisk;\n", IMPORTS],
  ['scanner/src/planted-web.ts', "import { call } from '@palisade/web/src/api/call.ts';\nexport const c = call;\n", IMPORTS],
  ['scanner/src/planted-http.ts', "import { createServer } from 'node:http';\nexport const create = createServer;\n", IMPORTS],
  ['scanner/src/planted-inflate.ts', "import { inflateSync } from 'node:zlib';\nexport const inflate = inflateSync;\n", IMPORTS],
  [
    'scanner/src/formats/planted-lz.ts',
    "import { unpackLz4 } from '#scanner/formats/compression/lz.ts';\nexport const unpack = unpackLz4;\n",
    IMPORTS,
  ],
  ['scanner/src/planted-test.ts', "import { EICAR } from '#test/files.ts';\nexport const e = EICAR;\n", IMPORTS],
  [
    'scanner/src/planted-database.ts',
    "import { Kysely } from 'kysely';\nexport const database = Kysely;\n",
    'lint/correctness/noUndeclaredDependencies',
  ],
  ['server/src/planted-up.ts', "import { x } from '../../web/src/app/main.tsx';\nexport const y = x;\n", IMPORTS],
  [
    'server/migrations/planted.ts',
    "import { createAuth } from '#features/auth/auth.ts';\nexport const auth = createAuth;\n",
    IMPORTS,
  ],
  [
    'agent/src/link/planted.ts',
    "import { createApp } from '@palisade/server/src/app.ts';\nexport const app = createApp;\n",
    IMPORTS,
  ],
  ['agent/src/link/planted-up.ts', "import { runAgent } from '../agent.ts';\nexport const run = runAgent;\n", IMPORTS],
  ['agent/src/scan/planted.ts', "import { unlink } from 'node:fs/promises';\nexport const remove = unlink;\n", IMPORTS],
  ['agent/src/telemetry/planted.ts', "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n", IMPORTS],
  ['agent/src/control/planted.ts', "import { chown } from 'fs/promises';\nexport const change = chown;\n", IMPORTS],
  [
    'agent/src/scan/planted-server.ts',
    "import { createApp } from '@palisade/server/src/app.ts';\nexport const app = createApp;\n",
    IMPORTS,
  ],
  ['web/src/api/planted.ts', "import { Page } from '#features/antivirus/antivirus-page.tsx';\nexport const p = Page;\n", IMPORTS],
  ['web/src/ui/planted-domain.ts', "import { ScanRow } from '#domain/scan/scan-row.tsx';\nexport const r = ScanRow;\n", IMPORTS],
  [
    'web/src/api/planted-domain.ts',
    "import { scansQuery } from '#domain/scan/scans.ts';\nexport const q = scansQuery;\n",
    IMPORTS,
  ],
  [
    'web/src/domain/planted.ts',
    "import { Page } from '#features/antivirus/antivirus-page.tsx';\nexport const p = Page;\n",
    IMPORTS,
  ],
  ['web/src/ui/planted.ts', "import { theme } from '#app/theme.ts';\nexport const t = theme;\n", IMPORTS],
  [
    'web/src/features/antivirus/planted.ts',
    "import { Page } from '#features/auth/auth-page.tsx';\nexport const p = Page;\n",
    IMPORTS,
  ],
  [
    'web/src/features/antivirus/planted-scanner.ts',
    "import { examine } from '@palisade/scanner/examine';\nexport const e = examine;\n",
    IMPORTS,
  ],
  ['web/src/features/antivirus/planted-app.ts', "import { router } from '#app/router.tsx';\nexport const r = router;\n", IMPORTS],
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
