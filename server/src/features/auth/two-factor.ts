import { randomBytes } from 'node:crypto';
import type { AuditKind } from '@palisade/contract/audit';
import type { UserInfo } from '@palisade/contract/auth';
import {
  CONFIRMATION_LIFETIME_S,
  type NewPasskey,
  type Passkey,
  type PasskeyCreation,
  type PasskeyRequest,
  type TwoFactor,
} from '@palisade/contract/two-factor';
import { type Kysely, sql } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inBatches } from '#platform/batches.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { type InstallationTables, readProvider } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { AuthTables } from './auth.tables.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { PasskeyRow, Passkeys } from './passkeys.ts';
import { countRecoveryCodes, makeRecoveryCodes } from './recovery-codes.ts';
import type { RequirePassword } from './require-password.ts';
import type { FactorRule } from './required-factor.ts';
import type { SealedSecrets } from './sealed-secret.ts';
import type { Proof, SecondFactors } from './second-factors.ts';
import { securityNotice } from './security-notice.ts';
import { base32, keyUri, matchingStep, TOTP_SECRET_BYTES } from './totp.ts';
import { refuse, refuseField } from './two-factor.refusals.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = AuthTables & TwoFactorTables & AuditTables & MailTables & InstallationTables;

/** The actor of a change: a person, in a session, from an origin. */
export interface Actor {
  user_id: string;
  session_id: string;
  origin: Origin;
}

interface TwoFactorAccountsOptions {
  database: Kysely<Tables>;
  passkeys: Passkeys;
  secondFactors: SecondFactors;
  requirePassword: RequirePassword;
  secrets: SealedSecrets;
  audit: Audit;
  mail: Pick<Mail, 'queue' | 'wake'>;
  mustHaveFactor: FactorRule;
  /** Number of steps before and after its own in which a code is valid. */
  drift_steps: number;
  now: () => number;
}

const at = (now: () => number, offset_s = 0) => new Date(now() + offset_s * 1_000).toISOString();

async function stateOf(from: Kysely<Tables>, user_id: string) {
  const totp = await from.selectFrom('totp').selectAll().where('user_id', '=', user_id).executeTakeFirst();
  const { count } = await from
    .selectFrom('passkeys')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('user_id', '=', user_id)
    .executeTakeFirstOrThrow();
  const factors = Number(count) + (totp?.since ? 1 : 0);
  return { totp, factors };
}

async function requireConfirmed(now: () => number, from: Kysely<Tables>, { user_id, session_id }: Actor): Promise<void> {
  const confirmed = await from
    .selectFrom('session_confirmations')
    .select('with_second_factor')
    .where('session_id', '=', session_id)
    .where('expires_at', '>', at(now))
    .executeTakeFirst();
  if (confirmed === undefined) throw new Problem('confirmation_required');
  const { factors } = await stateOf(from, user_id);
  if (factors > 0 && confirmed.with_second_factor === 0) throw new Problem('confirmation_required');
}

/** Call this after adding a second factor to `before` others: returns recovery codes if it is the first. The person has proved that they have it. */
async function added(transaction: Kysely<Tables>, actor: Actor, write: Write, before: number): Promise<string[] | null> {
  await transaction
    .updateTable('session_confirmations')
    .set({ with_second_factor: 1 })
    .where('session_id', '=', actor.session_id)
    .execute();
  if (before > 0) return null;
  const codes = await makeRecoveryCodes(transaction.$pickTables<'recovery_codes'>(), actor.user_id);
  await write.audit('two_factor_enabled');
  await write.audit('recovery_codes_made');
  return codes;
}

/** Two-factor sign-in of accounts: its factors, and their changes. Every change requires a recently confirmed session. */
export class TwoFactorAccounts {
  private readonly options: TwoFactorAccountsOptions;
  private readonly factors: SecondFactors;

  constructor(options: TwoFactorAccountsOptions) {
    this.options = options;
    this.factors = options.secondFactors;
  }

