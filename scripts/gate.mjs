// Shared parts of both gates (`npm test` is the fast gate, `npm run test:deep` the deep gate): running vitest and Playwright, counting, and the summary.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findNode, ROOT } from './node-runtime.mjs';
import { OUTSIDE_FILE } from './outside-tests.mjs';
import { installHint } from './packages.mjs';
import { run } from './run.mjs';

/** Path of the Node for tests. */
export const node = findNode() ?? process.execPath;

/** Tests of the deep gate: repeated runs, races, measurements, and tests that need other programs. */
export const DEEP_FILES = '**/*.deep.test.{ts,tsx,mjs}';

/** Tests of server code whose SQL differs between SQLite and PostgreSQL. The fast gate runs them on both databases, so the deep gate does not repeat them. */
export const DIALECT_FILES = [
  'server/src/platform/database.test.ts',
  'server/src/platform/database-errors.test.ts',
  'server/src/platform/retention.test.ts',
  'server/src/features/auth/privacy.test.ts',
  'server/src/features/audit/',
  'server/src/features/subscriptions/',
  'server/src/features/dashboard/',
  'server/src/features/web-protection/web-devices.test.ts',
];

/** Number of slow files in the summary. */
const SLOWEST = 10;

/** Suffix `[needs NAME]` of tests that are skipped because the machine lacks a program (scanner/test/needs.ts), and of the reason of a skipped journey. */
const NEEDS = /\[needs (.+)\]$/;

/**
 * @typedef {{ name: string, status: string, message?: string, startTime: number, endTime: number, assertionResults: { status: string, fullName: string, failureMessages?: string[] }[] }} FileReport
 */

/** @typedef {{ message: string, path?: string, test?: string }} OutsideError an error outside every test, with the file and the test that ran at that time */

