import { getServers } from 'node:dns';
import { join } from 'node:path';
import { neverRefused } from '@palisade/names/never-refused';
import { Resolver } from '@palisade/names/resolver';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Alerts } from '#features/alerts/alerts.ts';
import type { Devices } from '#features/devices/devices.ts';
import { webDeviceLimit } from '#features/subscriptions/device-limit.ts';
import { CategoryLists } from '#features/web-protection/category-lists.ts';
import { DangerousNames } from '#features/web-protection/dangerous-names.ts';
import { DomainLists } from '#features/web-protection/domain-lists.ts';
import { webProtectionParts } from '#features/web-protection/household-export.ts';
import { ProfilePolicies } from '#features/web-protection/household-rules.ts';
import { NameListeners } from '#features/web-protection/name-listeners.ts';
import { dangerousLevel } from '#features/web-protection/name-rules.ts';
import { askOf } from '#features/web-protection/name-servers.ts';
import { namesOverHttps, serveAppleProfiles } from '#features/web-protection/names-over-https.ts';
import { Policies } from '#features/web-protection/policies.ts';
import { QuestionCounts } from '#features/web-protection/question-counts.ts';
import { QuestionDesk } from '#features/web-protection/question-desk.ts';
import { raiseRefusedName } from '#features/web-protection/refused-name-incident.ts';
import { WebDevices } from '#features/web-protection/web-devices.ts';
import { serveWebProtection } from '#features/web-protection/web-protection.routes.ts';
import type { WebProtectionTables } from '#features/web-protection/web-protection.tables.ts';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import { parseNameServer } from '#platform/dns-settings.ts';
import { readProvider } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { PassedSockets } from '#platform/passed-sockets.ts';
import { isTrustedBy } from '#platform/proxy-watch.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import type { AppOptions } from './app-options.ts';
import { buildHousehold, type HouseholdNeeds } from './household.ts';

const SILENCE = jobKind({ name: 'web-device-silence', payload: z.object({}), every_ms: 3_600_000 });

type WebProtectionParts = {
  database: Kysely<Tables>;
  counters: Counters;
  dangerousLists: () => { path: string; digest: string }[];
  providerLists: () => Promise<{ trusted: readonly string[]; dangerous: readonly string[] }>;
  premium: { current(user_id: string): Promise<{ is_premium: boolean }> };
  raise: Alerts['raise'];
  audit: Audit;
  jobs: Jobs;
  /** Notifies a person that a device no longer sends queries. */
  onSilent: (device: { id: string; user_id: string; name: string; profile_id: string | null }) => Promise<void>;
  /** Access to devices with the agent. */
  agents: { devices: Pick<Devices, 'find'>; tellAgain: (id: string) => Promise<void> };
  /** Notifies the open pages of a person that their devices have changed. */
  changed: (user_id: string) => void;
} & Pick<HouseholdNeeds, 'mail' | 'findUsers' | 'onAsk' | 'now'>;

/** Builds the resolver, and the list of names that it never refuses. */
function buildResolver({ settings, name_servers }: AppOptions, now: () => number) {
  const { public_url, dns } = settings;
  // Phones resolve the host name of their own DNS server through it.
  const own = [public_url === undefined ? undefined : new URL(public_url).hostname, dns.tls?.host].filter(
    (name) => name !== undefined,
  );
  const system = getServers()
    .map(parseNameServer)
    .filter((server) => server !== undefined);
  const upstreams = name_servers ?? (dns.upstream.length > 0 ? dns.upstream : system).map(askOf);
  const never = neverRefused(own);
  return { never, resolver: new Resolver({ upstreams, local: dns.local.map(askOf), never, now }) };
}

/** Manages the keys with which agents send queries. */
function buildAgentNames(devices: WebDevices, desk: QuestionDesk, agents: WebProtectionParts['agents']) {
  return {
    /** The keys of agents. Changes apply to the next query. */
    agentKeys: {
      keyOf: async (device_id: string) => (await devices.findByAgent(device_id))?.key,
      async end(device_id: string) {
        const known = await devices.findByAgent(device_id);
        if (known !== undefined) await devices.remove(known.id);
        desk.forget();
      },
    },
    ofAgents: {
      async findAgent(id: string) {
        const row = await agents.devices.find(id);
        return row?.revoked_at === null ? row : undefined;
      },
      tellAgent: (id: string) => agents.tellAgain(id),
    },
  };
}

