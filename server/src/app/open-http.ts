import { agentChannel } from '@palisade/contract/agent';
import { eventsChannel } from '@palisade/contract/events';
import { CONTROL_SOCKETS } from '@palisade/contract/remote-control';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { createMovedTokens } from '#features/detection/moved-tokens.ts';
import { connectionLimits } from '#platform/connections.ts';
import type { Counters } from '#platform/counters.ts';
import type { DirectRequests, DirectRoute } from '#platform/direct-requests.ts';
import { openDisk } from '#platform/disk.ts';
import { createDrain, type Drain } from '#platform/drain.ts';
import { createHttp, PATIENCE } from '#platform/http.ts';
import type { Metrics } from '#platform/metrics.ts';
import { serveOpenApi } from '#platform/openapi.ts';
import { sourceOf } from '#platform/origin.ts';
import type { ProxyWatch } from '#platform/proxy-watch.ts';
import { createRateLimits, type RateLimits } from '#platform/rate-limit.ts';
import { measureRequests } from '#platform/request-metrics.ts';
import { createRequestWatch } from '#platform/request-watch.ts';
import type { Observe } from '#platform/security-event.ts';
import type { Api } from '#platform/serve.ts';
import { createStorageWatch, type StorageWatch } from '#platform/storage-watch.ts';
import type { Tables } from '#platform/tables.ts';
import { endpointNames, nameSchemas, TAGS } from './api-names.ts';
import type { AppOptions } from './app-options.ts';
import type { Monitor } from './monitor.ts';
import { SERVER_PHRASES } from './phrases.ts';

/** Builds the HTTP server with the steps before each endpoint: connection limits, rate limits and observers. It does not listen yet. */
export async function openHttp(
  appOptions: AppOptions,
  parts: {
    database: Kysely<Tables>;
    counters: Counters;
    proxies: ProxyWatch;
    metrics: Metrics | undefined;
    observe: Observe;
    countRequest: Monitor['detection']['countRequest'];
    now: () => number;
  } & Required<Pick<Api, 'sessions' | 'onChange' | 'onInstallationChange'>>,
): Promise<{
  api: Api;
  fastify: FastifyInstance;
  serveDirectly: (route: DirectRoute) => void;
  drain: Drain;
  storage: StorageWatch;
  rateLimits: RateLimits;
}> {
  const { settings, logger } = appOptions;
  const { database, counters, proxies, metrics, observe, countRequest, sessions, onChange, onInstallationChange, now } = parts;
  /** Whether a source address is shared by several people. With local exposure all requests come from this machine. */
  const isShared = (source: string) => settings.exposure === 'local' || proxies.isShared(source);
  let direct: DirectRequests | undefined;
  const fastify = await createHttp({
    logger,
    trusted_proxies: settings.trusted_proxies,
    patience: appOptions.patience ?? PATIENCE,
    connections: appOptions.connection_limits ?? connectionLimits(),
    isShared,
    public_url: settings.public_url,
    channels: [eventsChannel, agentChannel, ...CONTROL_SOCKETS],
    exposure: settings.exposure,
    onArrival: proxies.look,
    onDirect: (way) => {
      direct = way;
    },
  });
  const measure = metrics && measureRequests(fastify, metrics);
  const drain = createDrain(fastify);
  const storage = createStorageWatch({
    database: database.$pickTables<'installation'>(),
    disk: openDisk(settings.data_dir, settings.disk_reserve, appOptions.free_bytes),
    now,
  });
  fastify.addHook('onError', async (_request, _reply, error) => storage.note(error));
  const watch = createRequestWatch({ observe, now });
  watch.observeAll(fastify);
  const rateLimits = createRateLimits({
    counters,
    limits: settings.limits,
    isShared: (source) => settings.exposure === 'public' && proxies.isShared(source),
    observe,
    now,
  });
  nameSchemas();
  await serveOpenApi(fastify, { limits: rateLimits, phrases: SERVER_PHRASES, names: endpointNames(), tags: TAGS });
  const lookAtToken = createMovedTokens({ observe, now });
  const api: Api = {
    fastify,
    sessions,
    limits: rateLimits,
    watch,
    onChange,
    onInstallationChange,
    onCall(request, session) {
      countRequest(session ? { kind: 'account', id: session.user.id } : { kind: 'source', id: sourceOf(request.ip) });
      if (!session) return;
      lookAtToken(session, request);
      proxies.lookAtPerson(request);
    },
  };
  const serveDirectly = (route: DirectRoute) => direct?.serve(route, { drain, measure, onError: (error) => storage.note(error) });
  return { api, fastify, serveDirectly, drain, storage, rateLimits };
}
