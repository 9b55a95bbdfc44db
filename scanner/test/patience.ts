import { vi } from 'vitest';

/** vitest waits for 1 s; a busy machine takes longer for 10 ms of an idle one. */
const PATIENCE_MS = 40_000;

// A condition that comes true is seen at once, however long one would have waited; only what never comes true takes the whole time. A test may ask for more.
const waitFor = vi.waitFor.bind(vi);
vi.waitFor = (callback, options) => {
  const asked = typeof options === 'number' ? { timeout: options } : options;
  return waitFor(callback, { ...asked, timeout: Math.max(asked?.timeout ?? 0, PATIENCE_MS) });
};
