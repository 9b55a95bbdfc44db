/// <reference types="vitest/config" />
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { firstFiles } from './first-files.ts';

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

/** Adds a hash to the name of the script that runs before the first paint. Otherwise each visit asks the server whether it changed, and the page waits. */
function versionedColorScheme(): Plugin {
  const source = readFileSync(new URL('public/color-scheme.js', import.meta.url), 'utf8').replaceAll(/^\s*\/\/.*\n/gmu, '');
  const version = createHash('sha256').update(source).digest('base64url').replaceAll(/[_-]/gu, '').slice(0, 7);
  const fileName = `assets/color-scheme-${version}.js`;
  return {
    name: 'palisade:versioned-color-scheme',
    apply: 'build',
    transformIndexHtml: { order: 'post', handler: (html) => html.replace('/color-scheme.js', `/${fileName}`) },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

/** Fields of endpoints that only the server and the API description use. */
const SERVER_FIELDS =
  /^ {2}(?:summary:\s*(['"`])(?:\\.|(?!\1).)*\1|problems: \[[^\]]*\]|access: '\w+'|(?:expensive|by_device|needs_proven_email): true),\n/gmsu;

/** Removes these fields from the pages. */
function withoutServerFields(): Plugin {
  return {
    name: 'palisade:without-server-fields',
    apply: 'build',
    enforce: 'pre',
    transform: {
      filter: { id: /\/contract\/src\/[\w-]+\.ts$/u },
      handler: (code) => ({ code: code.replaceAll(SERVER_FIELDS, ''), map: null }),
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
      handler(html, { bundle = {}, chunk: entry }) {
        const ordered = new Set<string>();
        const visit = (file: string) => {
          const chunk = bundle[file];
          if (chunk?.type !== 'chunk' || ordered.has(file)) return;
          for (const imported of chunk.imports) visit(imported);
          ordered.add(file);
        };
        if (entry) visit(entry.fileName);
        const own = [...ordered].filter((file) => {
          const chunk = bundle[file];
          return chunk?.type === 'chunk' && !chunk.isEntry && chunk.code.length >= OWN_TASK_CHARS;
        });
        return {
          // Their scripts come first, so they need no preload.
          html: own.reduce((text, file) => text.replace(`<link rel="modulepreload" crossorigin href="/${file}">`, ''), html),
          tags: own.map((file) => ({
            tag: 'script',
            attrs: { type: 'module', crossorigin: true, src: `/${file}` },
            injectTo: 'head-prepend' as const,
          })),
        };
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

/** Modules of packages that pages import but never use, with the exports that other modules still call. All other exports become empty functions. */
const UNUSED_MODULES: Record<string, Record<string, string>> = {
  'zod/v4/core/to-json-schema.js': {},
  'react-router/dist/production/lib/router/instrumentation.js': {},
  'react-router/dist/production/lib/dom/ssr/components.js': {
    FrameworkContext: 'createContext(undefined)',
    mergeRefs: '(ref) => ref',
    usePrefetchBehavior: '() => [false]',
  },
};

/** Statements for developer tools and other renderers, by package. They keep unused code in the build. */
const UNUSED_STATEMENTS: Record<string, readonly (readonly [RegExp, string])[]> = {
  'zod/v4/classic/schemas.js': [[/^ *inst\._zod\.processJSONSchema = .*;$/gmu, '']],
  'react-router/dist/production/lib/': [
    [/^\w+\.displayName = "\w+";$/gmu, ''],
    [/ = React\$1\.forwardRef\(/gu, ' = /* @__PURE__ */ React$$1.forwardRef('],
    [/ = (class extends React\$1\.Component \{.*?\n\});/gsu, ' = /* @__PURE__ */ (() => $1)();'],
  ],
};

const EXPORTS = /^export (?:const|function|class) (\w+)|^export \{ (.+) \};$/gmu;

/** Removes these modules and statements, which saves 8 kB on the first two screens. The build fails if a package no longer has one of them. */
function withoutUnused(): Plugin {
  const found = new Set<string>();
  return {
    name: 'palisade:without-unused',
    apply: 'build',
    transform: {
      filter: { id: /\/(?:zod\/v4|react-router\/dist\/production)\// },
      handler(code, id) {
        const [path, parts = {}] = Object.entries(UNUSED_MODULES).find(([end]) => id.endsWith(end)) ?? [];
        if (path === undefined) {
          const [place, statements = []] = Object.entries(UNUSED_STATEMENTS).find(([part]) => id.includes(part)) ?? [];
          if (place === undefined) return undefined;
          if (statements.every(([pattern]) => code.search(pattern) === -1)) return undefined;
          found.add(place);
          return { code: statements.reduce((text, [pattern, other]) => text.replaceAll(pattern, other), code), map: null };
        }
        const names = [...code.matchAll(EXPORTS)].flatMap(([, name, list]) => name ?? list?.split(', ') ?? []);
        if (Object.keys(parts).every((name) => names.includes(name))) found.add(path);
        const stubs = names.map((name) => {
          const [own = name, shown = own] = name.split(' as ');
          return `export const ${shown} = ${parts[shown] ?? '() => undefined'};`;
        });
        return { code: ["import { createContext } from 'react';", ...stubs].join('\n'), map: null };
      },
    },
    buildEnd(error) {
      const missing = Object.keys({ ...UNUSED_MODULES, ...UNUSED_STATEMENTS }).filter((path) => !found.has(path));
      if (!error && missing.length > 0) this.error(`Packages have changed: look at withoutUnused for ${missing.join(', ')}.`);
    },
  };
}

/** Modules by folder: a name without extension means the module and its styles, `*` all files in the folder and below. */
type Modules = Record<string, readonly string[]>;

/** Returns a function that tests whether the path of a module is in the table. */
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

/** Modules of the small script that runs first (first-files.ts). */
const FIRST: Modules = { 'src/app': ['first'], 'src/api': ['early', 'session-keys'] };

/** React, and the shared modules of Mantine's components. */
const REACT: Modules = {
  'node_modules/react': ['*'],
  'node_modules/react-dom': ['*'],
  'node_modules/scheduler': ['*'],
  MantineProvider: ['Mantine.context'],
  'use-merged-ref': ['*'],
  'use-media-query': ['*'],
  'utils/create-safe-context': ['*'],
};

const isReact = isOf(REACT);

/** Mantine's fields and buttons on the sign-in screen. */
const FIELDS: Modules = {
  '@mantine/core/esm/components/Input': ['*'],
  '@mantine/core/esm/components/InputBase': ['*'],
  '@mantine/core/esm/components/CloseButton': ['*'],
  '@mantine/core/esm/components/Loader': ['*'],
  '@mantine/core/esm/components/UnstyledButton': ['*'],
  'styles-api/use-resolved-styles-api': ['*'],
};

const isField = isOf(FIELDS);

/** Modules of every call to the server, and texts of the sign-in screen. The first visit loads all of them. */
const CALLS: Modules = {
  'src/api': ['accent', 'brand', 'call', 'config', 'session', 'connection', 'listeners', 'unknown-values'],
  'contract/src': [
    'auth',
    'brand',
    'constants',
    'contact',
    'email',
    'endpoint',
    'fields',
    'joiners',
    'platform',
    'problem',
    'reader',
    'reader-words',
    'text',
  ],
};

/** Components of every screen, and TanStack Query. The first screen after sign-in loads all of them. */
const COMPONENTS: Modules = {
  '@tanstack': ['*'],
  'src/api': ['query-client'],
  icons: ['IconSearch', 'IconX'],
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
  'contract/src': ['antivirus', 'channel', 'current-subscription', 'day', 'intl', 'may', 'phrase', 'severity', 'status'],
};

/** The router, and modules of the shell and of most screens after sign-in. The shell itself imports modules outside the groups that import these, so it is left out. */
const SIGNED_IN: Modules = {
  'react-router': ['*'],
  'src/app': ['screens'],
  'src/app/shell': ['message-notices', 'dock.css', 'shell.css', 'sidebar.css', 'top-bar.css', 'user-menu.css'],
  'src/api': ['absence', 'change-list', 'events', 'notices', 'shown-in', 'support-links'],
  'src/features/antivirus': ['upload-state'],
  'src/features/dashboard': ['dashboard-page.css'],
  'src/features/setup': ['first-steps.css'],
  'src/domain': ['live-queries'],
  'src/domain/conversation': ['chat', 'desk-counts', 'desk-keys'],
  'src/domain/dashboard': ['dashboard'],
  'src/domain/overview': ['overview'],
  'src/domain/scan': ['scans', 'scan-badge', 'scan-row', 'scan-sentence', 'scan-summary', 'status-badge'],
  'src/domain/session': ['remote-news', 'sharing-now'],
  'src/domain/status': ['looked-at'],
  'src/ui': [
    'button-link',
    'closed-by-back',
    'layout',
    'sheet.css',
    'test-files',
    'use-is-phone',
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
    'home',
    'overview',
    'remote-grant',
    'remote-pipe',
    'remote-record',
    'remote-signal',
    'time-zone',
  ],
  'utils/noop': ['*'],
  icons: ['IconFiles', 'IconShieldCheck', 'IconShieldExclamation', 'IconShieldX', 'IconTestPipe'],
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
  'query-core/build/modern': ['infiniteQueryObserver'],
  'react-query/build/modern': ['useInfiniteQuery'],
  icons: ['IconArrowsSort'],
};
const isOfLists = isOf(LISTS_AND_DIALOGS);
const isComponent = isOf(COMPONENTS);

/** Parts of the shell for staff, and those for administrators. */
const STAFF: Modules = {
  'src/app/shell': ['open-group', 'staff-nav', 'waits'],
  icons: ['IconCreditCardPay'],
};
const ADMINISTRATORS: Modules = {
  'src/app/shell': ['proxy-findings'],
  'contract/src': ['proxy'],
  icons: ['IconMailOff', 'IconMailQuestion'],
};

/** The home of administrators, and that of technicians, each in one file. */
const OWNER: Modules = {
  'src/features/dashboard': ['owner-home', 'waiting'],
  'src/ui': ['sparkline'],
};
const DESK: Modules = {
  'src/features/dashboard': ['desk-home'],
  'src/domain/conversation': ['conversation-badges', 'read-waiting'],
  'src/domain/status': ['state-badge'],
  'contract/src': ['desk-list'],
};

/** Parts of the customer's remote sessions and of the portal: as files of their own, their headers were a kilobyte. */
const REMOTE: Modules = {
  'src/features/remote': ['end-session', 'remote.queries', 'session-badge'],
  'src/domain/session': ['remote-requests'],
  'contract/src': ['remote-files'],
};

/** Account modules outside all groups. In the group of the account they would create an import cycle with a lazy part. */
const OWN_DIALOGS: Modules = { 'src/features/account': ['app-setup', 'email-proof'] };
const isOwnDialog = isOf(OWN_DIALOGS);
const isAccount = isOf({ 'src/features/account': ['*'] });

const INDEX = fileURLToPath(new URL('index.html', import.meta.url));
const SOURCES = fileURLToPath(new URL('src', import.meta.url));

export default defineConfig({
  plugins: [
    react(),
    fontAtOnce(),
    ownTasks(),
    firstFiles(SOURCES),
    versionedColorScheme(),
    withoutWaiting(),
    withoutUnused(),
    withoutServerFields(),
  ],
  // Assets are never inlined: the Content-Security-Policy allows scripts, styles and fonts only from files of the server.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: INDEX, first: `${SOURCES}/app/first.ts` },
      output: {
        // File names compress badly and are a large part of the data of the first visit. Seven characters distinguish 2^42 contents.
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'zod', test: isOf(ZOD) },
            { name: 'first', test: isOf(FIRST) },
            { name: 'react', test: (path) => isReact(path) || path.endsWith('vite/preload-helper.js') },
            { name: 'calls', test: isOf(CALLS) },
            { name: 'components', test: (path) => isField(path) || (isComponent(path) && !isOfLists(path)) },
            { name: 'signed-in', test: isOf(SIGNED_IN) },
            { name: 'staff', test: isOf(STAFF) },
            { name: 'administrators', test: isOf(ADMINISTRATORS) },
            { name: 'owner', test: isOf(OWNER) },
            { name: 'desk-home', test: isOf(DESK) },
            { name: 'remote', test: isOf(REMOTE) },
            { name: 'lists-and-dialogs', test: isOfLists, minShareCount: 2 },
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
    // Mantine is not loaded anew for each file, which took three quarters of the time; test-setup.ts says which modules files share.
    isolate: false,
    pool: 'forks',
    restoreMocks: true,
    // Limit for a condition that does not become true, chosen for a busy machine; an idle one needs about 100 ms.
    testTimeout: 30_000,
    css: false,
  },
});
