import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['scripts/temporary-folder.mjs'],
    projects: [
      'contract',
      'scanner',
      'scam',
      'names',
      'server',
      'agent',
      'web',
      { test: { name: 'house', include: ['scripts/*.test.mjs'], testTimeout: 60_000, isolate: false } },
    ],
  },
});