  /** A change by a confirmed person in one transaction, with its audit entry and letter. Concurrent changes wait for each other. */
  private async change<Result>(
    actor: Actor,
    work: (transaction: Kysely<Tables>, write: Write, must_have_factor: boolean) => Promise<Result>,
  ): Promise<Result> {
    const result = await inTransaction(this.options.database, async (transaction) => {
      const user = await transaction
        .updateTable('users')
        .set(({ ref }) => ({ email: ref('email') }))
        .where('id', '=', actor.user_id)
        .returning(['email', 'username', 'role'])
        .executeTakeFirst();
      if (user === undefined) throw new Problem('unauthenticated');
      await requireConfirmed(this.options.now, transaction, actor);
      const write: Write = {
        audit: async (kind, details = {}) => {
          const { user_id, origin } = actor;
          const entry = { kind, subject_id: user_id, actor_id: user_id, origin, details };
          await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), entry);
        },
        letter: async (subject, what) => {
          const letter = securityNotice(user, { subject, what });
          await this.options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), letter);
        },
      };
      return await work(transaction, write, this.options.mustHaveFactor(user.role));
    });
    this.options.mail.wake();
    return result;
  }

  async read({ id: user_id, role }: Pick<UserInfo, 'id' | 'role'>, site: PasskeySite | undefined): Promise<TwoFactor> {
    const [{ totp, factors }, keys, recovery_codes_left] = await Promise.all([
      stateOf(this.options.database, user_id),
      this.options.passkeys.list(user_id),
      countRecoveryCodes(this.options.database.$pickTables<'recovery_codes'>(), user_id),
    ]);
    return {
      enabled: factors > 0,
      required: this.options.mustHaveFactor(role),
      totp_since: totp?.since ?? null,
      passkeys: keys,
      recovery_codes_left,
      passkey_origin: site?.origin ?? null,
    };
  }

  /** For other features: whether it is on, and how many recovery codes are left. */
  async secondFactor(user_id: string): Promise<{ enabled: boolean; recovery_codes_left: number }> {
    // One query, because the score needs it each time that a page reads it.
    const { rows } = await sql<{ factors: number; codes: number }>`select
        (select count(*) from totp where user_id = ${user_id} and since is not null) +
        (select count(*) from passkeys where user_id = ${user_id}) as factors,
        (select count(*) from recovery_codes where user_id = ${user_id}) as codes`.execute(this.options.database);
    const [{ factors, codes } = { factors: 0, codes: 0 }] = rows;
    return { enabled: factors > 0, recovery_codes_left: codes };
  }

  /** For other features: whether it is on, for each of the accounts. */
  async secondFactors(user_ids: readonly string[]): Promise<Map<string, boolean>> {
    const states = new Map(user_ids.map((id) => [id, false]));
    const rows = await inBatches([...states.keys()], (ids) =>
      this.options.database
        .selectFrom('totp')
        .select('user_id')
        .where('user_id', 'in', ids)
        .where('since', 'is not', null)
        .union(this.options.database.selectFrom('passkeys').select('user_id').where('user_id', 'in', ids))
        .execute(),
    );
    for (const row of rows) states.set(row.user_id, true);
    return states;
  }

  /** Proves the person's identity, for `CONFIRMATION_LIFETIME_S`. @throws Problem `invalid_field` for a wrong password or a missing second factor, and like `SecondFactors.demand`. */
  async confirm(
    { user_id, session_id, origin }: Actor,
    { current_password, proof, site }: { current_password: string; proof: Proof | undefined; site: PasskeySite | undefined },
  ): Promise<void> {
    await this.options.requirePassword(user_id, { password: current_password, field: 'current_password' }, origin);
    const occasion = { user_id, purpose: 'confirm', site, origin } as const;
    await this.factors.demand(proof, occasion, async (transaction, has_second_factor) => {
      const row = {
        with_second_factor: has_second_factor ? 1 : 0,
        expires_at: at(this.options.now, CONFIRMATION_LIFETIME_S),
      } as const;
      await transaction
        .insertInto('session_confirmations')
        .values({ session_id, ...row })
        .onConflict((conflict) => conflict.column('session_id').doUpdateSet(row))
        .execute();
    });
    this.options.mail.wake();
  }

  requestProof(user_id: string, site: PasskeySite): Promise<PasskeyRequest> {
    return this.options.passkeys.request({ purpose: 'confirm', user_id, site });
  }

  /** @throws Problem `confirmation_required`, like everything below. */
  async startTotp(actor: Actor): Promise<{ secret: string; uri: string }> {
    const secret = randomBytes(TOTP_SECRET_BYTES);
    const account = await this.change(actor, async (transaction) => {
      const pending = {
        pending_secret: this.options.secrets.seal(secret, actor.user_id),
        pending_until: at(this.options.now, CONFIRMATION_LIFETIME_S),
      };
      await transaction
        .insertInto('totp')
        .values({
          user_id: actor.user_id,
          secret: null,
          since: null,
          last_step: 0,
          tries: 0,
          tries_until: at(this.options.now),
          ...pending,
        })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(pending))
        .execute();
      return await transaction.selectFrom('users').select('email').where('id', '=', actor.user_id).executeTakeFirstOrThrow();
    });
    const { provider_name } = await readProvider(this.options.database.$pickTables<'installation'>());
    const text = base32(secret);
    return { secret: text, uri: keyUri({ secret: text, issuer: provider_name, account: account.email }) };
  }

  /** Returns recovery codes if this turned two-factor sign-in on. @throws Problem `invalid_field` for a wrong code, `conflict` when no setup was started. */
  async activateTotp(actor: Actor, code: string): Promise<string[] | null> {
    return await this.change(actor, async (transaction, write) => {
      const { totp, factors } = await stateOf(transaction, actor.user_id);
      if (!totp?.pending_secret || totp.pending_until === null || totp.pending_until <= at(this.options.now))
        throw refuse('two_factor.setup_too_long');
      const step = matchingStep(this.options.secrets.open(totp.pending_secret, actor.user_id), code, {
        now: this.options.now(),
        drift_steps: this.options.drift_steps,
      });
      if (step === undefined) throw refuseField('code', 'code.did_not_work');
      await transaction
        .updateTable('totp')
        .set({
          secret: totp.pending_secret,
          since: at(this.options.now),
          last_step: step,
          tries: 0,
          pending_secret: null,
          pending_until: null,
        })
        .where('user_id', '=', actor.user_id)
        .execute();
      await write.audit('authenticator_added');
      await write.letter(
        'An authenticator app was added',
        'You’ll now sign in with your password and a code from your authenticator app.',
      );
      return await added(transaction, actor, write, factors);
    });
  }

  /** @throws Problem `conflict` when it is the last second factor. */
  async removeTotp(actor: Actor): Promise<void> {
    await this.change(actor, async (transaction, write, must_have_factor) => {
      const { totp, factors } = await stateOf(transaction, actor.user_id);
      if (!totp?.since) return;
      if (factors === 1) throw refuse(must_have_factor ? 'two_factor.last_required' : 'two_factor.last');
      await transaction.deleteFrom('totp').where('user_id', '=', actor.user_id).execute();
      await write.audit('authenticator_removed');
      await write.letter(
        'Your authenticator app was removed',
        'The authenticator app was removed from your account. Your passkeys still work.',
      );
    });
  }

  async requestNewPasskey(actor: Actor, site: PasskeySite): Promise<PasskeyCreation> {
    await requireConfirmed(this.options.now, this.options.database, actor);
    const user = await this.options.database
      .selectFrom('users')
      .select(['id', 'email', 'username'])
      .where('id', '=', actor.user_id)
      .executeTakeFirstOrThrow();
    const { provider_name } = await readProvider(this.options.database.$pickTables<'installation'>());
    return await this.options.passkeys.requestNew(user, site, provider_name);
  }

  async addPasskey(
    actor: Actor,
    { name, made, site }: { name: string; made: NewPasskey; site: PasskeySite },
  ): Promise<{ passkey: Passkey; recovery_codes: string[] | null }> {
    await requireConfirmed(this.options.now, this.options.database, actor);
    const { keep } = await this.options.passkeys.examineNew(made, actor.user_id, site);
    return await this.change(actor, async (transaction, write) => {
      const { factors } = await stateOf(transaction, actor.user_id);
      const passkey = await keep(transaction.$pickTables<'passkeys' | 'passkey_challenges'>(), name);
      await write.audit('passkey_added', { name });
      await write.letter(
        'A passkey was added',
        `A passkey named “${name}” was added to your account. It can sign in without your password.`,
      );
      return { passkey, recovery_codes: await added(transaction, actor, write, factors) };
    });
  }

  /** @throws Problem `conflict` when it is the last second factor. */
  async removePasskey(actor: Actor, { id, name }: PasskeyRow): Promise<void> {
    await this.change(actor, async (transaction, write, must_have_factor) => {
      // First, so that the second of two clicks finds it removed.
      const removed = await transaction.deleteFrom('passkeys').where('id', '=', id).returning('id').executeTakeFirst();
      if (removed === undefined) throw new Problem('not_found');
      const { factors } = await stateOf(transaction, actor.user_id);
      if (factors === 0) throw refuse(must_have_factor ? 'two_factor.last_required' : 'two_factor.last');
      await write.audit('passkey_removed', { name });
      await write.letter('A passkey was removed', `The passkey named “${name}” was removed from your account.`);
    });
  }

  /** @throws Problem `conflict` while two-factor sign-in is off. */
  async renewRecoveryCodes(actor: Actor): Promise<string[]> {
    return await this.change(actor, async (transaction, write) => {
      const { factors } = await stateOf(transaction, actor.user_id);
      if (factors === 0) throw refuse('two_factor.off');
      const codes = await makeRecoveryCodes(transaction.$pickTables<'recovery_codes'>(), actor.user_id);
      await write.audit('recovery_codes_made');
      await write.letter(
        'New recovery codes were created',
        'New recovery codes were created for your account. Your old codes no longer work.',
      );
      return codes;
    });
  }

  /** @throws Problem `conflict` where the account must have a second factor. */
  async turnOff(actor: Actor): Promise<void> {
    await this.change(actor, async (transaction, write, must_have_factor) => {
      const { factors } = await stateOf(transaction, actor.user_id);
      if (factors === 0) return;
      if (must_have_factor) throw refuse('two_factor.stays_on');
      for (const table of ['totp', 'passkeys', 'recovery_codes', 'passkey_challenges', 'sign_in_challenges'] as const)
        await transaction.deleteFrom(table).where('user_id', '=', actor.user_id).execute();
      await write.audit('two_factor_disabled');
      await write.letter(
        'Two-factor sign-in was turned off',
        'You’ll now sign in with only your password. Your app, passkeys, and recovery codes were removed.',
      );
    });
  }
}

export function createTwoFactor(options: TwoFactorAccountsOptions): TwoFactorAccounts {
  return new TwoFactorAccounts(options);
}

/** Writes the audit entry and the letter of a change, as part of its transaction. */
interface Write {
  audit(kind: AuditKind, details?: Record<string, string>): Promise<void>;
  letter(subject: string, what: string): Promise<void>;
}
