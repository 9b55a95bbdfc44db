import type { Server } from 'node:http';
import { VERSION } from '@palisade/contract/constants';
import type { Build } from '@palisade/contract/platform';
import { residentBytes } from '@palisade/scanner/process-memory';
import type { FastifyInstance } from 'fastify';
import type { ScanMeter } from '#features/antivirus/examination-news.ts';
import type { PoolState } from '#platform/database-patience.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail } from '#platform/mail.ts';
import type { Metrics } from '#platform/metrics.ts';
import { measureProcess } from '#platform/process-metrics.ts';
import type { RateLimits } from '#platform/rate-limit.ts';
import { createMetricsServer, serveMetrics } from '#platform/serve-metrics.ts';
import type { SharedClock } from '#platform/shared-clock.ts';
import type { AppOptions } from './app-options.ts';
import type { Scanner } from './scanner.ts';

const MIB = 1024 ** 2;
const SECOND_MS = 1_000;
/** File size classes; the last class has no upper bound. */
const SIZES = [
  { name: '64K', most: 64 * 1024 },
  { name: '1M', most: MIB },
  { name: '10M', most: 10 * MIB },
  { name: '100M', most: 100 * MIB },
  { name: '1G', most: 1024 * MIB },
] as const;
/** Histogram buckets of scan durations, in seconds. */
const SCAN_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Builds the metrics of scans. */
export function meterScans(metrics: Metrics): ScanMeter {
  const durations = metrics.histogram(
    'palisade_scan_duration_seconds',
    'Scan time of a file in seconds, by size limit (64K, 1M, 10M, 100M, 1G, more).',
    SCAN_BOUNDS,
  );
  const verdicts = metrics.counter('palisade_verdicts_total', 'Verdicts by result: clean, infected, or pending.');
  for (const verdict of ['clean', 'infected', 'pending']) verdicts.add({ verdict }, 0);
  return {
    read({ size, ms }) {
      durations.observe({ size: SIZES.find(({ most }) => size <= most)?.name ?? 'more' }, ms / SECOND_MS);
    },
    verdict: (verdict) => verdicts.add({ verdict }),
  };
}

/** Registers gauges of the server's parts, read at each scrape, and serves the metrics as configured. */
export function buildMetrics(
  { settings, now = Date.now }: AppOptions,
  parts: {
    metrics: Metrics;
    fastify: FastifyInstance;
    rateLimits: RateLimits;
    /** State of the connection pool; undefined for a database in memory. */
    pool: (() => PoolState) | undefined;
    mail: Pick<Mail, 'countLate'>;
    jobs: Pick<Jobs, 'figures'>;
    scanner: Scanner;
    events: { open(): { known: number; strangers: number } };
    build: Build;
    clock: Pick<SharedClock, 'ahead_ms'>;
  },
): { server: Server | undefined; close(): void } {
  const { metrics, fastify, rateLimits, pool, mail, jobs, scanner, events, build, clock } = parts;
  const { antivirus, engine, signatures, waiting, processes } = scanner;
  const { gauge } = metrics;
  const closeProcess = measureProcess(metrics);

  gauge('palisade_build_info', 'Version in use.', () => [
    {
      labels: {
        version: VERSION,
        ...build,
        node: process.version,
        database: settings.database_url === undefined ? 'sqlite' : 'postgresql',
      },
      value: 1,
    },
  ]);

  gauge(
    'palisade_clock_ahead_seconds',
    'Seconds that this machine’s clock is ahead of the database’s. Negative means behind.',
    () => [{ value: clock.ahead_ms() / SECOND_MS }],
  );
  gauge('palisade_scan_queue_files', 'Files waiting for a scanner.', () => [{ value: waiting().files }]);
  gauge('palisade_scan_queue_oldest_seconds', 'Waiting time of the oldest one.', () => [
    { value: waiting().oldest_ms / SECOND_MS },
  ]);
  gauge('palisade_unread_files', 'Files on this server that are not scanned yet, by database count.', async () => [
    { value: (await antivirus.unread()).files },
  ]);
  gauge('palisade_unread_oldest_seconds', 'Age of the oldest one.', async () => {
    const { oldest_at } = await antivirus.unread();
    return [{ value: oldest_at === null ? 0 : Math.max(0, now() - Date.parse(oldest_at)) / SECOND_MS }];
  });
  gauge('palisade_engine_processes', 'Ready and configured processes of each scanner.', () =>
    processes().flatMap(({ name, processes: { ready, wanted } }) => [
      { labels: { engine: name, state: 'ready' }, value: ready },
      { labels: { engine: name, state: 'wanted' }, value: wanted },
    ]),
  );
  gauge('palisade_engine_memory_bytes', 'Total memory of the built-in scanner’s processes.', () => [
    { value: engine.pids().reduce((sum, pid) => sum + (residentBytes(pid) ?? 0), 0) },
  ]);

  gauge('palisade_sockets_open', 'Live connections from signed-in pages (known) and others (unknown).', () => {
    const { known, strangers } = events.open();
    return [
      { labels: { state: 'known' }, value: known },
      { labels: { state: 'unknown' }, value: strangers },
    ];
  });

  const help = 'Overdue work by kind: jobs, emails, and definition feeds. A value of 1 means files wait for a rescan.';
  gauge('palisade_jobs_late', help, async () => {
    const [figures, mails, recheck] = await Promise.all([jobs.figures(), mail.countLate(), antivirus.recheckDue()]);
    const late = new Map(figures.map(({ kind, late: count }) => [kind, count]));
    late.set('mail', mails).set('feed', signatures.late());
    late.set('recheck', Math.max(late.get('recheck') ?? 0, recheck ? 1 : 0));
    return [...late].map(([kind, value]) => ({ labels: { kind }, value }));
  });
  gauge('palisade_jobs_late_seconds', 'Time since the oldest job of each kind became due.', async () =>
    (await jobs.figures()).map(({ kind, late_ms }) => ({ labels: { kind }, value: late_ms / SECOND_MS })),
  );
  gauge('palisade_jobs_dead', 'Jobs that failed too often in the last 30 days and stopped retrying.', async () =>
    (await jobs.figures()).map(({ kind, dead }) => ({ labels: { kind }, value: dead })),
  );

  if (pool) {
    gauge('palisade_database_connections', 'Database connections in use, and the maximum.', () => [
      { labels: { state: 'used' }, value: pool().used },
      { labels: { state: 'most' }, value: pool().most },
    ]);
    gauge('palisade_database_waiting', 'Queries waiting for a database connection.', () => [{ value: pool().waiting }]);
  }

  const { address, token } = settings.metrics ?? {};
  if (address === undefined && token !== undefined) serveMetrics(fastify, { metrics, token, limits: rateLimits });
  const server = address === undefined ? undefined : createMetricsServer(metrics, token);
  return {
    server,
    close() {
      closeProcess();
      server?.close();
      server?.closeAllConnections();
    },
  };
}