/** The failed tests of a file with the first lines of their messages. @param {FileReport} file */
const failuresOf = ({ assertionResults }) =>
  assertionResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages?.[0]?.split('\n', 1)[0] ?? 'no message'}`);

/**
 * @typedef {{ suites?: Suite[], specs?: { tests: { annotations: { type: string, description?: string }[] }[] }[] }} Suite of journeys, in Playwright's report
 */

/** The needs of a suite's skipped journeys, one entry per journey. @param {Suite} suite @returns {string[]} */
function needsOf({ suites = [], specs = [] }) {
  const annotations = specs.flatMap(({ tests }) => tests).flatMap((one) => one.annotations);
  const own = annotations.flatMap(({ description = '' }) => NEEDS.exec(description)?.[1] ?? []);
  return [...own, ...suites.flatMap(needsOf)];
}

/** @param {string} path @returns {any} undefined if there is no complete report */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * One run of a gate. All counts are numbers of tests. A file that fails to load, a runner with errors outside of tests, a runner that ends without a report and a
 * failed step count as one failed test each, so that the summary matches the exit code.
 * @param {{ name: string, may_rerun: boolean, at_once: number }} gate `may_rerun`: failed files run once more, alone, and are reported as flaky if they pass then.
 * `at_once`: number of test files that run concurrently on two cores
 */
export function createGate({ name: gate_name, may_rerun, at_once }) {
  const reports = join(ROOT, 'node_modules', '.cache', `palisade-${gate_name}`);
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  const began = Date.now();
  const totals = { passed: 0, failed: 0, skipped: 0 };
  /** @type {{ title: string, seconds: number }[]} */
  const parts = [];
  /** @type {{ name: string, seconds: number }[]} */
  const files = [];
  /** @type {Map<string, number>} number of skipped tests by need */
  const needs = new Map();
  /** @type {string[]} */
  const notes = [];

  /** @param {FileReport} file */
  function countFile(file) {
    const { name, status, message, startTime, endTime, assertionResults } = file;
    const path = relative(ROOT, name);
    files.push({ name: path, seconds: (endTime - startTime) / 1000 });
    const failures = failuresOf(file);
    for (const failure of failures) notes.push(`Failed: ${path}: ${failure}`);
    for (const { status: outcome, fullName } of assertionResults) {
      if (outcome === 'passed') totals.passed += 1;
      else if (outcome !== 'failed') {
        totals.skipped += 1;
        const need = NEEDS.exec(fullName)?.[1];
        if (need !== undefined) countNeed(need, 1);
      }
    }
    const failed_outside = status === 'failed' && failures.length === 0;
    if (failed_outside) notes.push(`Failed outside its tests: ${path}: ${(message ?? '').split('\n', 1)[0]}`);
    totals.failed += failures.length + Number(failed_outside);
  }

  /** @param {string} need @param {number} count */
  function countNeed(need, count) {
    needs.set(need, (needs.get(need) ?? 0) + count);
  }

  /** @param {string} line */
  function failStep(line) {
    totals.failed += 1;
    notes.push(line);
  }

  /** @param {string} title @param {() => Promise<void>} work */
  async function part(title, work) {
    process.stdout.write(`\n== ${title}\n`);
    const from = Date.now();
    await work();
    parts.push({ title, seconds: (Date.now() - from) / 1000 });
  }

  /** One run of vitest. @param {string} name @param {string[]} args @param {Record<string, string>} env */
  async function vitestOnce(name, args, env) {
    const path = join(reports, `${name}.json`);
    const outside = join(reports, `${name}-outside.json`);
    const { code } = await run(
      node,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--passWithNoTests',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${path}`,
        `--reporter=${join(ROOT, 'scripts/outside-tests.mjs')}`,
        ...args,
      ],
      { env: { NO_COLOR: '1', TEST_BUILT_SERVER: join(ROOT, 'server/dist'), [OUTSIDE_FILE]: outside, ...env } },
    );
    /** @type {OutsideError[]} */
    const errors = readReport(outside) ?? [];
    return { code, report: readReport(path), errors };
  }

  return {
    totals,
    part,
    failStep,

    /** Adds a line to the summary. @param {string} line */
    note(line) {
      notes.push(line);
    },

    /** Runs a step other than tests. @param {string} title @param {string[]} script @param {string} line message on failure */
    async step(title, script, line) {
      await part(title, async () => {
        if ((await run(node, script)).code !== 0) failStep(line);
      });
    },

    /**
     * Runs tests with vitest.
     * @param {string} title @param {string[]} args of vitest @param {Record<string, string>} [env]
     */
    async vitest(title, args, env = {}) {
      const name = title.replaceAll(/[^\w]+/g, '-');
      await part(title, async () => {
        const { code, report, errors } = await vitestOnce(name, [`--maxWorkers=${at_once}`, ...args], env);
        for (const { message, path, test } of errors)
          notes.push(
            `Error outside the tests: ${path ? relative(ROOT, path) : 'no file'}, near "${test ?? 'no test'}": ${message}`,
          );
        if (report === undefined) return failStep(`The tests of "${title}" ended without a report (exit code ${code}).`);
        /** @type {FileReport[]} */
        const results = report.testResults;
        const failed = results.filter(
          ({ name: path, status }) => status === 'failed' || errors.some((error) => error.path === path),
        );
        const again = may_rerun && failed.length > 0 ? await rerun(name, args, env, failed) : { results: [], errors };
        for (const file of results) countFile(again.results.find(({ name: path }) => path === file.name) ?? file);
        const is_unnamed = errors.some((error) => !failed.some(({ name: path }) => path === error.path));
        if (is_unnamed || again.errors.length > 0 || (code !== 0 && failed.length === 0))
          failStep(`The runner of "${title}" failed outside its tests (exit code ${code}).`);
      });
    },

    /**
     * Runs browser journeys with Playwright.
     * @param {string} title @param {string[]} args of Playwright @param {Record<string, string>} env
     */
    async journeys(title, args, env) {
      const path = join(reports, `${title.replaceAll(/[^\w]+/g, '-')}.json`);
      await part(title, async () => {
        const cli = join(ROOT, 'node_modules/@playwright/test/cli.js');
        const { code } = await run(node, [cli, 'test', '--config', join(ROOT, 'e2e/playwright.config.ts'), ...args], {
          cwd: join(ROOT, 'e2e'),
          env: { NO_COLOR: '1', PLAYWRIGHT_JSON_OUTPUT_FILE: path, ...env },
        });
        const report = readReport(path);
        const stats = report?.stats;
        if (stats === undefined) return failStep(`The journeys ended without a report (exit code ${code}).`);
        totals.passed += stats.expected + stats.flaky;
        totals.failed += stats.unexpected;
        totals.skipped += stats.skipped;
        for (const need of needsOf(report)) countNeed(need, 1);
        if (stats.flaky > 0)
          notes.push(`Flaky: ${stats.flaky} journeys passed only at their second attempt; they are named above.`);
        if (code !== 0 && stats.unexpected === 0)
          failStep(`The runner of the journeys failed outside its tests (exit code ${code}).`);
      });
    },

    /** Counts tests that are skipped because a program is missing. @param {number} count @param {string} need */
    skip(count, need) {
      totals.skipped += count;
      countNeed(need, count);
    },

    /** Prints the summary and ends the process. @returns {never} */
    finish() {
      process.stdout.write('\n== result\n');
      for (const { title, seconds } of [...parts, { title: 'all', seconds: (Date.now() - began) / 1000 }])
        process.stdout.write(`${seconds.toFixed(0).padStart(6)} s  ${title}\n`);
      const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
      if (slowest.length > 0) process.stdout.write('The slowest files:\n');
      for (const { name, seconds } of slowest) process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${name}\n`);
      for (const note of notes) process.stdout.write(`${note}\n`);
      for (const [need, count] of needs) process.stdout.write(`Skipped ${count}: needs ${need}\n`);
      const hint = installHint([...needs.keys()]);
      if (hint !== undefined) process.stdout.write(`${hint}\n`);
      process.stdout.write(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
      process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
    },
  };

  /**
   * Runs the failed files once more, one after another.
   * @param {string} name @param {string[]} args @param {Record<string, string>} env @param {FileReport[]} failed
   * @returns {Promise<{ results: FileReport[], errors: OutsideError[] }>} `errors`: errors of this run outside of tests
   */
  async function rerun(name, args, env, failed) {
    process.stdout.write(`\n== again, alone: ${failed.map(({ name: path }) => relative(ROOT, path)).join(', ')}\n`);
    // Each option is one argument that includes its value: --exclude=...
    const options = args.filter((arg) => arg.startsWith('--'));
    const { report, errors } = await vitestOnce(
      `${name}-again`,
      [...options, '--no-file-parallelism', ...failed.map(({ name: path }) => path)],
      env,
    );
    if (report === undefined) failStep(`The second attempt of "${name}" ended without a report.`);
    /** @type {FileReport[]} */
    const results = report?.testResults ?? [];
    for (const file of failed) {
      const passes_now = results.some(({ name: path, status }) => path === file.name && status !== 'failed');
      if (passes_now)
        notes.push(
          `Flaky: ${relative(ROOT, file.name)} passed only at its second attempt. First: ${failuresOf(file).join('; ') || 'an error outside its tests'}`,
        );
    }
    return { results, errors };
  }
}

/** Whether a path of the repository exists. @param {string} path */
export const isThere = (path) => existsSync(join(ROOT, path));
