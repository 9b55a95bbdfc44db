import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'scam',
    include: ['src/**/*.test.ts'],
    isolate: false,
    setupFiles: ['../contract/test/fixed-seed.ts'],
    testTimeout: 60_000,
  },
});
