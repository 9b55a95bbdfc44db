import { defineConfig } from 'vitest/config';

// Many files start real engine processes; two files at once are what two cores bear.
export default defineConfig({
  test: {
    name: 'scanner',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Modules hold no state of their own, so that files may share them.
    isolate: false,
    setupFiles: ['test/patience.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
