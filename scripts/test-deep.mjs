// The deep gate, `npm run test:deep`: tests with repetition, races, measurements or other programs; the API tests again on PostgreSQL, S3 and Redis; all other journeys.
// `--room <name>` (repeatable) selects groups of tests ("rooms") below; the default is all except ON_REQUEST. `--shard <i>/<n>` selects a part of each. A failed file runs once more, alone, and is reported as flaky if it passes then.
// `--minutes <n>`: journeys that have not started n minutes after the start are skipped, and counted as skipped.
// TEST_DATABASE_URL, TEST_STORAGE_URL and TEST_REDIS_URL are addresses of services that already run.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { createGate, DIALECT_FILES, node } from './gate.mjs';
import { ROOT } from './node-runtime.mjs';
import { chromiumEnvironment, install, NEEDS } from './packages.mjs';
import { startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';
import { run } from './run.mjs';
import { startS3 } from './s3.mjs';

/** Rooms that contain the deep files of a vitest project. */
const PROJECTS = ['contract', 'scanner', 'scam', 'names', 'server', 'agent', 'web', 'house'];
/**
 * Rooms of single files. `newcomers`: the commands for new developers and for operators, in clean environments, with packages from the network.
 * `arm64`: npm start on an emulated CPU. `measures`: speed measurements, which other work on the machine affects.
 * @type {Readonly<Record<string, string[]>>}
 */
const FILE_ROOMS = {
  newcomers: ['newcomers', 'bare-machine', 'bootstrap', 'operating'],
  arm64: ['arm64'],
  measures: ['rule-speed', 'text-worst-cases', 'worst-cases'],
};
/** All rooms. `scanner-wasm` runs the tests of the scanner without the native engine. */
const ROOMS = [...PROJECTS, 'scanner-wasm', 'e2e', ...Object.keys(FILE_ROOMS)];
/** Rooms that run only on request, because they take as long as a gate or need an idle machine. Except for `arm64`, they are separate jobs of the GitHub workflow. */
const ON_REQUEST = ['scanner-wasm', ...Object.keys(FILE_ROOMS)];

/** Scanner tests that concern only the readers or the speed of the native engine. With WebAssembly they take an hour; engines.deep.test.ts compares the verdicts of both engines. */
const NOT_ON_WASM = ['reader-search', 'verdicts', 'compare-readers', ...FILE_ROOMS.measures];

/** Server tests that start their own services, or concern neither storage nor data shared by servers: requests, replies, words, mails, engines. */
const NOT_ON_CLUSTER = [
  /^app\/(api-names|phrases|support-links)/,
  /^platform\/(agent-package|blobs\/|counters|database-away|header-fields|hostile-bodies|http|log|openapi|security-headers|serve)/,
  /^features\/alerts\/alert-mails/,
  /^features\/antivirus\/(antivirus\.deep|at-once|clamd|engine-failed|recheck|record|signatures)/,
  /^features\/auth\/(asked-mail|auth|email-|password|required-factor)/,
  /^features\/chat\/chat/,
  /^features\/devices\/(measured-sessions|second-looks)/,
  /^features\/(scam-check|setup)\//,
  /^features\/web-protection\/real-clients/,
];

const began = Date.now();
const { values: options } = parseArgs({
  options: { room: { type: 'string', multiple: true }, shard: { type: 'string' }, minutes: { type: 'string' } },
});
const is_understood =
  (options.room ?? []).every((room) => ROOMS.includes(room)) &&
  /^\d+\/\d+$/.test(options.shard ?? '1/1') &&
  /^\d+$/.test(options.minutes ?? '1');
if (!is_understood) {
  process.stdout.write(
    `palisade: --room is one of ${ROOMS.join(', ')}, --shard a part such as 1/4, and --minutes a whole number.\n`,
  );
  process.exit(2);
}
const rooms = options.room ?? ROOMS.filter((room) => !ON_REQUEST.includes(room));
const shard = options.shard === undefined ? [] : [`--shard=${options.shard}`];
// Three concurrent files used only 1.2 of two cores, because deep tests wait for other programs and for leases to end.
const gate = createGate({ name: 'deep', may_rerun: true, at_once: 5 });

/** Vitest filters for test files of the server's features and platform that use a database, without those that the fast gate runs on PostgreSQL. */
function databaseFiles() {
  const sources = join(ROOT, 'server/src');
  return readdirSync(sources, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /#test\/(harness|cluster)\.ts/.test(readFileSync(path, 'utf8')))
    .filter((path) => !NOT_ON_CLUSTER.some((subject) => subject.test(relative(sources, path))))
    .map((path) => relative(ROOT, path))
    .filter((path) => !DIALECT_FILES.some((of) => path.startsWith(of)));
}

/** Starts the services that servers share: PostgreSQL, an S3-compatible store and Redis. Services in the environment variables are used and not started. */
async function startShared() {
  const starts = { DATABASE: startPostgres, STORAGE: startS3, REDIS: startRedis };
  /** @type {Record<string, string>} */
  const urls = {};
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  for (const [name, start] of Object.entries(starts)) {
    const named = process.env[`TEST_${name}_URL`];
    const service = named ? { url: named, stop: async () => {} } : await start();
    urls[name] = 'url' in service ? service.url : '';
    if ('stop' in service) stops.push(service.stop);
    else process.stdout.write(`palisade: ${service.skipped}\n`);
  }
  /** Environment variables with the addresses of the services. @param {string} prefix of their names */
  const environment = (prefix) => Object.fromEntries(Object.entries(urls).map(([name, url]) => [`${prefix}_${name}_URL`, url]));
  return {
    environment,
    is_complete: Object.values(urls).every((url) => url !== ''),
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

await install(/** @type {(keyof typeof NEEDS)[]} */ (Object.keys(NEEDS)));
if ((await run(node, [join(ROOT, 'scripts/bootstrap.mjs'), '--build'])).code !== 0) gate.failStep('The build failed; see above.');

/** Packages for text recognition in pictures (scam/src/picture-text.ts) with three languages: 76 MB that only one test file needs. */
const PICTURE_TEXT = [
  'tesseract.js-core@7.0.0',
  ...['eng', 'deu', 'pol'].map((language) => `@tesseract.js-data/${language}@1.0.0`),
];
if (rooms.includes('scam')) {
  const { code } = await run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', ...PICTURE_TEXT], {
    cwd: ROOT,
  });
  if (code !== 0) gate.skip(1, 'the npm packages of tesseract');
}

const projects = rooms.filter((room) => PROJECTS.includes(room));
if (projects.length > 0) {
  const named = projects.map((room) => `--project=${room}`);
  await gate.vitest(
    'deep tests',
    [
      ...named,
      ...shard,
      ...Object.values(FILE_ROOMS).flatMap((files) => files.map((file) => `--exclude=**/${file}.deep.test.{ts,mjs}`)),
      '.deep.test.',
    ],
    {
      TEST_DATABASE_URL: '',
      TEST_STORAGE_URL: '',
      TEST_REDIS_URL: '',
    },
  );
}

if (rooms.includes('scanner-wasm'))
  await gate.vitest(
    'scanner with the WebAssembly engine',
    ['--project=scanner', ...shard, ...NOT_ON_WASM.map((file) => `--exclude=**/${file}.deep.test.ts`)],
    { PALISADE_ENGINE: 'wasm' },
  );

if (rooms.includes('server') || rooms.includes('e2e')) {
  const shared = await startShared();
  if (!shared.is_complete) gate.skip(1, 'PostgreSQL, an S3 server and Redis');
  if (rooms.includes('server') && shared.is_complete) {
    await gate.vitest(
      'API tests on PostgreSQL, S3 and Redis',
      ['--project=server', ...shard, ...databaseFiles(), 'server/test/two-servers', 'server/test/upgrade'],
      shared.environment('TEST'),
    );
  }
  if (rooms.includes('e2e')) {
    const chromium = chromiumEnvironment();
    if (chromium === undefined) gate.skip(1, 'Chromium');
    else {
      await gate.journeys('all other journeys', ['--grep-invert', '@core', ...shard], {
        ...chromium,
        ...shared.environment('JOURNEY'),
        ...(options.minutes !== undefined && { JOURNEYS_BEGIN_UNTIL: `${began + Number(options.minutes) * 60_000}` }),
      });
    }
  }
  await shared.stop();
}
for (const [room, files] of Object.entries(FILE_ROOMS))
  if (rooms.includes(room)) await gate.vitest(room, [...shard, ...files.map((file) => `/${file}.deep.test.`)]);
gate.finish();
