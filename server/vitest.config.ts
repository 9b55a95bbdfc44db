import { defineConfig } from 'vitest/config';

// Each file starts real servers with real engine processes; two files at once are what two cores bear.
export default defineConfig({
  test: {
    name: 'server',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Modules hold no state of their own, so that files may share them: a third of the time was loading them anew.
    isolate: false,
    setupFiles: ['../scanner/test/patience.ts', 'test/file-end.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
