/// <reference types="vitest/config" />
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Preloads the font. Otherwise the browser requests it when the first text renders, and the text moves when the font arrives. */
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

/** Removes the summaries of endpoints from the pages; only the description of the API shows them. */
function withoutSummaries(): Plugin {
  return {
    name: 'palisade:without-summaries',
    apply: 'build',
    enforce: 'pre',
    transform: {
      filter: { id: /\/contract\/src\/[\w-]+\.ts$/u },
      handler: (code) => ({ code: code.replaceAll(/\bsummary:\s*(['"`])(?:\\.|(?!\1).)*\1(?=,)/gsu, "summary: ''"), map: null }),
    },
  };
}

/** Size above which a file gets its own task, in characters. */
const OWN_TASK_CHARS = 20_000;

/**
 * Loads the large imports of the entry as separate scripts, each after its own imports. As part of the entry they run in one task, which blocks
 * a phone and its input for 150 ms (docs/decisions/web.md).
 */
function ownTasks(): Plugin {
  return {
    name: 'palisade:own-tasks',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {}, chunk: entry }) {
        const ordered = new Set<string>();
        const visit = (file: string) => {
          const chunk = bundle[file];
          if (chunk?.type !== 'chunk' || ordered.has(file)) return;
          for (const imported of chunk.imports) visit(imported);
          ordered.add(file);
        };
        if (entry) visit(entry.fileName);
        return [...ordered]
          .filter((file) => {
            const chunk = bundle[file];
            return chunk?.type === 'chunk' && !chunk.isEntry && chunk.code.length >= OWN_TASK_CHARS;
          })
          .map((file) => ({
            tag: 'script',
            attrs: { type: 'module', crossorigin: true, src: `/${file}` },
            injectTo: 'head-prepend' as const,
          }));
      },
    },
  };
}

/**
 * Removes a top-level await from noVNC: it tests H.264 decoding, which the agent does not allow anyway. A module with top-level await makes the build move shared modules
 * out of the entry: 11 kB more at sign-in (docs/decisions/web.md).
 */
function withoutWaiting(): Plugin {
  const wait = 'supportsWebCodecsH264Decode = await _checkWebCodecsH264DecodeSupport();';
  return {
    name: 'palisade:without-waiting',
    apply: 'build',
    transform: {
      filter: { id: /@novnc\/novnc\/core\/util\/browser\.js$/u },
      handler(code) {
        if (!code.includes(wait))
          throw new Error('noVNC waits elsewhere now, or no longer: look at withoutWaiting in vite.config.ts.');
        return { code: code.replace(wait, ''), map: null };
      },
    },
  };
}

/** Modules by folder: a file name without extension means the module and its styles, `*` all files in the folder and below. */
type Modules = Record<string, readonly string[]>;

/** Returns a test whether the path of a module is in the table. */
function isOf(modules: Modules): (path: string) => boolean {
  const folders = Object.entries(modules);
  return (path) =>
    folders.some(([folder, names]) => {
      const [, file] = path.split(`/${folder}/`);
      return file !== undefined && names.some((name) => name === '*' || file === name || file.startsWith(`${name}.`));
    });
}

// Each fetched file costs 330 bytes of headers. Groups name whole packages and modules of this project. The two groups that name files of Mantine are safe: these files import only React and the file with `Box`, and a renamed file costs only 660 bytes. The build fails if groups import each other in a cycle.

/** zod and its configuration in one file, so that the configuration applies before the first schema is created. */
const ZOD: Modules = { zod: ['*'], 'src/api': ['zod-without-eval'] };

/** React, and the shared modules of Mantine's components. */
const REACT: Modules = {
  'node_modules/react': ['*'],
  'node_modules/react-dom': ['*'],
  'node_modules/scheduler': ['*'],
  MantineProvider: ['Mantine.context'],
  'use-merged-ref': ['*'],
};

/** Mantine's fields and buttons on the sign-in screen. */
const FIELDS: Modules = {
  '@mantine/core/esm/components/Input': ['*'],
  '@mantine/core/esm/components/InputBase': ['*'],
  '@mantine/core/esm/components/CloseButton': ['*'],
  '@mantine/core/esm/components/Loader': ['*'],
  '@mantine/core/esm/components/UnstyledButton': ['*'],
  'styles-api/use-resolved-styles-api': ['*'],
};

/** Modules of every call to the server, and texts of the sign-in screen. The first visit loads all of them. */
const CALLS: Modules = {
  'src/api': ['call', 'early', 'session', 'connection', 'unknown-values'],
  'contract/src': [
    'auth',
    'constants',
    'email',
    'endpoint',
    'fields',
    'joiners',
    'platform',
    'problem',
    'reader',
    'reader-words',
    'setup',
    'text',
  ],
};

/** Components of every screen, and TanStack Query. The first screen after sign-in loads all of them. */
const COMPONENTS: Modules = {
  '@tanstack': ['*'],
  'src/ui': [
    'badge',
    'brand',
    'button',
    'card',
    'page',
    'states',
    'toggle',
    'figure-mark',
    'file-name',
    'sentence',
    'shown-name',
    'moment',
    'place',
    'pressed',
  ],
  'contract/src': ['antivirus', 'channel', 'current-subscription', 'day', 'intl', 'phrase'],
};

/** The router, and modules of the shell and of most screens after sign-in. The shell is not included: it imports modules outside the groups, which import these. */
const SIGNED_IN: Modules = {
  'react-router': ['*'],
  'src/app': ['screens'],
  'src/app/shell': [
    'message-notices',
    'dock.css',
    'exposure-banner.css',
    'shell.css',
    'sidebar.css',
    'top-bar.css',
    'user-menu.css',
  ],
  'src/api': ['absence', 'change-list', 'events', 'notices', 'shown-in', 'support-links'],
  'src/domain': ['live-queries'],
  'src/domain/conversation': ['chat', 'desk-counts'],
  'src/domain/dashboard': ['dashboard'],
  'src/domain/overview': ['overview'],
  'src/domain/scan': ['scans', 'scan-badge', 'scan-row', 'scan-sentence', 'scan-summary'],
  'src/domain/session': ['remote-news', 'sharing-now'],
  'src/ui': [
    'button-link',
    'closed-by-back',
    'color-scheme-switch.css',
    'sheet.css',
    'test-files',
    'use-message-notices',
    'zone-note.css',
  ],
  'contract/src': [
    'chat-read',
    'chat-record',
    'dashboard',
    'desk-counts',
    'desk-record',
    'desk-team',
    'events',
    'may',
    'overview',
    'remote-grant',
    'remote-pipe',
    'remote-record',
    'remote-signal',
  ],
  'use-mantine-color-scheme': ['use-mantine-color-scheme'],
  'use-media-query': ['*'],
  'use-color-scheme': ['*'],
  'utils/noop': ['*'],
  icons: ['IconFiles', 'IconMoon', 'IconShieldX', 'IconSun', 'IconTestPipe'],
};

/** Parts of lists and dialogs. The dashboard needs none of them; every other screen after sign-in needs some. */
const LISTS_AND_DIALOGS: Modules = {
  'src/app': ['guarded'],
  'src/api': ['change', 'pages'],
  'src/ui': [
    'administrators-only',
    'dialog-part',
    'focus-kept',
    'list-card',
    'list-filters',
    'listed',
    'records',
    'refreshed-card',
    'refusal',
    'searched-pages',
    'show-more',
    'two-lines',
  ],
  'use-debounced-value': ['*'],
  icons: ['IconArrowsSort'],
};

/** Parts of screens that only administrators have. */
const STAFF: Modules = {
  'src/app/shell': ['open-group', 'proxy-findings', 'staff-nav'],
  'contract/src': ['proxy'],
  icons: ['IconCreditCardPay'],
};

/** Account modules outside all groups. In the group of the account they would create an import cycle with a lazy part. */
const OWN_DIALOGS: Modules = { 'src/features/account': ['account-dialogs', 'app-setup', 'email-proof'] };
const isOwnDialog = isOf(OWN_DIALOGS);
const isAccount = isOf({ 'src/features/account': ['*'] });

export default defineConfig({
  plugins: [react(), fontAtOnce(), ownTasks(), withoutWaiting(), withoutSummaries()],
  // Assets are never inlined: the Content-Security-Policy allows scripts, styles and fonts only from files of the server.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // File names compress badly and are a large part of the first visit's data. Seven characters distinguish 2^42 contents.
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'zod', test: isOf(ZOD) },
            { name: 'react', test: isOf(REACT) },
            { name: 'calls', test: isOf(CALLS) },
            { name: 'fields', test: isOf(FIELDS) },
            { name: 'components', test: isOf(COMPONENTS) },
            { name: 'signed-in', test: isOf(SIGNED_IN) },
            { name: 'staff', test: isOf(STAFF) },
            { name: 'lists-and-dialogs', test: isOf(LISTS_AND_DIALOGS), minShareCount: 2 },
            { name: 'icons', test: isOf({ '@tabler': ['*'] }), minShareCount: 4 },
            { name: 'account', test: (path) => isAccount(path) && !isOwnDialog(path), minShareCount: 2 },
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
    // Loading Mantine for each file took three quarters of the time; test-setup.ts says which modules files share.
    isolate: false,
    pool: 'forks',
    restoreMocks: true,
    // Limit for a condition that never becomes true on a busy machine; an idle machine needs about 100 ms.
    testTimeout: 30_000,
    css: false,
  },
});
