// Everything: checks, unit and API tests, the API tests again on PostgreSQL, S3 and Redis, the build, browser journeys. Ends with the count of tests.
// `node scripts/test.mjs --cluster`: all tests of the server, and nothing else, on PostgreSQL, S3 and Redis. TEST_DATABASE_URL, TEST_STORAGE_URL and TEST_REDIS_URL name some that run already.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { auditPackages, auditSentences } from './audit.mjs';
import { findNode, ROOT } from './node-runtime.mjs';
import {
  findChromium,
  missingClamd,
  missingCoturn,
  missingDesktop,
  missingDovecot,
  missingKernelPrograms,
  missingPromtool,
  missingProxies,
  missingReaders,
  missingRedis,
  missingS3,
  missingWayland,
} from './packages.mjs';
import { startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';
import { run } from './run.mjs';
import { startS3 } from './s3.mjs';

const REPORTS = join(ROOT, 'node_modules', '.cache', 'palisade-tests');
const node = findNode() ?? process.execPath;
const totals = { passed: 0, failed: 0, skipped: 0 };
/** @type {string[]} */
const notes = [];

/** @param {string} title */
function say(title) {
  process.stdout.write(`\n== ${title}\n`);
}

/** @param {string} line @returns {never} */
function fail(line) {
  process.stdout.write(`\npalisade: ${line}\n`);
  process.exit(1);
}

/** As many test files as a busy machine may fail by chance; more than that is a fault, and is not tried again. */
const CHANCE_FILES = 4;

/** Adds up the report of a vitest run, or takes it off again, of some of its files alone where they are named. @param {any} report @param {1 | -1} sign @param {string[]} [files] */
function count(report, sign = 1, files) {
  for (const { name, assertionResults } of report.testResults) {
    if (files !== undefined && !files.includes(name)) continue;
    for (const { status } of assertionResults) {
      if (status === 'passed') totals.passed += sign;
      else if (status === 'failed') totals.failed += sign;
      else totals.skipped += sign;
    }
  }
}

/** One run of vitest, with its report. @param {string} name @param {string[]} args @param {Record<string, string>} [env] */
async function vitestOnce(name, args, env) {
  const path = join(REPORTS, `${name}.json`);
  const again = join(REPORTS, `${name}-again.json`);
  const { code } = await run(
    node,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${path}`,
      `--reporter=${join(ROOT, 'scripts/second-attempts.mjs')}`,
      // A test that failed is tried once more, and named at the end: a machine that is busy for a moment is no fault of the product.
      '--retry=1',
      ...args,
    ],
    { env: { NO_COLOR: '1', SECOND_ATTEMPTS: again, ...env } },
  );
  for (const test of JSON.parse(readFileSync(again, 'utf8'))) notes.push(`Passed only at its second attempt (${name}): ${test}`);
  return { code, report: JSON.parse(readFileSync(path, 'utf8')) };
}

/**
 * The tests of some projects. A few files that fail are run once more, one after the other and with nothing beside them, and named at the end (docs/decisions/0196).
 * @param {string} name @param {string[]} options @param {string[]} filters @param {Record<string, string>} [env]
 */
async function vitest(name, options, filters, env) {
  const { code, report } = await vitestOnce(name, [...options, ...filters], env);
  count(report);
  /** @type {string[]} */
  const failed = report.testResults.filter(({ status }) => status === 'failed').map((result) => result.name);
  if (code === 0 || failed.length === 0 || failed.length > CHANCE_FILES) return code;
  say(`alone: ${failed.map((file) => relative(ROOT, file)).join(', ')}`);
  const second = await vitestOnce(`${name}-alone`, [...options, '--no-file-parallelism', ...failed], env);
  count(report, -1, failed);
  count(second.report);
  if (second.code === 0)
    for (const file of failed) notes.push(`Passed only when it was run alone (${name}): ${relative(ROOT, file)}`);
  return second.code;
}

/**
 * Runs the server's tests on what servers share.
 * @param {string[]} options @param {string[]} filters @returns {Promise<number>}
 */
async function onCluster(options, filters) {
  const given = (/** @type {string} */ name) => {
    const url = process.env[name];
    return url ? { url, stop: async () => {} } : undefined;
  };
  const postgres = given('TEST_DATABASE_URL') ?? (await startPostgres());
  if ('skipped' in postgres) {
    notes.push(`API tests on PostgreSQL were skipped: ${postgres.skipped}`);
    process.stdout.write(`skipped: ${postgres.skipped}\n`);
    return 0;
  }
  const store = given('TEST_STORAGE_URL') ?? (await startS3());
  if ('skipped' in store) process.stdout.write(`files are kept in folders: ${store.skipped}\n`);
  const shared_redis = given('TEST_REDIS_URL') ?? (await startRedis());
  if ('skipped' in shared_redis) process.stdout.write(`each server counts for itself: ${shared_redis.skipped}\n`);
  const code = await vitest('postgres', ['--project=server', ...options], filters, {
    TEST_DATABASE_URL: postgres.url,
    TEST_STORAGE_URL: 'skipped' in store ? '' : store.url,
    TEST_REDIS_URL: 'skipped' in shared_redis ? '' : shared_redis.url,
  });
  for (const one of [postgres, store, shared_redis]) if ('stop' in one) await one.stop();
  return code;
}

rmSync(REPORTS, { recursive: true, force: true });
mkdirSync(REPORTS, { recursive: true });
let failures = 0;
if (process.argv.includes('--cluster')) {
  const code = await onCluster([], []);
  for (const note of notes) process.stdout.write(`${note}\n`);
  process.stdout.write(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
  process.exit(code === 0 && totals.passed > 0 ? 0 : 1);
}

// Waits for the network while everything else works.
const audit = auditPackages();

say('checks: format, lint, import rules, types, dead code');
if ((await run(node, [join(ROOT, 'scripts/check.mjs')])).code !== 0)
  fail('The checks found something; see above. `npm run format` mends what is only format.');

const clamd = await missingClamd();
if (clamd !== undefined) notes.push(`Tests with a real clamd were skipped: ${clamd}`);
const redis = await missingRedis();
if (redis !== undefined) notes.push(`Tests with a real Redis were skipped: ${redis}`);
const dovecot = await missingDovecot();
if (dovecot !== undefined) notes.push(`Tests with a real mailbox were skipped: ${dovecot}`);
const coturn = await missingCoturn();
if (coturn !== undefined) notes.push(`Tests with a real relay were skipped: ${coturn}`);
const desktop = await missingDesktop();
if (desktop !== undefined) notes.push(`Control of a desktop was not tried: ${desktop}`);
const wayland = await missingWayland();
if (wayland !== undefined) notes.push(`Control of a desktop of Wayland was not tried: ${wayland}`);
const s3 = await missingS3();
if (s3 !== undefined) notes.push(`Tests with a store that speaks S3 were skipped: ${s3}`);
const proxies = await missingProxies();
if (proxies !== undefined) notes.push(`Tests behind real proxies were skipped: ${proxies}`);
const promtool = await missingPromtool();
if (promtool !== undefined) notes.push(`Metrics were not checked by promtool: ${promtool}`);
const kernel = await missingKernelPrograms();
if (kernel !== undefined) notes.push(`Tests of rules in a kernel were skipped: ${kernel}`);
const readers = await missingReaders();
if (readers !== undefined) notes.push(`Readers were compared with fewer programs: ${readers}`);

say('unit and API tests (SQLite)');
failures += await vitest('sqlite', [], [], { TEST_DATABASE_URL: '', TEST_STORAGE_URL: '', TEST_REDIS_URL: '' });

say('API tests on PostgreSQL, with files in a store that speaks S3, and Redis');
// Headers and counters know no database, and what proves them is slow; the last has an SQLite file of its own, whatever the others run on.
const without = [
  '**/antivirus/{clamd,signatures}.test.ts',
  '**/platform/{http,counters,security-headers,blobs/*}.test.ts',
  '**/antivirus/at-once.test.ts',
].flatMap((files) => ['--exclude', files]);
failures += await onCluster(without, ['src', 'test/two-servers', 'test/upgrade']);

say('build');
if ((await run(node, [join(ROOT, 'scripts/bootstrap.mjs'), '--build'])).code !== 0) fail('The build failed; see above.');

say('browser journeys');
const chromium = await findChromium();
if ('missing' in chromium) fail(chromium.missing);
const journeys = join(REPORTS, 'journeys.json');
const between = await Promise.all([startPostgres(), startS3(), startRedis()]);
const [shared_database, shared_store, shared_redis] = between.map((one) => ('skipped' in one ? '' : one.url));
for (const one of between) if ('skipped' in one) notes.push(`Journeys on two servers were skipped: ${one.skipped}`);
failures += (
  await run(
    node,
    [join(ROOT, 'node_modules/@playwright/test/cli.js'), 'test', '--config', join(ROOT, 'e2e/playwright.config.ts')],
    {
      cwd: join(ROOT, 'e2e'),
      env: {
        NO_COLOR: '1',
        CHROMIUM_PATH: chromium.path,
        PLAYWRIGHT_JSON_OUTPUT_FILE: journeys,
        JOURNEY_DATABASE_URL: shared_database ?? '',
        JOURNEY_STORAGE_URL: shared_store ?? '',
        JOURNEY_REDIS_URL: shared_redis ?? '',
      },
    },
  )
).code;
for (const one of between) if ('stop' in one) await one.stop();
const { stats } = JSON.parse(readFileSync(journeys, 'utf8'));
totals.passed += stats.expected + stats.flaky;
totals.failed += stats.unexpected;
totals.skipped += stats.skipped;
if (stats.flaky > 0)
  notes.push(`${stats.flaky} browser journeys passed only at their second attempt; they are named above as flaky.`);

const advisories = await audit;
notes.push(...auditSentences(advisories));
if ('findings' in advisories) failures += advisories.findings.length;

say('result');
for (const note of notes) process.stdout.write(`${note}\n`);
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
process.exit(failures === 0 && totals.failed === 0 && totals.passed > 0 ? 0 : 1);
