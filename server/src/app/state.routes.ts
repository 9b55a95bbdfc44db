import { VERSION } from '@palisade/contract/constants';
import { readConfig, readHealth, readReadiness } from '@palisade/contract/platform';
import type { Engine } from '@palisade/scanner/yara-pool';
import { type Kysely, sql } from 'kysely';
import type { StoreWatch } from '#platform/blobs/store-watch.ts';
import { readBrand } from '#platform/brand.ts';
import type { readBuild } from '#platform/build.ts';
import type { Drain } from '#platform/drain.ts';
import { readProvider } from '#platform/installation.ts';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { Problem } from '#platform/problem.ts';
import type { ProxyWatch } from '#platform/proxy-watch.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Settings } from '#platform/settings.ts';
import type { SharedClock } from '#platform/shared-clock.ts';
import type { StorageWatch } from '#platform/storage-watch.ts';
import type { Tables } from '#platform/tables.ts';
import type { Accounts } from './accounts.ts';
import { refuse } from './state.refusals.ts';

/** Serves the health check, the readiness check, and the configuration for pages before the sign-in. */
export function serveState(
  api: Api,
  parts: {
    settings: Settings;
    database: Kysely<Tables>;
    drain: Pick<Drain, 'isStopping'>;
    engine: Pick<Engine, 'ready'>;
    storage: Pick<StorageWatch, 'state'>;
    proxies: Pick<ProxyWatch, 'notFirst'>;
    administrator: Accounts['auth']['administrator'];
    build: ReturnType<typeof readBuild>;
    keptAnswers: Pick<KeptAnswers, 'keepForAll'>;
    clock: Pick<SharedClock, 'isOff'>;
    /** Undefined if files are stored in folders of this server. */
    store: StoreWatch | undefined;
  },
): void {
  const { settings, database, drain, engine, storage, proxies, administrator, build, keptAnswers, clock, store } = parts;
  serve(api, readHealth, 'anyone', () => Promise.resolve({ status: 'ok' as const }));
  // An update without effect, which fails if the database cannot write (lock, disk, standby). Concurrent callers share one query.
  let asking: Promise<unknown> | undefined;
  const askDatabase = async () => {
    asking ??= sql`update installation set name = name where 1 = 0`.execute(database).finally(() => {
      asking = undefined;
    });
    await asking;
  };
  serve(api, readReadiness, 'anyone', async () => {
    if (drain.isStopping()) throw refuse('readiness.stopping', {}, { retry_after: 5 });
    await askDatabase();
    if (!engine.ready()) throw refuse('readiness.scanner_starting', {}, { retry_after: 1 });
    const room = await storage.state();
    if (room === 'full') throw new Problem('storage_full', { retry_after: 60 });
    return {
      status: 'ready' as const,
      storage: room,
      clock: clock.isOff() ? ('off' as const) : ('ok' as const),
      build,
      ...(store === undefined ? {} : { store: await store.state() }),
    };
  });
  const config = keptAnswers.keepForAll(readConfig, String, async (isHere: boolean) => ({
    version: VERSION,
    build,
    exposure: settings.exposure,
    open_local: settings.open_local,
    demo: settings.demo,
    reset_delivery: settings.reset_delivery,
    administrator: await administrator(isHere),
    ...(await readProvider(database.$pickTables<'installation'>())),
    brand: await readBrand(database.$pickTables<'installation'>()),
    links: { live_chat: settings.live_chat_url ?? null, remote_portal: settings.remote_portal_url ?? null },
  }));
  serve(api, readConfig, 'anyone', ({ request }) => config(proxies.notFirst(request) === undefined));
}
