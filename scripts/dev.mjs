// Starts the server with reload on PORT + 1, and the web application with hot reload on PORT, which proxies /api. Ctrl-C ends both.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

const port = Number(process.env.PORT || 3000);
const api = `http://127.0.0.1:${port + 1}`;
const children = [
  spawn(process.execPath, ['--watch', '--watch-preserve-output', join(ROOT, 'server/src/main.ts')], {
    cwd: ROOT,
    // The server prints this address, at which the web application runs.
    env: { PUBLIC_URL: `http://127.0.0.1:${port}`, ...process.env, PORT: String(port + 1) },
    stdio: 'inherit',
  }),
  spawn(
    process.execPath,
    [join(ROOT, 'node_modules/vite/bin/vite.js'), '--port', String(port), '--strictPort', '--host', '127.0.0.1'],
    {
      cwd: join(ROOT, 'web'),
      env: { ...process.env, PALISADE_API: api },
      stdio: 'inherit',
    },
  ),
];

let stopping = false;
/** @param {number} code */
function stop(code) {
  if (stopping) return;
  stopping = true;
  for (const child of children) child.kill('SIGTERM');
  Promise.all(
    children.map(
      (child) => child.exitCode !== null || child.signalCode !== null || new Promise((resolve) => child.once('exit', resolve)),
    ),
  ).then(() => process.exit(code));
}
process.on('SIGINT', () => stop(0));
process.on('SIGTERM', () => stop(0));
for (const child of children) child.once('exit', (code) => stop(code ?? 1));
