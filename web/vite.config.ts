import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/**
 * What libraries carry along and the browser never calls: zod's writer of JSON Schema, which only the server uses (5 kB of the sign-in screen's budget), and
 * the router's instrumentation, for which nobody registers, and its links for pages that a server rendered (1.5 kB of every screen). The browser's build has functions that answer nothing in their place.
 */
const NEVER_CALLED =
  /\/zod\/v4\/core\/(?:json-schema-processors|to-json-schema)\.js$|\/react-router\/dist\/production\/lib\/(?:router\/instrumentation|dom\/ssr\/links)\.js$/u;

function namesOf(source: string): string[] {
  const declared = [...source.matchAll(/^export (?:function|const) (\w+)/gmu)].map((match) => match[1] ?? '');
  const listed = [...source.matchAll(/^export \{([^}]+)\}/gmu)].flatMap((match) => (match[1] ?? '').split(','));
  return [...declared, ...listed.map((name) => name.split(' as ').at(-1)?.trim() ?? '')];
}

function withoutWhatIsNeverCalled(): Plugin {
  return {
    name: 'palisade:without-what-is-never-called',
    apply: 'build',
    load(id) {
      if (!NEVER_CALLED.test(id)) return null;
      const answer = id.includes('/zod/') ? '({})' : 'undefined';
      return namesOf(readFileSync(id, 'utf8'))
        .map((name) => `export const ${name} = () => ${answer};`)
        .join('\n');
    },
  };
}

/** Has the page ask for its font at once: named in the styles alone, it is asked for when the first words are drawn, and moves them when it comes. */
function fontAtOnce(): Plugin {
  return {
    name: 'palisade:font-at-once',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.keys(bundle)
          .filter((file) => file.endsWith('.woff2'))
          .map((file) => ({
            tag: 'link',
            attrs: { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: true },
            injectTo: 'head-prepend' as const,
          })),
    },
  };
}

/** What the screens behind sign-in share, in one file: a dozen of one kilobyte each costs as much again in headers. */
const SHARED_BEHIND_SIGN_IN =
  /\/src\/ui\/(?:scan-|test-files|button-link\.tsx)|\/src\/api\/(?:dashboard|events|live-queries|overview|scans|scan-summary)|\/contract\/src\/(?:channel|current-subscription|dashboard|events|overview)\.|\/IconFiles\./u;

/** The components of every screen, and the words for what a scan says, come with the first one; a dialog, which brings the kit's along, comes when it is opened. */
const COMPONENTS =
  /\/src\/ui\/(?:badge|brand|button|card|page|scan-sentence|states|toggle|figure-mark|file-name|shown-name|moment|bytes)\.|\/contract\/src\/antivirus\.|\/IconCloudOff\.|\/(?:createReactComponent|defaultAttributes)\./u;

/** What lists and dialogs are made of: the dashboard has none of it, and every screen behind it some. */
const LISTS_AND_DIALOGS =
  /\/src\/ui\/(?:administrators-only|dialog-part|focus-kept|listed|records|refreshed-card|refusal|show-more|two-lines)\.|\/Icon(?:ArrowDown|ArrowUp|ArrowsSort|Refresh)\./u;

/** What the fields of the sign-in screen are made of: it has all of it, so that one file is smaller than five. */
const FIELDS =
  /\/@mantine\/core\/esm\/(?:components\/(?:Input|CloseButton|Loader|UnstyledButton)|core\/(?:Box|factory)|core\/MantineProvider\/Mantine\.context|core\/styles-api\/use-resolved-styles-api)|\/@mantine\/hooks\/esm\/use-merged-ref/u;

/** What is about one's own account comes when the first of it is opened: a file for each part is no smaller, and every screen names them all. */
const ACCOUNT = /\/src\/features\/account\/(?!app-setup)/u;

/** What administrators alone see on every screen: one file, for a file each costs more in headers than in bytes. Its few rules are with those of the shell. */
const ADMINISTRATORS =
  /\/src\/app\/shell\/(?:admin-nav|proxy-findings)\.|\/contract\/src\/proxy\.|\/Icon(?:BuildingStore|CreditCardPay|Flag|Inbox|ListDetails|Users)\./u;

export default defineConfig({
  plugins: [react(), withoutWhatIsNeverCalled(), fontAtOnce()],
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
              test: /\/@tanstack\/(?!.*(?:[mM]utationObserver|useMutation|[iI]nfiniteQuery(?!Behavior|Options)))|\/react-router\/|\/src\/app\/(?:signed-in|router|shell\/shell)\.|\/src\/app\/shell\/[a-z-]+\.css|\/src\/ui\/(?:button-link|color-scheme-switch|scan-row|sheet)\.css|\/Icon(?:DeviceDesktop|Lock)\./u,
            },
            { name: 'components', test: COMPONENTS },
            { name: 'fields', test: FIELDS },
            { name: 'lists-and-dialogs', test: LISTS_AND_DIALOGS, minShareCount: 2 },
            { name: 'account', test: ACCOUNT },
            { name: 'administrators', test: ADMINISTRATORS },
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
    // Loading the kit anew for each file was three quarters of the time; the set-up says what files share.
    isolate: false,
    pool: 'forks',
    maxWorkers: 2,
    restoreMocks: true,
    // Of a condition that never comes true, on a machine that is busy; an idle one needs some 100 ms.
    testTimeout: 30_000,
    css: false,
  },
});
