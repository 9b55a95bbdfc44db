/// <reference types="vitest/config" />
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

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

/** Chars of a file that are worth a task of their own. */
const OWN_TASK_CHARS = 20_000;

/**
 * Has the page run the large files that its entry asks for as scripts of their own, each after what it asks for itself. As parts of the entry they run in one task with it, which holds
 * a phone for 150 ms; what a person does meanwhile waits (docs/decisions/web.md).
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
 * noVNC waits at its top for whether the browser decodes H.264, which the agent's gate lets nobody ask for. One module that waits has the build keep everything that screens
 * share out of the entry's file: 11 kB more at sign-in (docs/decisions/web.md).
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

/** Modules by their folder: the file's name without its ending means the module and its styles, `*` all files of a folder and those below it. */
type Modules = Record<string, readonly string[]>;

/** Whether the path of a module is in the table. */
function isOf(modules: Modules): (path: string) => boolean {
  const folders = Object.entries(modules);
  return (path) =>
    folders.some(([folder, names]) => {
      const [, file] = path.split(`/${folder}/`);
      return file !== undefined && names.some((name) => name === '*' || file === name || file.startsWith(`${name}.`));
    });
}

// A file that a screen fetches costs 330 bytes of headers beside its own. Groups name whole packages and our own files. The two that name files of Mantine are safe: they import
// only React and the file with `Box`, and a file that Mantine renames costs 660 bytes, no more. The build fails where groups import each other in a circle.

/** zod and its configuration, a file of its own, so that it holds before the first schema is made. */
const ZOD: Modules = { zod: ['*'], 'src/api': ['zod-without-eval'] };

/** React, and the shared modules of Mantine's components. */
const REACT: Modules = {
  'node_modules/react': ['*'],
  'node_modules/react-dom': ['*'],
  'node_modules/scheduler': ['*'],
  MantineProvider: ['Mantine.context'],
  'use-merged-ref': ['*'],
};

/** Fields and buttons of Mantine that the sign-in screen has. */
const FIELDS: Modules = {
  '@mantine/core/esm/components/Input': ['*'],
  '@mantine/core/esm/components/InputBase': ['*'],
  '@mantine/core/esm/components/CloseButton': ['*'],
  '@mantine/core/esm/components/Loader': ['*'],
  '@mantine/core/esm/components/UnstyledButton': ['*'],
  'styles-api/use-resolved-styles-api': ['*'],
};

/** Modules of every call to the server, and the words of the sign-in screen: the first visit has all of them. */
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

/** The components of every screen, and the library that asks for records: the screen behind sign-in has all of it. */
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
  ],
  'contract/src': ['antivirus', 'channel', 'current-subscription', 'day', 'intl', 'phrase'],
};

/** The router, and what the shell and most screens behind sign-in ask for. The shell itself is no part: it imports what is of no group, which asks for these. */
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
  'src/ui': ['button-link', 'color-scheme-switch.css', 'sheet.css', 'test-files', 'use-message-notices', 'zone-note.css'],
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

/** Parts of lists and dialogs: the dashboard has none of it, and every screen behind it some. */
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

/** Parts of every screen that administrators alone have. */
const STAFF: Modules = {
  'src/app/shell': ['open-group', 'proxy-findings', 'staff-nav'],
  'contract/src': ['proxy'],
  icons: ['IconCreditCardPay'],
};

/** Parts of one's own account that are in no group: the rest would ask a part that has code of its own for it, in a circle. */
const OWN_DIALOGS: Modules = { 'src/features/account': ['account-dialogs', 'app-setup', 'email-proof'] };
const isOwnDialog = isOf(OWN_DIALOGS);
const isAccount = isOf({ 'src/features/account': ['*'] });

export default defineConfig({
  plugins: [react(), fontAtOnce(), ownTasks(), withoutWaiting()],
  // Files are not inlined: the server's Content-Security-Policy has scripts, styles and fonts come from files of its own.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Names of files are most of what a first visit cannot have compressed: seven letters tell 2^42 contents apart.
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
    // Loading the kit anew for each file was three quarters of the time; the set-up says what files share.
    isolate: false,
    pool: 'forks',
    restoreMocks: true,
    // Of a condition that never comes true, on a machine that is busy; an idle one needs some 100 ms.
    testTimeout: 30_000,
    css: false,
  },
});
