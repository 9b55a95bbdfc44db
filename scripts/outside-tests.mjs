// A reporter of vitest for the gates: keeps the errors that no test had, such as a promise refused after its test, or a worker that ended. The JSON report has them not.
import { writeFileSync } from 'node:fs';

/** The environment's name for the file that gets them. */
export const OUTSIDE_FILE = 'TEST_ERRORS_OUTSIDE';

/** @typedef {{ name?: string, message?: string, cause?: { message?: string }, VITEST_TEST_PATH?: string, VITEST_TEST_NAME?: string }} SerializedError */

export default class OutsideTests {
  /**
   * Writes `{ message, path, test }[]`: the file and the test that ran at that time are not always those at fault.
   * @param {unknown} _modules @param {readonly SerializedError[]} errors
   */
  onTestRunEnd(_modules, errors) {
    const path = process.env[OUTSIDE_FILE];
    if (path === undefined) return;
    const lines = errors.map(({ name = 'Error', message = 'no message', cause, VITEST_TEST_PATH, VITEST_TEST_NAME }) => {
      const reason = cause?.message ?? message;
      // The error of a worker that ended names its file in its text alone.
      const [, named] = /running test file (.+)$/.exec(reason) ?? [];
      return { message: `${name}: ${reason}`.split('\n', 1)[0], path: VITEST_TEST_PATH ?? named, test: VITEST_TEST_NAME };
    });
    writeFileSync(path, JSON.stringify(lines));
  }
}
