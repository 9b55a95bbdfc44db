import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['scripts/temporary-folder.mjs'],
    // Tests wait half of their time, so that three at once are what two cores bear.
    maxWorkers: 3,
    projects: [
      'contract',
      'scanner',
      'scam',
      'server',
      'agent',
      'web',
      { test: { name: 'house', include: ['scripts/*.test.mjs'], testTimeout: 60_000, isolate: false } },
    ],
  },
});
