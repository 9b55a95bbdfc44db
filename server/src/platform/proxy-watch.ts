import { BlockList, isIPv6 } from 'node:net';
import type { Exposure } from '@palisade/contract/platform';
import { type ProxyFindings, type ProxySign, proxySignSchema } from '@palisade/contract/proxy';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { claimFact, dropFact, type InstallationTables, readFact, readFacts, writeFact } from './installation.ts';
import { type Incoming, isLocalRequest, proxySignOf } from './local-request.ts';
import { isLoopbackSource, isPrivateSource, sourceOf } from './origin.ts';
import { sentence } from './platform.refusals.ts';
import type { Sentence } from './sentence.ts';

/** Detects proxies before this server that are not in the settings. */
export interface ProxyWatch {
  /** Examines a request before its other steps. Never delays it, and never fails. */
  look(request: Incoming): void;
  /** Examines the request of a signed-in person. */
  lookAtPerson(request: Incoming): void;
  /** Whether many people share a source because it is a proxy's: such a source is not refused as a whole. */
  isShared(source: string): boolean;
  /** The reason, as a sentence for the person, why this request gets no facts reserved for the machine itself (a reset token, a username); undefined if it may have them. */
  withheld(request: Incoming): Promise<string | undefined>;
  /**
   * The reason, as a sentence for the person, why this request may not create the first administrator in local exposure; undefined if it may: it comes from the machine
   * itself, or the settings allow other machines.
   */
  notFirst(request: Incoming): Sentence | undefined;
  findings(): Promise<ProxyFindings>;
  /** An administrator has read the findings: local exposure shows tokens again until the next sign of a proxy, and known addresses are not reported again. */
  clear(database: Kysely<InstallationTables>): Promise<void>;
  close(): Promise<void>;
}

const BEHIND_PROXY = 'behind_proxy';
const UNTRUSTED = 'untrusted_proxy:';
/** Maximum number of addresses that are kept: a network has few proxies, and a sender of such headers from many addresses must not fill the table. */
const SOURCES_MAXIMUM = 50;
/** Interval after which a known sign is written again: an administrator may have cleared it through another server. */
const WRITTEN_AGAIN_MS = 60_000;

const foundSchema = z.object({ since: z.string(), sign: proxySignSchema });
const untrustedSchema = foundSchema.extend({ is_read: z.boolean() });

const WHAT_TO_SET = 'Ask your server administrator to set EXPOSURE=public or PUBLIC_URL and restart the server.';
const WITHHELD = {
  proxy: `This server can’t tell who is asking, so it shows no account details. ${WHAT_TO_SET}`,
  elsewhere: 'For security, you’ll see this only on the server’s own computer, at its local address.',
} as const;
const LETTERS = {
  mail: 'If an account uses this email, we’ve sent a message there. Check your spam folder too.',
  outbox:
    'If an account uses this email, a message is in the outbox. Ask an administrator, or run "palisade outbox" on the server.',
} as const;

export function isTrustedBy(trusted_proxies: readonly string[]): (peer: string) => boolean {
  const list = new BlockList();
  for (const entry of trusted_proxies) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (peer) => list.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4');
}

interface ProxyWatchParts {
  database: Kysely<InstallationTables>;
  exposure: Exposure;
  /** Local exposure that other machines may reach, by an explicit setting. */
  open_local: boolean;
  public_url: string | undefined;
  trusted_proxies: readonly string[];
  letters: 'mail' | 'outbox';
  /** Called before a finding is written, which `findings` returns from then on. */
  onFound: () => void;
  now: () => number;
  logger: FastifyBaseLogger;
}

