import { builtPrograms } from '@palisade/scanner/test/built-programs';
import { defineConfig } from 'vitest/config';

// Files that load rules each have network namespaces of their own.
export default defineConfig({
  plugins: [builtPrograms()],
  test: {
    name: 'agent',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
