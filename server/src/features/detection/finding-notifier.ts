import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import type { Claim, FindingTables, Incident } from '#platform/incident.ts';
import { type Found, forgetFindings, type KeptFinding, takeFinding, unfinishedFindings } from './findings-store.ts';
import { phraseOrWritten } from './windows.ts';

/** Raises alerts from findings, once for each recipient. */
export interface FindingNotifier {
  notify(all: readonly KeptFinding[]): Promise<void>;
  /** Notifies recipients that were missed because a server stopped, or a notification failed. */
  notifyRemaining(): Promise<void>;
}

/** Time for which a failed notification is retried. */
const TRIED_FOR_MS = 86_400_000;

/** `now` is in ms. */
export function createFindingNotifier(parts: {
  database: Kysely<FindingTables>;
  raise: (incident: Incident, claim: Claim) => Promise<void>;
  /** Whether sign-in to an account from a source was refused at that time (ISO). `account` is as in events. */
  wasRefused: (pair: { source: string; account: string }, at: string) => Promise<boolean>;
  administrators: () => Promise<string[]>;
  now: () => number;
  logger: FastifyBaseLogger;
}): FindingNotifier {
  const { database, raise, wasRefused, administrators, now, logger } = parts;
  /** Findings that this server is reporting now. */
  const underway = new Set<string>();

  /** `blocked` only if the action certainly did not happen, or can no longer happen. */
  async function outcomeOf({ outcome, tried, at }: Found): Promise<Incident['outcome']> {
    if (outcome !== undefined) return outcome;
    const refused = await Promise.all(tried.map((attempt) => wasRefused(attempt, at)));
    return refused.length > 0 && refused.every(Boolean) ? 'blocked' : 'allowed';
  }

  async function audienceOf({ audience, user_id }: Found): Promise<string[]> {
    switch (audience) {
      case 'person':
        return user_id === null ? [] : [user_id];
      case 'every_administrator':
        return await administrators();
      case 'administrators':
        // Refusals to a signed-in person are not reported to that person.
        return (await administrators()).filter((id) => id !== user_id);
    }
  }

  async function incidentFor(user_id: string, found: Found): Promise<Incident> {
    const { rule, key, threat_type, severity, at, samples, address, browser_id, session_id } = found;
    return {
      ...{ rule, key, user_id, threat_type, severity, at, browser_id, session_id },
      phrase: phraseOrWritten(found.description, found.phrase),
      outcome: await outcomeOf(found),
      ip_address: address,
      evidence: {
        threshold: phraseOrWritten(found.threshold, found.threshold_phrase),
        events: samples.map(({ at: seen_at, what, phrase, source }) => ({
          at: seen_at,
          what: phraseOrWritten(what, phrase),
          source,
        })),
      },
    };
  }

  /** Notifies each recipient in a separate transaction that also marks them as notified, so that each is notified once even if this server stops. */
  async function tellOne({ id, found, told: before }: KeptFinding): Promise<void> {
    let told = before;
    const audience = await audienceOf(found);
    const left = audience.filter((user_id) => !told.includes(user_id));
    const failed: string[] = [];
    for (const [index, user_id] of left.entries()) {
      const with_them = [...told, user_id];
      const is_last = index === left.length - 1 && failed.length === 0;
      const claim: Claim = (transaction) => takeFinding(transaction, { id, told }, is_last ? undefined : with_them);
      try {
        await raise(await incidentFor(user_id, found), claim);
        told = with_them;
      } catch (error) {
        // A failure for one recipient does not stop the others.
        failed.push(user_id);
        logFailure(logger, error, 'could not raise an alert', { rule: found.rule });
      }
    }
    if (left.length === 0) await takeFinding(database, { id, told }, undefined);
  }

  async function notify(all: readonly KeptFinding[]): Promise<void> {
    for (const finding of all) {
      if (underway.has(finding.id)) continue;
      underway.add(finding.id);
      try {
        await tellOne(finding);
      } finally {
        underway.delete(finding.id);
      }
    }
  }

  return {
    notify,

    async notifyRemaining() {
      await notify(await unfinishedFindings(database));
      const given_up = await forgetFindings(database, new Date(now() - TRIED_FOR_MS).toISOString());
      if (given_up > 0) logger.error({ count: given_up }, 'alerts could not be raised within a day, and are given up');
    },
  };
}
