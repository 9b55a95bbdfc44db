// A reporter of vitest for the gates: keeps the errors that no test had, such as a promise refused after its test, or a worker that ended. The JSON report has them not.
import { writeFileSync } from 'node:fs';

/** The environment's name for the file that gets them. */
export const OUTSIDE_FILE = 'TEST_ERRORS_OUTSIDE';

export default class OutsideTests {
  /**
   * Writes `{ message, path, test }[]`: the file and the test that ran at that time are not always those at fault.
   * @param {unknown} _modules @param {readonly { name?: string, message?: string, VITEST_TEST_PATH?: unknown, VITEST_TEST_NAME?: unknown }[]} errors
   */
  onTestRunEnd(_modules, errors) {
    const path = process.env[OUTSIDE_FILE];
    if (path === undefined) return;
    const lines = errors.map(({ name, message, VITEST_TEST_PATH, VITEST_TEST_NAME }) => ({
      message: `${name ?? 'Error'}: ${message ?? 'no message'}`.split('\n', 1)[0],
      path: VITEST_TEST_PATH,
      test: VITEST_TEST_NAME,
    }));
    writeFileSync(path, JSON.stringify(lines));
  }
}
