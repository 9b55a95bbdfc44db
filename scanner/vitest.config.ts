import { defineConfig } from 'vitest/config';

/** The WebAssembly engine takes some 6 ms for a small file, where the native one takes 0.1. */
const PATIENCE_MS = process.env['PALISADE_ENGINE'] === 'wasm' ? 300_000 : 60_000;

export default defineConfig({
  test: {
    name: 'scanner',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // Modules hold no state of their own, so that files may share them.
    isolate: false,
    setupFiles: ['../contract/test/fixed-seed.ts'],
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
  },
});
