// Builds the server (bundles of the server, its processes and the update command), the package for devices, and the web application, with compressed copies of what is served.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { build as buildWeb } from 'vite';
import { buildAgent } from './agent-package.mjs';
import { ROOT } from './node-runtime.mjs';

const COMPRESSIBLE = /\.(js|css|html|svg|json)$/;
/** Below this the header that names the encoding costs more than it saves. */
const LEAST_BYTES = 256;

async function buildServer() {
  const dependencies = ['scanner', 'server'].flatMap((workspace) =>
    Object.keys(JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')).dependencies),
  );
  rmSync(join(ROOT, 'server/dist'), { recursive: true, force: true });
  await bundle({
    absWorkingDir: join(ROOT, 'server'),
    entryPoints: {
      main: 'src/main.ts',
      'update-signatures': 'src/update-signatures.ts',
      'verify-audit': 'src/verify-audit.ts',
      'move-storage': 'src/move-storage.ts',
      'read-outbox': 'src/read-outbox.ts',
      'accept-keys': 'src/accept-keys.ts',
      'write-backup': 'src/write-backup.ts',
      'read-backup': 'src/read-backup.ts',
      'yara-process': '../scanner/src/yara-process.ts',
      'trial-process': '../scanner/src/trial-process.ts',
      'mail-thread': 'src/features/chat/mail-thread.ts',
    },
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    legalComments: 'none',
    // Packages stay packages; what is source of ours goes in.
    external: dependencies.filter((name) => !name.startsWith('@palisade/')).flatMap((name) => [name, `${name}/*`]),
    logLevel: 'warning',
  });
}

/** @param {string} folder */
function compress(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !COMPRESSIBLE.test(path)) continue;
    const bytes = readFileSync(path);
    if (bytes.length < LEAST_BYTES) continue;
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }),
    );
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

await Promise.all([buildServer(), buildAgent(), buildWeb({ root: join(ROOT, 'web'), logLevel: 'warn' })]);
compress(join(ROOT, 'web/dist'));