/** Builds web protection: devices and their keys, rules, counts, DNS answers, and homes. */
export async function buildWebProtection(appOptions: AppOptions, parts: WebProtectionParts) {
  const { settings, logger } = appOptions;
  const { counters, dangerousLists, providerLists, premium, raise, changed, audit, jobs, agents, onSilent, now } = parts;
  const database = parts.database.$pickTables<keyof WebProtectionTables>();
  const { public_url, dns } = settings;
  const { never, resolver } = buildResolver(appOptions, now);
  const domainLists = new DomainLists({
    ...{ now, logger, sources: dns.domain_lists },
    folder: join(settings.data_dir, 'domain-lists'),
    onChange: () => desk.forget(),
  });
  const lists = await CategoryLists.open(domainLists);
  const dangerous = new DangerousNames({ lists: dangerousLists, now });
  const devices = new WebDevices({ database, now });
  const household = buildHousehold({ ...parts, public_url });
  const { homes } = household;
  const rulesOfDanger = dangerousLevel({
    ...{ dangerous, provider: providerLists },
    dangerousLists: () => domainLists.of('dangerous'),
  });
  const profiles = new ProfilePolicies({
    ...{ database, lists, dangerous: rulesOfDanger, never, now },
    limitOf: (guardian_ids) => homes.limitOf(guardian_ids),
  });
  const policies = new Policies({ database, lists, dangerous: rulesOfDanger, profiles, now });
  const counts = new QuestionCounts({
    database,
    now,
    onFirst(device) {
      homes
        .peopleOf(device)
        .then((ids) => {
          for (const id of ids) changed(id);
        })
        .catch((error: unknown) => logFailure(logger, error, 'pages could not be told of a device'));
    },
    onDangerous: (refusal) =>
      raiseRefusedName(refusal, {
        peopleOf: (device) => homes.peopleOf(device),
        isPremium: async (user_id) => (await premium.current(user_id)).is_premium,
        raise,
      }),
    onFailure: (error) => logFailure(logger, error, 'questions for names could not be counted'),
  });
  const desk = new QuestionDesk({
    ...{ resolver, counts, now },
    find: (asker) => ('key' in asker ? devices.findByKey(asker.key) : devices.findByAddress(asker.address)),
    rulesOf: (device) => policies.rulesOf(device),
  });
  domainLists.open();
  jobs.handle(SILENCE, () =>
    devices.tellOfSilence(async (device) => {
      for (const user_id of await homes.peopleOf(device)) await onSilent({ ...device, user_id });
    }),
  );
  const installation = parts.database.$pickTables<'installation'>();

  const plans = parts.database.$pickTables<'subscriptions'>();
  const audited = { audit, database: parts.database.$pickTables<keyof WebProtectionTables | keyof AuditTables>() };
  const planLimit = (user_id: string) => webDeviceLimit(plans, user_id, now());
  const ways = {
    tls_host: dns.tls === undefined ? null : dns.tls.host,
    plain: dns.listen?.host ?? null,
    addresses: [...dns.addresses],
  };
  const isProxy = isTrustedBy(settings.trusted_proxies);
  const listeners = new NameListeners({ desk, resolver, dns, host: settings.host, isProxy, logger });

  const { agentKeys, ofAgents } = buildAgentNames(devices, desk, agents);
  const served = {
    ...{ planLimit, devices, policies, counts, lists, domainLists, dangerous, desk, ways },
    ...{ changedPage: changed, findDevice: household.findDevice },
  };

  return {
    agentKeys,
    facts: (user_id: string) => devices.facts(user_id),
    listen: (passed: PassedSockets = new Map()) => listeners.open(passed),
    home: (user_id: string) => homes.facts(user_id),
    forgetPerson: household.forget,
    personalParts: webProtectionParts({ counts, homes }),
    serve(api: Api) {
      const { recorded } = serveWebProtection(api, { ...audited, ...ofAgents, ...served });
      household.serve(api, { recorded, changed, policies: profiles });
    },
    namesOverHttps: namesOverHttps({ desk, counters }),
    serveProfiles: (fastify: FastifyInstance) =>
      serveAppleProfiles(fastify, {
        ...{ devices, counters, public_url },
        provider: async () => (await readProvider(installation)).provider_name,
      }),
    async forgetOld() {
      await counts.forgetOld();
      await household.forgetOld();
    },
    async close() {
      await listeners.close();
      await domainLists.close();
      await counts.close();
      dangerous.close();
    },
  };
}
