import { createHash } from 'node:crypto';
import { CHECKED_SCAM_RULE } from '@palisade/contract/alert-advice';
import { alertPhrase, asWritten } from '@palisade/contract/alert-phrases';
import type { PageQuery } from '@palisade/contract/fields';
import { type ProviderDomain, type ScamAnswer, type ScamCheck, scamAnswerSchema } from '@palisade/contract/scam-check';
import type { Kysely, Selectable } from 'kysely';
import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import type { Incident } from '#platform/incident.ts';
import type { Rate } from '#platform/limits.ts';
import { refuseFor } from './scam-check.refusals.ts';
import type { ScamCheckTables } from './scam-check.tables.ts';
import type { ScamDomains } from './scam-domains.ts';
import type { ScamReader } from './scam-reader.ts';
import type { ScamInput, ThreadSurroundings } from './scam-thread-messages.ts';

/** Checks of one person that run at once. */
const AT_ONCE_MAXIMUM = 10;
/** Maximum number of kept checks per person; the oldest is deleted. */
const KEPT_MAXIMUM = 500;
const EXCERPT_LENGTH = 160;
const DAY_MS = 86_400_000;
/** Maximum number of people whose last dangerous input is remembered, so that keeping a check does not report it twice. */
const TOLD_MAXIMUM = 1_000;
/** A running check expires after this many ms, in case its server dies. */
const RUNNING_MS = 120_000;

/** As the query of a request has them. */
interface CheckQuery {
  keep: 'true' | 'false';
  ask_dns?: 'true' | 'false';
}

type Row = Selectable<ScamCheckTables['scam_checks']>;

/** The provider as the check knows it, and the lists that feeds brought. */
interface CheckSources {
  provider: () => Promise<ThreadSurroundings['provider']>;
  lists: () => ThreadSurroundings['lists'];
}

interface ScamChecksOptions {
  database: Kysely<ScamCheckTables>;
  reader: Pick<ScamReader, 'check'>;
  domains: Pick<ScamDomains, 'trustedOf' | 'providerLists'>;
  sources: CheckSources;
  counters: Counters;
  rate: Rate;
  premium: { current(user_id: string): Promise<{ is_premium: boolean }> };
  raise: (incident: Incident) => Promise<void>;
  now: () => number;
}

