import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

/** Paths of the screens with the modules that they load, parsed from their table. */
function modulesOfScreens(sources: string): Map<string, string[]> {
  const table = readFileSync(join(sources, 'app/screens.tsx'), 'utf8');
  const modules = new Map<string, string[]>();
  for (const [, path = '', more = '', specifier = ''] of table.matchAll(
    /^ {4}path: '([^']+)',\n((?: {4}(?!load:).*\n)*) {4}load: [^']*import\('(?:#|\.\/)([^']+)'\)/gmu,
  ))
    modules.set(path, [
      specifier.startsWith('features/') ? specifier : `app/${specifier}`,
      ...(more.includes('guard:') ? ['app/guarded.tsx'] : []),
    ]);
  return modules.set('/live-chat', ['features/chat/live-chat-page.tsx']);
}

/** A chunk's file and all files that it imports. */
function closureOf(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle, seen = new Set<string>()): Set<string> {
  if (seen.has(chunk.fileName)) return seen;
  seen.add(chunk.fileName);
  for (const style of chunk.viteMetadata?.importedCss ?? []) seen.add(style);
  for (const file of chunk.imports) {
    const imported = bundle[file];
    if (imported?.type === 'chunk') closureOf(imported, bundle, seen);
  }
  return seen;
}

/** The files of each screen and of the shell, without those of the entry, by path. */
function listFiles(sources: string, bundle: Rolldown.OutputBundle): Record<string, string[]> {
  const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
  const filesOf = (module: string) => {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(join(sources, module)));
    if (chunk === undefined) throw new Error(`The build has no file with ${module}, which the table of screens names.`);
    return closureOf(chunk, bundle);
  };
  const present = filesOf('app/main.tsx');
  return Object.fromEntries(
    [...modulesOfScreens(sources)].map(([path, modules]) => {
      const files = new Set(['app/signed-in.tsx', ...modules].flatMap((module) => [...filesOf(module)]));
      return [path, [...files].filter((file) => !present.has(file)).map((file) => `/${file}`)];
    }),
  );
}

/**
 * Lists the files of each screen for the server, which adds them to the page of its path (server/src/platform/screen-files.ts), and adds the script that requests the first
 * records of a signed-in person. The script is small and asynchronous, so files and records load in parallel with the large files instead of after them.
 */
export function firstFiles(sources: string): Plugin {
  return {
    name: 'palisade:first-files',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const first = Object.values(bundle).find((one) => one.type === 'chunk' && one.isEntry && one.name === 'first');
        if (first === undefined) throw new Error('The build has no entry "first".');
        const attrs = { type: 'module', async: true, fetchpriority: 'high', crossorigin: true, src: `/${first.fileName}` };
        return [{ tag: 'script', attrs, injectTo: 'head-prepend' }];
      },
    },
    generateBundle: {
      // After Vite has removed the empty scripts of files with only styles.
      order: 'post',
      handler(_options, bundle) {
        const listed = listFiles(sources, bundle);
        const missing = Object.values(listed).flatMap((files) => files.filter((file) => bundle[file.slice(1)] === undefined));
        if (missing.length > 0) this.error(`screen-files.json names files that the build has not: ${missing.join(', ')}`);
        this.emitFile({ type: 'asset', fileName: 'screen-files.json', source: JSON.stringify(listed) });
      },
    },
  };
}
