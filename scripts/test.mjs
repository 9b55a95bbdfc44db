// The fast gate, `npm test`: checks, unit tests, API tests on SQLite, the build, storage tests on PostgreSQL and six browser journeys. At the end it prints the number of tests.
// No test runs twice or depends on the network or the date. All other tests are in the deep gate (scripts/test-deep.mjs).
import { join } from 'node:path';
import { createGate, DEEP_FILES, DIALECT_FILES } from './gate.mjs';
import { ROOT } from './node-runtime.mjs';
import { chromiumEnvironment, FAST_NEEDS, install } from './packages.mjs';
import { startPostgres } from './postgres.mjs';

/** Number of journeys with the tag @core: one for each main task of the product. */
const CORE_JOURNEYS = 6;

const ON_SQLITE = { TEST_DATABASE_URL: '', TEST_STORAGE_URL: '', TEST_REDIS_URL: '' };
const gate = createGate({ name: 'fast', may_rerun: false, at_once: 3 });

await install(FAST_NEEDS);
await gate.step(
  'checks',
  [join(ROOT, 'scripts/check.mjs')],
  'The checks found something; `npm run format` repairs what is only format.',
);
// Built first, because tests start built programs (scanner/test/built-programs.ts).
await gate.step('build', [join(ROOT, 'scripts/bootstrap.mjs'), '--build'], 'The build failed; see above.');
await gate.vitest('unit and API tests', [`--exclude=${DEEP_FILES}`], ON_SQLITE);

const postgres = await startPostgres();
if ('skipped' in postgres) gate.skip(1, 'PostgreSQL');
else {
  await gate.vitest('storage on PostgreSQL', ['--project=server', `--exclude=${DEEP_FILES}`, ...DIALECT_FILES], {
    ...ON_SQLITE,
    TEST_DATABASE_URL: postgres.url,
  });
  await postgres.stop();
}

const chromium = chromiumEnvironment();
if (chromium === undefined) gate.skip(CORE_JOURNEYS, 'Chromium');
else await gate.journeys('journeys', ['--grep', '@core', '--retries', '0'], chromium);
gate.finish();
