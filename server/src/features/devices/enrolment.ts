import { createHash, createPublicKey, randomBytes, randomInt } from 'node:crypto';
import {
  ENROLLED_DEFAULTS,
  ENROLMENT_ALPHABET,
  ENROLMENT_CODE_LENGTH,
  ENROLMENT_LIFETIME,
  ENROLMENT_TRIES,
  type Os,
} from '@palisade/contract/agent';
import { DEVICE_NAME_MAXIMUM } from '@palisade/contract/device-name';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import { refuse, refuseField, refuseFor } from './devices.refusals.ts';
import type { DeviceTables } from './devices.tables.ts';

type Tables = DeviceTables & AuditTables;

/** The number of devices that a person's plan allows, as part of a transaction. */
export type DeviceLimit = (transaction: Kysely<Tables>, user_id: string) => Promise<number>;

/** The facts that a computer sends to become a device. */
interface Computer {
  code: string;
  hostname: string;
  os: Os;
  public_key: string;
  agent_version: string;
}

export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

const TOKEN_BYTES = 32;
const TRIES = { count: ENROLMENT_TRIES, period_ms: ENROLMENT_LIFETIME } as const;

/** A key that agents have: Ed25519 (RFC 8410), as SPKI in base64. */
function isKey(text: string): boolean {
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

/** The name that a device begins with. */
function nameOf(hostname: string): string {
  const name = [...hostname.trim()].slice(0, DEVICE_NAME_MAXIMUM).join('').trim();
  return name === '' ? 'Computer' : name;
}

interface EnrolmentOptions {
  database: Kysely<Tables>;
  audit: Audit;
  counters: Pick<Counters, 'take' | 'giveBack'>;
  limitOf: DeviceLimit;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** Makes computers into devices. `now` is in ms. */
export class Enrolment {
  private readonly options: EnrolmentOptions;

  constructor(options: EnrolmentOptions) {
    this.options = options;
  }

  /** Counts one more device. The count's row stays locked until the device is stored. @throws Problem `device_limit`. */
  private async count(transaction: Kysely<Tables>, user_id: string): Promise<void> {
    const limit = await this.options.limitOf(transaction, user_id);
    const most = limit === UNLIMITED_DEVICES ? Number.MAX_SAFE_INTEGER : limit;
    const counted =
      most < 1
        ? undefined
        : await transaction
            .insertInto('device_counts')
            .values({ user_id, devices: 1 })
            .onConflict((conflict) =>
              conflict
                .column('user_id')
                .doUpdateSet(({ eb, ref }) => ({ devices: eb(ref('device_counts.devices'), '+', 1) }))
                .where('device_counts.devices', '<', most),
            )
            .returning('devices')
            .executeTakeFirst();
    if (counted === undefined) throw refuse('enrollment.device_limit', { limit });
  }

  /** A code with which one computer becomes a device; an older one that was not used ends. @throws Problem `device_limit`. */
  async newCode(user_id: string): Promise<{ code: string; expires_at: string }> {
    const limit = await this.options.limitOf(this.options.database, user_id);
    const counted = await this.options.database
      .selectFrom('device_counts')
      .select('devices')
      .where('user_id', '=', user_id)
      .executeTakeFirst();
    // An early refusal; the decision is made at enrolment.
    if (limit !== UNLIMITED_DEVICES && (counted?.devices ?? 0) >= limit) throw refuse('enrollment.device_limit', { limit });
    const code = Array.from(
      { length: ENROLMENT_CODE_LENGTH },
      () => ENROLMENT_ALPHABET[randomInt(ENROLMENT_ALPHABET.length)] ?? '',
    ).join('');
    const expires_at = new Date(this.options.now() + ENROLMENT_LIFETIME).toISOString();
    await inTransaction(this.options.database, async (transaction) => {
      await transaction.deleteFrom('enrolment_codes').where('user_id', '=', user_id).execute();
      await transaction
        .insertInto('enrolment_codes')
        .values({ code_hash: hashOf(code), user_id, expires_at })
        .execute();
    });
    const half = ENROLMENT_CODE_LENGTH / 2;
    return { code: `${code.slice(0, half)}-${code.slice(half)}`, expires_at };
  }

  /** @throws Problem `enrolment_expired`, `device_limit`, `too_many_requests`, `invalid_field`. */
  async enrol(
    { code, hostname, os, public_key, agent_version }: Computer,
    origin: Origin,
  ): Promise<{ device_id: string; token: string; device_name: string; user_id: string }> {
    if (!isKey(public_key)) throw refuseField('public_key', 'enrollment.key_form');
    // Wrong tries count per first character of the code, so that a mistyped code does not lock out all people behind the same address: 32 first characters allow 160 tries of 32^10 codes.
    const tries = { key: `enrol:${origin.source}:${code.slice(0, 1)}`, rate: TRIES };
    const empty = await this.options.counters.take([tries]);
    if (empty !== undefined) throw refuseFor(empty.wait_ms, 'enrollment.too_many_codes');
    const token = randomBytes(TOKEN_BYTES).toString('hex');
    const device_name = nameOf(hostname);
    const enrolled = await inTransaction(this.options.database, async (transaction) => {
      const used = await transaction
        .deleteFrom('enrolment_codes')
        .where('code_hash', '=', hashOf(code))
        .where('expires_at', '>', at(this.options.now))
        .returning('user_id')
        .executeTakeFirst();
      if (used === undefined) return undefined;
      const { user_id } = used;
      const known = await transaction
        .selectFrom('devices')
        .select(['id', 'device_name', 'revoked_at'])
        .where('user_id', '=', user_id)
        .where('public_key', '=', public_key)
        .executeTakeFirst();
      if (known === undefined || known.revoked_at !== null) await this.count(transaction, user_id);
      const fresh = {
        hostname,
        os: JSON.stringify(os),
        token_hash: hashOf(token),
        agent_version,
        enrolled_at: at(this.options.now),
        confirmed_at: null,
        revoked_at: null,
        instance: null,
        connection_id: null,
        connected_until: null,
        silence_told_at: null,
        last_seen_at: null,
        ack_rev: 0,
        ack_state: null,
        ack_errors: '[]',
        applied_rev: 0,
        applied_at: null,
        pending_since: at(this.options.now),
        trial_at: null,
        report_instance: null,
        report_seq: 0,
      };
      const device_id = known?.id ?? newId();
      if (known === undefined) {
        await transaction
          .insertInto('devices')
          .values({
            ...fresh,
            id: device_id,
            user_id,
            device_name,
            public_key,
            default_inbound: ENROLLED_DEFAULTS.inbound,
            default_outbound: ENROLLED_DEFAULTS.outbound,
            own_rev: 0,
            told_rev: 0,
            blocked_total: 0,
            blocked_log: null,
            blocked_number: 0,
            capabilities: null,
            skew_ms: null,
            telemetry: null,
            telemetry_at: null,
            posture: '[]',
            foreign_tables: '[]',
            last_full_scan_at: null,
            is_watching: 1,
            watching: null,
            reported_at: null,
            health: null,
            web_protection: null,
            watched: '[]',
            exclusions: '[]',
          })
          .execute();
      } else {
        await transaction.updateTable('devices').set(fresh).where('id', '=', device_id).execute();
      }
      const name = known?.device_name ?? device_name;
      await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: 'device_enrolled',
        subject_id: user_id,
        actor_id: user_id,
        origin,
        details: { device_name: name },
      });
      return { device_id, token, device_name: name, user_id };
    });
    if (enrolled === undefined) throw new Problem('enrolment_expired');
    await this.options.counters.giveBack([tries]);
    return enrolled;
  }
}

export function createEnrolment(options: EnrolmentOptions): Enrolment {
  return new Enrolment(options);
}
