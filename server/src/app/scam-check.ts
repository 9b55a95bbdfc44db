import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Alerts } from '#features/alerts/alerts.ts';
import { serveScamCheck } from '#features/scam-check/scam-check.routes.ts';
import type { ScamCheckTables } from '#features/scam-check/scam-check.tables.ts';
import { ScamChecks } from '#features/scam-check/scam-check.ts';
import { ScamDomains } from '#features/scam-check/scam-domains.ts';
import { ScamReader } from '#features/scam-check/scam-reader.ts';
import type { Counters } from '#platform/counters.ts';
import { isSetUp, readProvider } from '#platform/installation.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import type { AppOptions } from './app-options.ts';
import type { Scanner } from './scanner.ts';
import { folderOf } from './storage.ts';

/** The host name of a public URL; undefined for a local host. */
function publicHost(url: string | undefined): string | undefined {
  const host = url === undefined ? '' : new URL(url).hostname;
  return /[a-z]/iu.test(host) && host.includes('.') ? host : undefined;
}

/** Builds the scam check: its worker, its lists, and the checks that people store. */
export async function buildScamCheck(
  appOptions: AppOptions,
  parts: {
    database: Kysely<Tables>;
    counters: Counters;
    scanner: Pick<Scanner, 'inspect' | 'signatures'>;
    premium: { current(user_id: string): Promise<{ is_premium: boolean }> };
    raise: Alerts['raise'];
    now: () => number;
  },
) {
  const { settings, logger } = appOptions;
  const { database, counters, scanner, premium, raise, now } = parts;
  const tables = database.$pickTables<keyof ScamCheckTables>();
  const { folder, disk } = folderOf(appOptions, 'scam-arriving');
  // Remove attachments that a killed server left behind.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });

  async function scanAttachment(name: string, bytes: Uint8Array, user_id: string, signal: AbortSignal) {
    const id = randomUUID();
    const path = join(folder, id);
    disk.require(bytes.length);
    try {
      await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const { status } = await scanner.inspect({ id, user_id, path, size: bytes.length, sha256, name, signal });
      return status === 'clean' || status === 'infected' ? status : ('not_checked' as const);
    } finally {
      await rm(path, { force: true });
    }
  }

  const reader = new ScamReader({
    scanAttachment,
    zone: appOptions.mail_zone,
    logger,
    deadline_ms: appOptions.scam_check_ms,
  });
  const domains = new ScamDomains({
    database: tables,
    now,
    async isEnding(host) {
      // Loaded on first use.
      const { parse } = await import('tldts');
      return parse(host, { allowPrivateDomains: true }).publicSuffix === host;
    },
  });
  const installation = database.$pickTables<'installation'>();
  const checks = new ScamChecks({
    database: tables,
    reader,
    domains,
    sources: {
      async provider() {
        const { provider_name, support } = await readProvider(installation);
        const mailbox = (await isSetUp(installation)) ? support.email.split('@')[1] : undefined;
        const hosts = [publicHost(settings.public_url), mailbox?.toLowerCase()];
        return { name: provider_name, domains: hosts.filter((host) => host !== undefined) };
      },
      lists: () => scanner.signatures.domainLists(),
    },
    counters,
    rate: settings.limits.scam_check,
    premium,
    raise,
    now,
  });

  return {
    find: (id: string) => checks.find(id),
    providerLists: () => domains.providerLists(),
    serve: (api: Api) => serveScamCheck(api, { checks, domains, upload_ms: settings.upload_ms }),
    close: () => reader.close(),
  };
}

export type BuiltScamCheck = Awaited<ReturnType<typeof buildScamCheck>>;
