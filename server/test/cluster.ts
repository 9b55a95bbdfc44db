import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { freshDatabase, isPostgres, isStoreShared } from './harness.ts';
import { REDIS_SERVER, startRedis, type TestRedis } from './redis.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** Whether this run has all that servers need between them: PostgreSQL, a store that speaks S3, and Redis. */
export const HAS_CLUSTER = isPostgres() && isStoreShared() && REDIS_SERVER !== undefined;
export const NO_CLUSTER = 'servers side by side need PostgreSQL (TEST_DATABASE_URL), S3 (TEST_STORAGE_URL) and Redis';

export interface Cluster {
  /** Settings of all its servers. */
  settings: { DATABASE_URL: string; REDIS_URL: string; STORAGE_URL: string };
  redis: TestRedis;
  /** One more server, with a data folder of its own. */
  start(more?: Record<string, string>): Promise<ServerProcess>;
}

/** A folder that is gone after the test. */
export function freshFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `palisade-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new folder in the store of TEST_STORAGE_URL. */
export function freshStorage(): string {
  const url = new URL(process.env['TEST_STORAGE_URL'] ?? '');
  url.pathname += `/test-${randomBytes(8).toString('hex')}`;
  return url.href;
}

/** For use in a test: the shared services of one installation's servers, new and empty. */
export async function startCluster(): Promise<Cluster> {
  const { location, dispose } = await freshDatabase();
  onTestFinished(dispose);
  const redis = await startRedis(await freePort());
  onTestFinished(() => redis.stop());
  const settings = {
    DATABASE_URL: 'postgres' in location ? location.postgres : '',
    REDIS_URL: redis.url,
    STORAGE_URL: freshStorage(),
  };
  return { settings, redis, start: (more) => startServer({ ...settings, DATA_DIR: freshFolder('server'), ...more }) };
}
