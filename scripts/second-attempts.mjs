import { writeFileSync } from 'node:fs';

/** Writes the names of the tests that passed only when they were tried again into the file that SECOND_ATTEMPTS names, as a JSON list. */
export default class SecondAttempts {
  /** @type {string[]} */
  names = [];

  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky) this.names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd() {
    if (process.env.SECOND_ATTEMPTS) writeFileSync(process.env.SECOND_ATTEMPTS, JSON.stringify(this.names));
  }
}
