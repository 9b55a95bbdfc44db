import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { USUAL_SCANNERS } from '@palisade/scanner/scanner-url';
import { databaseLocation } from '#platform/database.ts';
import { collectWhenIdle } from '#platform/idle-collection.ts';
import { createLog } from '#platform/log.ts';
import { passedSockets } from '#platform/passed-sockets.ts';
import { removeUpgradeCopy } from '#platform/upgrade-copy.ts';
import { type App, createApp } from './app.ts';
import { fail, prepare, SIGNATURES_FOLDER } from './command.ts';
import { explainListen, explainStart, reasonOf } from './start-refusals.ts';

/**
 * The part of `STOP_DRAIN` in which connections and files are closed, and files that are being scanned are given to other servers; requests under way have the rest. At most half of it. ms.
 */
const CLOSING_MS = 3_000;
/** Ctrl-C under npm arrives twice, from the terminal and from npm. A second signal that a person sends comes later than this, in ms. */
const SAME_SIGNAL_MS = 1_000;

/** @throws an error that names METRICS_PORT, which the address of an error alone does not. */
async function listenAt(server: Server, address: { host: string; port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new Error(
          `We can’t serve metrics at METRICS_HOST ${address.host}, METRICS_PORT ${address.port} (${reasonOf(error)}). Set another port or one of this machine’s addresses.`,
        ),
      ),
    );
    server.listen(address.port, address.host, resolve);
  });
}

const settings = prepare();
const logger = createLog(settings.log_level);
// Node would print its own warnings as text among the lines of JSON.
process.removeAllListeners('warning');
process.on('warning', (warning) => logger.warn({ err: warning }, 'a warning of Node'));
// Node would print the error with everything in it, and so the row that a database quotes.
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'nobody caught an error');
  fail('It ended because of an unexpected error. See the log, with LOG_LEVEL=error or more.');
});

let app: App;
try {
  app = await createApp({
    settings,
    database: databaseLocation(settings),
    signatures_folder: SIGNATURES_FOLDER,
    // One folder above this file, in the source tree and in the bundle alike.
    leaked_passwords: fileURLToPath(new URL('../passwords/leaked.bin', import.meta.url)),
    web_folder: fileURLToPath(new URL('../../web/dist', import.meta.url)),
    agent_folder: fileURLToPath(new URL('../../agent/dist', import.meta.url)),
    usual_scanners: USUAL_SCANNERS,
    logger,
  });
} catch (error) {
  logger.debug({ err: error }, 'start failed');
  fail(explainStart(error, settings));
}
try {
  await app.fastify.listen({ host: settings.host, port: settings.port });
  await app.listenForNames(passedSockets(process.env, process.pid));
  if (app.metrics && settings.metrics?.address) await listenAt(app.metrics, settings.metrics.address);
} catch (error) {
  logger.debug({ err: error }, 'start failed');
  fail(explainListen(error, settings));
}

// The new version has started: from here on the way back is a backup.
const location = databaseLocation(settings);
if ('sqlite' in location) removeUpgradeCopy(location.sqlite);
collectWhenIdle();
const bound = app.fastify.server.address();
const port = bound !== null && typeof bound === 'object' ? bound.port : settings.port;
const named = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
// Browsers take no passkeys at a bare address, and reach the loopback by its name as well.
const host = settings.host === '127.0.0.1' ? 'localhost' : named;
let stopping_since: number | undefined;

/** Lets requests under way finish, as far as the time allows, and ends. */
async function stopServer(): Promise<void> {
  const { drain } = app;
  const drain_ms = settings.stop_drain_s * 1_000;
  setTimeout(() => process.exit(0), settings.stop_notice_s * 1_000 + drain_ms).unref();
  app.announceStop();
  await sleep(settings.stop_notice_s * 1_000);
  app.endSockets();
  const cut = await drain.finish(drain_ms - Math.min(CLOSING_MS, drain_ms / 2));
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
// Last: a reader of this line may send a signal at once.
process.stdout.write(`Palisade runs at ${settings.public_url ?? `http://${host}:${port}`}\n`);
