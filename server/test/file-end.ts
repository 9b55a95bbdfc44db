import { afterAll } from 'vitest';
import { disposeLeft } from './after-file.ts';
import { takePhraseFaults } from './phrased-problems.ts';

/** Many servers may have been started. ms. */
const PATIENCE_MS = 300_000;

afterAll(disposeLeft, PATIENCE_MS);

/** Every refusal that the servers of the file answered can be said in another language. */
afterAll(() => {
  const [fault] = takePhraseFaults();
  if (fault !== undefined) throw new Error(fault);
});
