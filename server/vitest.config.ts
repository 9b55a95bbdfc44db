import { builtPrograms } from '@palisade/scanner/test/built-programs';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [builtPrograms()],
  test: {
    name: 'server',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // Modules hold no state of their own, so that files may share them: a third of the time was loading them anew.
    isolate: false,
    setupFiles: ['../contract/test/fixed-seed.ts', 'test/file-end.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
