import { defineConfig } from 'vitest/config';

// Files that load rules each have network namespaces of their own; two at once are what two cores bear.
export default defineConfig({
  test: {
    name: 'agent',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['@palisade/scanner/test/patience'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
