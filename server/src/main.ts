import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { USUAL_SCANNERS } from '@palisade/scanner/scanner-url';
import { databaseLocation } from '#platform/database.ts';
import { collectWhenIdle } from '#platform/idle-collection.ts';
import { createLog } from '#platform/log.ts';
import type { Settings } from '#platform/settings.ts';
import { type App, createApp } from './app.ts';
import { fail, prepare } from './command.ts';

/** The share of the time to stop that requests under way may take before they are cut; the rest is for closing what is open. A file that was being scanned is taken up at the next start. */
const REQUESTS_SHARE = 0.9;
/** Ctrl-C under npm arrives twice, from the terminal and from npm. A second signal that a person sends comes later than this, in ms. */
const SAME_SIGNAL_MS = 1_000;

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @throws what names METRICS_PORT, which the address of an error alone does not. */
async function listenAt(server: Server, address: { host: string; port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new Error(
          `The metrics cannot be served at METRICS_HOST ${address.host}, METRICS_PORT ${address.port} (${reasonOf(error)}). Set another port, or an address that this machine has.`,
        ),
      ),
    );
    server.listen(address.port, address.host, resolve);
  });
}

/** What a person can do about an error at start, in one line. */
function explain(error: unknown, settings: Settings): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${settings.port} on ${settings.host} is in use. Stop the other program, or set PORT to another port (for example PORT=3001).`;
    case 'EADDRNOTAVAIL':
      return `HOST ${settings.host} is not an address of this machine. Set HOST to 127.0.0.1, or to an address it has.`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY':
    case 'SQLITE_READONLY_DIRECTORY':
      if (error instanceof Error && 'syscall' in error && error.syscall === 'listen') {
        return `Port ${settings.port} may not be opened by this user. Set PORT to a port above 1023.`;
      }
      return `The data folder ${settings.data_dir} cannot be written (${code}). Make it writable, or set DATA_DIR to another folder.`;
    case 'ENOSPC':
      return `There is no space left for the data folder ${settings.data_dir}. Free some, or set DATA_DIR to another folder.`;
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case '28P01':
    case '3D000':
      return `The database of DATABASE_URL cannot be used: ${reasonOf(error)}.`;
    default:
      return reasonOf(error);
  }
}

const settings = prepare();
const logger = createLog(settings.log_level);
// Node would print the error with everything in it, and so the row that a database quotes.
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'nobody caught an error');
  fail('It ended because of an error that nobody caught. The log says where, with LOG_LEVEL=error or more.');
});

let app: App;
try {
  app = await createApp({
    settings,
    database: databaseLocation(settings),
    // One folder above this file, in the source tree and in the bundle alike.
    signatures_folder: fileURLToPath(new URL('../signatures', import.meta.url)),
    leaked_passwords: fileURLToPath(new URL('../passwords/leaked.bin', import.meta.url)),
    web_folder: fileURLToPath(new URL('../../web/dist', import.meta.url)),
    agent_folder: fileURLToPath(new URL('../../agent/dist', import.meta.url)),
    usual_scanners: USUAL_SCANNERS,
    logger,
  });
  await app.fastify.listen({ host: settings.host, port: settings.port });
  if (app.metrics && settings.metrics?.address) await listenAt(app.metrics, settings.metrics.address);
} catch (error) {
  logger.debug({ err: error }, 'start failed');
  fail(explain(error, settings));
}

collectWhenIdle();
const bound = app.fastify.server.address();
const port = bound !== null && typeof bound === 'object' ? bound.port : settings.port;
const named = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
// Browsers take no passkeys at a bare address, and reach the loopback by its name as well.
const host = settings.host === '127.0.0.1' ? 'localhost' : named;
let stopping_since: number | undefined;

/** Lets what people have begun finish, as far as the time allows, and ends. */
async function stopServer(): Promise<void> {
  const { drain } = app;
  const drain_ms = settings.stop_drain_s * 1_000;
  setTimeout(() => process.exit(0), settings.stop_notice_s * 1_000 + drain_ms).unref();
  app.announceStop();
  await sleep(settings.stop_notice_s * 1_000);
  app.endSockets();
  const cut = await drain.finish(drain_ms * REQUESTS_SHARE);
  if (cut > 0) logger.warn({ requests: cut }, 'requests that were not done in time are cut');
  app.fastify.server.closeAllConnections();
  await app.close();
}

function stop(): void {
  const now = performance.now();
  if (stopping_since !== undefined) {
    // A second signal: the person means it.
    if (now - stopping_since > SAME_SIGNAL_MS) process.exit(1);
    return;
  }
  stopping_since = now;
  stopServer().then(
    () => process.exit(0),
    (error: unknown) => fail(reasonOf(error)),
  );
}
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
// Last: whoever reads this may send a signal at once.
process.stdout.write(`Palisade runs at ${settings.public_url ?? `http://${host}:${port}`}\n`);