/** The beginning of what was checked, in one line. */
function excerptOf(input: ScamInput, answer: ScamAnswer): string {
  const found = answer.parts.links[0]?.shown ?? answer.parts.sender?.address;
  const text = input.kind === 'text' ? input.text : found === undefined ? input.name : `${input.name}: ${found}`;
  const line = text.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH - 1).toWellFormed()}…` : line;
}

/** The alert for a kept dangerous message: one a day for all of them. It stops nothing, so it is never `blocked`. A check that isn't kept stores nothing. */
function scamIncident(user_id: string, answer: ScamAnswer, at: string): Incident {
  const [reason] = answer.reasons;
  const { organisations, links, sender } = answer.parts;
  const imitated = organisations.find(({ role }) => role === 'imitated')?.name;
  const source = links.find(({ trust }) => trust === 'listed' || trust === 'suspicious')?.host ?? sender?.address ?? null;
  return {
    rule: CHECKED_SCAM_RULE,
    key: `day:${at.slice(0, 10)}`,
    user_id,
    threat_type: 'phishing_attempt',
    severity: 'low',
    phrase:
      imitated === undefined
        ? alertPhrase('scam_check.dangerous', {})
        : alertPhrase('scam_check.dangerous.imitation', { organisation: imitated }),
    at,
    outcome: 'unknown',
    ip_address: null,
    evidence: {
      threshold: alertPhrase('threshold.scam_check.dangerous', {}),
      events: [{ at, what: asWritten(reason?.sentence ?? answer.headline), source }],
    },
    browser_id: null,
    session_id: null,
    gap_ms: DAY_MS,
  };
}

export function checkOf({ id, created_at, excerpt, answer }: Row): ScamCheck {
  return { id, created_at, excerpt, answer: scamAnswerSchema.parse(JSON.parse(answer)) };
}

/** Checks of people, and those that they kept. */
export class ScamChecks {
  private readonly options: ScamChecksOptions;
  private readonly told = new Map<string, string>();

  constructor(options: ScamChecksOptions) {
    this.options = options;
  }

  /** Reserves a slot for a person's check, before its body is read. Returns the function that releases it. @throws Problem `too_many_requests` */
  async admit(user_id: string): Promise<() => Promise<void>> {
    const { counters, rate } = this.options;
    const empty = await counters.take([{ key: `scam-check:${user_id}`, rate }]);
    if (empty !== undefined) throw refuseFor(empty.wait_ms, 'scam_check.too_many', { count: rate.count });
    const place = `scam-checks:${user_id}`;
    const member = newId();
    const { count, isNew, wait_ms } = await counters.put(place, { member, most: AT_ONCE_MAXIMUM, window_ms: RUNNING_MS });
    if (!isNew) throw refuseFor(Math.min(wait_ms, 5_000), 'scam_check.still_running', { count });
    return () => counters.remove(place, member);
  }

  /** Checks an input. `ask_dns`: the person allows DNS queries for the keys of a signature. @throws Problem like `ScamReader.check`. */
  async check(
    user_id: string,
    input: ScamInput,
    { keep, ask_dns = 'false' }: CheckQuery,
  ): Promise<ScamAnswer & { id: string | null }> {
    const { domains, sources, reader } = this.options;
    const [trusted, provider, { trusted: all, dangerous }]: [{ domain: string }[], ThreadSurroundings['provider'], Lists] =
      await Promise.all([domains.trustedOf(user_id), sources.provider(), domains.providerLists()]);
    const surroundings = { provider, lists: sources.lists(), trusted: all, dangerous };
    const person = { trusted: trusted.map(({ domain }) => domain), may_ask_dns: ask_dns === 'true' };
    const answer = await reader.check(user_id, input, person, surroundings);
    if (keep !== 'true') return { ...answer, id: null };
    if (answer.verdict === 'dangerous') await this.tell(user_id, input, answer);
    return { ...answer, id: await this.keep(user_id, input, answer) };
  }

  private async tell(user_id: string, input: ScamInput, answer: ScamAnswer): Promise<void> {
    const { premium, raise, now } = this.options;
    const { is_premium } = await premium.current(user_id);
    if (!is_premium) return;
    const sum = createHash('sha256')
      .update(input.kind === 'text' ? input.text : input.bytes)
      .digest('hex');
    // Checking the same message again, for example to show it to support, is the same scam.
    if (this.told.get(user_id) === sum) return;
    const [oldest] = this.told.keys();
    if (this.told.size >= TOLD_MAXIMUM && oldest !== undefined) this.told.delete(oldest);
    this.told.delete(user_id);
    this.told.set(user_id, sum);
    await raise(scamIncident(user_id, answer, new Date(now()).toISOString()));
  }

  private async keep(user_id: string, input: ScamInput, answer: ScamAnswer): Promise<string> {
    const { database, now } = this.options;
    const id = newId();
    await database
      .insertInto('scam_checks')
      .values({
        id,
        user_id,
        created_at: new Date(now()).toISOString(),
        verdict: answer.verdict,
        excerpt: excerptOf(input, answer),
        answer: JSON.stringify(answer),
      })
      .execute();
    const oldest = await database
      .selectFrom('scam_checks')
      .select('id')
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .offset(KEPT_MAXIMUM)
      .limit(1)
      .executeTakeFirst();
    if (oldest !== undefined)
      await database.deleteFrom('scam_checks').where('user_id', '=', user_id).where('id', '<=', oldest.id).execute();
    return id;
  }

  /** Kept checks of a person, newest first. */
  async list(user_id: string, { limit, cursor }: PageQuery): Promise<Row[]> {
    const rows = this.options.database
      .selectFrom('scam_checks')
      .selectAll()
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .limit(limit);
    return await (cursor === undefined ? rows : rows.where('id', '<', cursor)).execute();
  }

  find(id: string): Promise<Row | undefined> {
    return this.options.database.selectFrom('scam_checks').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async remove({ id }: { id: string }): Promise<void> {
    await this.options.database.deleteFrom('scam_checks').where('id', '=', id).execute();
  }
}

type Lists = Record<ProviderDomain['list'], string[]>;

/** A kept check as a card in the chat. */
export function sharedCheck({ excerpt, answer, created_at }: Row): { title: string; facts: { name: string; value: string }[] } {
  const { headline, reasons, parts } = scamAnswerSchema.parse(JSON.parse(answer));
  return {
    title: excerpt === '' ? headline : excerpt,
    facts: [
      { name: 'Answer', value: headline },
      ...reasons.map(({ sentence, span }) => ({
        name: 'Because',
        value: span === null ? sentence : `${sentence} (${span.text})`,
      })),
      ...parts.links.slice(0, 10).map(({ shown, owner, host_shown }) => ({ name: shown, value: owner ?? host_shown })),
      { name: 'Checked', value: created_at },
    ],
  };
}