/** `letters`: the way of the mail that is written in place of an answer. `now` is in ms. */
export async function createProxyWatch(parts: ProxyWatchParts): Promise<ProxyWatch> {
  const { database, exposure, open_local, public_url, trusted_proxies, letters, onFound, now, logger } = parts;
  const isTrusted = isTrustedBy(trusted_proxies);
  const peerOf = ({ raw }: Incoming) => (raw.socket.remoteAddress ?? '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  /** Sources that were already reported, and those of them that many people share. */
  const named = new Set((await readFacts(database, UNTRUSTED)).keys());
  const shared = new Set([...named].filter(isPrivateSource));
  let latched_at: number | undefined;
  let writing: Promise<void> = Promise.resolve();

  function write(work: () => Promise<void>, orElse: () => void): void {
    onFound();
    writing = writing.then(work).catch((error: unknown) => {
      orElse();
      logger.error({ err: error }, 'what was found of a proxy could not be kept');
    });
  }

  const found = (sign: ProxySign) => ({ since: new Date(now()).toISOString(), sign });

  function latch(sign: ProxySign): void {
    if (latched_at !== undefined && now() - latched_at < WRITTEN_AGAIN_MS) return;
    latched_at = now();
    write(
      async () => {
        if (!(await claimFact(database, BEHIND_PROXY, JSON.stringify(found(sign))))) return;
        logger.warn(
          { sign },
          'A request came through a proxy in local exposure: no reset token and no username is answered any more. Set EXPOSURE=public, or PUBLIC_URL to the address that people open.',
        );
      },
      () => {
        latched_at = undefined;
      },
    );
  }

  function name(source: string, sign: ProxySign): void {
    if (named.has(source) || named.size >= SOURCES_MAXIMUM) return;
    named.add(source);
    write(
      async () => {
        const value = JSON.stringify({ ...found(sign), is_read: false });
        if (!(await claimFact(database, UNTRUSTED + source, value))) return;
        logger.warn(
          { address: source, sign },
          'Requests come through a proxy that TRUSTED_PROXIES does not name, so that everybody behind it has one address. Add its address to TRUSTED_PROXIES.',
        );
      },
      () => void named.delete(source),
    );
  }

  /** The source of a proxy that the settings do not name, and its sign. */
  function untrustedSource(request: Incoming): { source: string; sign: ProxySign } | undefined {
    const sign = proxySignOf(request);
    const peer = peerOf(request);
    if (sign === undefined || peer === '' || isTrusted(peer)) return undefined;
    return { source: sourceOf(peer), sign };
  }

  return {
    look(request) {
      const sign = proxySignOf(request);
      if (sign === undefined) return;
      if (exposure === 'local') latch(sign);
      const { source } = untrustedSource(request) ?? {};
      // Any stranger could send the header, so a public address counts as one person until the settings say otherwise (docs/decisions/accounts.md).
      if (source === undefined || !isPrivateSource(source)) return;
      if (shared.size < SOURCES_MAXIMUM) shared.add(source);
      if (exposure === 'public' || !isLoopbackSource(source)) name(source, sign);
    },

    lookAtPerson(request) {
      const { source, sign } = untrustedSource(request) ?? {};
      if (source !== undefined && sign === 'forwarding_header' && !isPrivateSource(source)) name(source, sign);
    },

    // The address of a trusted proxy identifies no single person.
    isShared: (source) => shared.has(source) || (!source.includes('/') && isTrusted(source)),

    async withheld(request) {
      await writing;
      const latch_fact = await readFact(database, BEHIND_PROXY);
      if (latch_fact === undefined && isLocalRequest(request)) return undefined;
      const reason = latch_fact !== undefined || proxySignOf(request) !== undefined ? 'proxy' : 'elsewhere';
      return `${WITHHELD[reason]} ${LETTERS[letters]}`;
    },

    notFirst(request) {
      if (isLocalRequest(request)) return undefined;
      const isExpected = public_url !== undefined || proxySignOf(request) === undefined;
      return open_local && isExpected ? undefined : sentence('account.first_only_on_server');
    },

    async findings() {
      await writing;
      const latch_fact = exposure === 'local' ? await readFact(database, BEHIND_PROXY) : undefined;
      const untrusted = [...(await readFacts(database, UNTRUSTED))].flatMap(([address, value]) => {
        const { is_read, ...rest } = untrustedSchema.parse(JSON.parse(value));
        return is_read ? [] : [{ address, ...rest }];
      });
      return { behind_proxy: latch_fact === undefined ? null : foundSchema.parse(JSON.parse(latch_fact)), untrusted };
    },

    async clear(transaction) {
      await dropFact(transaction, BEHIND_PROXY);
      for (const [source, value] of await readFacts(transaction, UNTRUSTED)) {
        const entry = untrustedSchema.parse(JSON.parse(value));
        if (!entry.is_read) await writeFact(transaction, UNTRUSTED + source, JSON.stringify({ ...entry, is_read: true }));
      }
      latched_at = undefined;
    },

    close: () => writing,
  };
}
