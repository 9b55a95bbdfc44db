// A vitest reporter for the gates: writes errors outside of tests, such as a promise that rejects after its test, or a worker that crashes. The JSON report does not contain them.
import { writeFileSync } from 'node:fs';

/** Environment variable with the path of the report. */
export const OUTSIDE_FILE = 'TEST_ERRORS_OUTSIDE';

/** @typedef {{ name?: string, message?: string, cause?: { message?: string }, VITEST_TEST_PATH?: string, VITEST_TEST_NAME?: string }} SerializedError */

export default class OutsideTests {
  /**
   * Writes `{ message, path, test }[]`. The file and the test are those that ran at that time; another one may have caused the error.
   * @param {unknown} _modules @param {readonly SerializedError[]} errors
   */
  onTestRunEnd(_modules, errors) {
    const path = process.env[OUTSIDE_FILE];
    if (path === undefined) return;
    const lines = errors.map(({ name = 'Error', message = 'no message', cause, VITEST_TEST_PATH, VITEST_TEST_NAME }) => {
      const reason = cause?.message ?? message;
      // The error of a crashed worker contains the file only in its message.
      const [, named] = /running test file (.+)$/.exec(reason) ?? [];
      return { message: `${name}: ${reason}`.split('\n', 1)[0], path: VITEST_TEST_PATH ?? named, test: VITEST_TEST_NAME };
    });
    writeFileSync(path, JSON.stringify(lines));
  }
}
