import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { name: 'scam', include: ['src/**/*.test.ts'], maxWorkers: 2, testTimeout: 60_000 },
});
