import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const JSON_SCHEMA_WRITER = /\/zod\/v4\/core\/(?:json-schema-processors|to-json-schema)\.js$/u;

/**
 * Every zod schema carries the writer of JSON Schema, which only the server uses: 5 kB of the sign-in screen's budget.
 * Its functions are called by `toJSONSchema` alone, so the browser's build has empty ones in their place.
 */
function withoutJsonSchemaWriter(): Plugin {
  return {
    name: 'palisade:without-json-schema-writer',
    apply: 'build',
    load(id) {
      if (!JSON_SCHEMA_WRITER.test(id)) return null;
      const names = [...readFileSync(id, 'utf8').matchAll(/^export (?:function|const) (\w+)/gmu)].map((match) => match[1]);
      return names.map((name) => `export const ${name} = () => ({});`).join('\n');
    },
  };
}

/** What the screens behind sign-in share, in one file: a dozen of one kilobyte each costs as much again in headers. */
const SHARED_BEHIND_SIGN_IN =
  /\/src\/ui\/(?:administrators-only|scan-)|\/src\/api\/(?:dashboard|events|live-queries|scans|scan-summary)|\/contract\/src\/(?:current-subscription|dashboard|events)\.|\/IconFiles\./u;

/** The components of every screen, and the words for what a scan says, come with the first one; a dialog, which brings the kit's along, comes when it is opened. */
const COMPONENTS =
  /\/src\/ui\/(?:brand|button|card|page|states|toggle|figure-mark|file-name|moment|bytes)\.|\/contract\/src\/antivirus\.|\/IconCloudOff\.|\/(?:createReactComponent|defaultAttributes)\./u;

/** What the fields of the sign-in screen are made of: it has all of it, so that one file is smaller than five. */
const FIELDS =
  /\/@mantine\/core\/esm\/(?:components\/(?:Input|CloseButton|Loader|UnstyledButton)|core\/(?:Box|factory)|core\/MantineProvider\/Mantine\.context|core\/styles-api\/use-resolved-styles-api)|\/@mantine\/hooks\/esm\/use-merged-ref/u;

export default defineConfig({
  plugins: [react(), withoutJsonSchemaWriter()],
  // Nothing is inlined: the server's Content-Security-Policy has scripts, styles and fonts come from files of its own.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'signed-in',
              test: /\/@tanstack\/(?!.*(?:[mM]utationObserver|useMutation|[iI]nfiniteQuery(?!Behavior)))|\/react-router\/|\/src\/app\/(?:signed-in|router|shell\/shell)\.|\/Icon(?:DeviceDesktop|Lock)\./u,
            },
            { name: 'components', test: COMPONENTS },
            { name: 'fields', test: FIELDS },
            { name: 'shared', test: SHARED_BEHIND_SIGN_IN, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/api': { target: process.env.PALISADE_API ?? 'http://127.0.0.1:3000', ws: true } },
  },
  test: {
    name: 'web',
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/app/test-setup.ts'],
    restoreMocks: true,
    css: false,
  },
});
