// The deep gate, `npm run test:deep`: what repeats, races, measures or needs other programs; the API tests again on PostgreSQL, S3 and Redis; all other journeys.
// `--room <name>` (once or several times) takes some of the rooms below (without it: all but those of ON_REQUEST), `--shard <i>/<n>` a part of each. A file that fails runs once more, alone, and is named as flaky when it passes then.
// `--minutes <n>`: journeys that have not begun so many minutes after the start are skipped, and counted as skipped.
// TEST_DATABASE_URL, TEST_STORAGE_URL and TEST_REDIS_URL name services that run already.
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

/** The rooms that are projects of vitest, with their deep files. */
const PROJECTS = ['contract', 'scanner', 'scam', 'names', 'server', 'agent', 'web', 'house'];
/**
 * Files that are rooms of their own. `newcomers`: both commands as newcomers to the project run them, and those of operators, on other machines, with packages from the network.
 * `arm64`: npm start on an emulated processor. `measures`: speeds, which other work on the machine disturbs.
 * @type {Readonly<Record<string, string[]>>}
 */
const FILE_ROOMS = {
  newcomers: ['newcomers', 'bare-machine', 'bootstrap', 'operating'],
  arm64: ['arm64'],
  measures: ['rule-speed', 'text-worst-cases', 'worst-cases'],
};
/** `scanner-wasm`: the tests of the scanner on a machine without the native engine. */
const ROOMS = [...PROJECTS, 'scanner-wasm', 'e2e', ...Object.keys(FILE_ROOMS)];
/** Rooms that take as long as a gate each, or need a quiet machine: only when they are named. The workflow on GitHub has them as jobs of their own, but for `arm64`. */
const ON_REQUEST = ['scanner-wasm', ...Object.keys(FILE_ROOMS)];

/** Files of the scanner whose subject is readers alone, or the speed of the native engine. With the other one they take an hour; engines.deep.test.ts compares the verdicts of both. */
const NOT_ON_WASM = ['reader-search', 'verdicts', 'compare-readers', ...FILE_ROOMS.measures];

/** Server files that have services of their own, or whose subject is neither storage nor what servers share: requests, replies, words, mails, engines. */
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
// With three at once, deep tests used 1.2 of two cores: they wait for other programs and for leases to end.
const gate = createGate({ name: 'deep', may_rerun: true, at_once: 5 });

/** The test files of the server's features and platform that ask a database, as filters for vitest; without those that the fast gate runs on PostgreSQL. */
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

/** Services that servers share: a PostgreSQL, a store that speaks S3 and a Redis, started for the tests or named by the environment. */
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
  /** The addresses as environment variables with a prefix. @param {string} prefix */
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

/** Programs that operators install for the text of pictures (scam/src/picture-text.ts), with the data of three languages: 76 MB that only one file of tests needs. */
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
