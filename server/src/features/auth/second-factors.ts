import type { SecondFactor } from '@palisade/contract/problem';
import { type PasskeyAssertion, RECOVERY_CODES } from '@palisade/contract/two-factor';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { AuthTables } from './auth.tables.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { Passkeys } from './passkeys.ts';
import { countRecoveryCodes, takeRecoveryCode } from './recovery-codes.ts';
import type { SealedSecrets } from './sealed-secret.ts';
import { securityNotice } from './security-notice.ts';
import { matchingStep } from './totp.ts';
import { refuse, refuseField } from './two-factor.refusals.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

/** A person's proof of their second factor. */
export type Proof = { code: string } | { recovery_code: string } | { passkey: PasskeyAssertion };

/** The second factor in a body; undefined if there is none. */
export function proofOf(body: {
  code?: string | undefined;
  recovery_code?: string | undefined;
  passkey?: PasskeyAssertion | undefined;
}): Proof | undefined {
  if (body.code !== undefined) return { code: body.code };
  if (body.recovery_code !== undefined) return { recovery_code: body.recovery_code };
  return body.passkey === undefined ? undefined : { passkey: body.passkey };
}

type Tables = AuthTables & TwoFactorTables & AuditTables & MailTables & InstallationTables;

/** The request in which a proof was asked for and given. */
interface Occasion {
  user_id: string;
  purpose: 'confirm' | 'second_step' | 'sign_in';
  /** Undefined where no passkey can work. */
  site: PasskeySite | undefined;
  origin: Origin;
}

/** Consumes a proof as part of a transaction, so that it counts once. @throws Problem `second_factor_refused` when it was used meanwhile. */
type Take = (database: Kysely<Tables>) => Promise<void>;

/** Whether an error means that a second factor was checked and is wrong. */
export function isRefusedFactor(error: unknown): boolean {
  return error instanceof Problem && error.code === 'second_factor_refused';
}

/** A person with the password can guess codes of 6 digits: maximum tries per period, over all sign-ins (RFC 4226 section 7.3). Passkeys and recovery codes stay usable. */
const CODE_TRIES = { most: 10, window_ms: 3_600_000 } as const;
const MINUTE_S = 60;

interface SecondFactorsOptions {
  database: Kysely<Tables>;
  passkeys: Passkeys;
  secrets: SealedSecrets;
  audit: Audit;
  mail: Pick<Mail, 'queue' | 'wake'>;
  /** Number of steps before and after its own in which a code is valid. */
  drift_steps: number;
  now: () => number;
  logger: FastifyBaseLogger;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

const userOf = (from: Kysely<Tables>, user_id: string) =>
  from.selectFrom('users').select(['email', 'username']).where('id', '=', user_id).executeTakeFirstOrThrow();

/** Counts a code before it is checked, so that concurrent tries cannot bypass the limit. */
async function claimTry(database: Kysely<Tables>, now: () => number, user_id: string): Promise<void> {
  const isOver = sql<boolean>`tries_until <= ${at(now)}`;
  const row = await database
    .updateTable('totp')
    .set(({ eb }) => ({
      tries: eb
        .case()
        .when(isOver)
        .then(1)
        .else(eb('tries', '+', 1))
        .end(),
      tries_until: eb.case().when(isOver).then(at(now, CODE_TRIES.window_ms)).else(eb.ref('tries_until')).end(),
    }))
    .where('user_id', '=', user_id)
    .where(({ or, eb }) => or([eb('tries', '<', CODE_TRIES.most), isOver]))
    .returning('user_id')
    .executeTakeFirst();
  if (row !== undefined) return;
  const refused = await database.selectFrom('totp').select('tries_until').where('user_id', '=', user_id).executeTakeFirst();
  // No authenticator app is set up.
  if (refused === undefined) return;
  const retry_after = Math.max(1, Math.ceil((Date.parse(refused.tries_until) - now()) / 1_000));
  // In whole minutes.
  throw refuse('code.too_many', { wait: Math.ceil(retry_after / MINUTE_S) * MINUTE_S }, { retry_after });
}

export class SecondFactors {
  private readonly options: SecondFactorsOptions;

  constructor(options: SecondFactorsOptions) {
    this.options = options;
  }

  private async examineCode(code: string, user_id: string): Promise<Take> {
    const refused = refuse('code.wrong');
    const row = await this.options.database.selectFrom('totp').select('secret').where('user_id', '=', user_id).executeTakeFirst();
    if (row?.secret === null || row === undefined) throw refused;
    let secret: Buffer;
    try {
      secret = this.options.secrets.open(row.secret, user_id);
    } catch (error) {
      this.options.logger.error(
        { err: error },
        'the secret of an authenticator app does not open: the key of two-factor sign-in is another one',
      );
      throw refuse('code.not_checked', {}, { retry_after: 60, cause: error });
    }
    const step = matchingStep(secret, code, { now: this.options.now(), drift_steps: this.options.drift_steps });
    if (step === undefined) throw refused;
    return async (transaction) => {
      const taken = await transaction
        .updateTable('totp')
        .set({ last_step: step, tries: 0 })
        .where('user_id', '=', user_id)
        .where('last_step', '<', step)
        .returning('user_id')
        .executeTakeFirst();
      if (taken === undefined) throw refused;
    };
  }

  private async noticeRecoveryCode(transaction: Kysely<Tables>, { user_id, origin }: Occasion): Promise<void> {
    const left = await countRecoveryCodes(transaction, user_id);
    await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
      kind: 'recovery_code_used',
      subject_id: user_id,
      actor_id: user_id,
      origin,
      details: { left },
    });
    const isFew = left < RECOVERY_CODES.few;
    const letter = securityNotice(await userOf(transaction, user_id), {
      subject: isFew ? `A recovery code was used, ${left} left` : 'A recovery code was used',
      what: `One of your recovery codes was used in ${origin.client}. You have ${left} of ${RECOVERY_CODES.count} left.`,
      ...(isFew && {
        advice: 'Create new codes soon in Security Preferences. You’ll need one if you lose your phone.',
      }),
    });
    await this.options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), letter);
  }

  private async examinePasskey(assertion: PasskeyAssertion, { user_id, purpose, site }: Occasion): Promise<Take> {
    if (site === undefined) throw refuse('passkey.wrong_address');
    const { take, passkey } = await this.options.passkeys.examine(assertion, { purpose, user_id, site });
    return async (transaction) => {
      if (await take(transaction.$pickTables<'passkeys' | 'passkey_challenges'>())) return;
      this.options.logger.warn({ passkey: passkey.id }, 'the signature counter of a passkey went back');
      throw refuse('passkey.copied');
    };
  }

  /** Second factors that an account has; empty while two-factor sign-in is off. */
  async methods(user_id: string): Promise<SecondFactor[]> {
    const [totp, keys] = await Promise.all([
      this.options.database.selectFrom('totp').select('since').where('user_id', '=', user_id).executeTakeFirst(),
      this.options.passkeys.list(user_id),
    ]);
    const found: SecondFactor[] = [];
    if (totp !== undefined && totp.since !== null) found.push('totp');
    if (keys.length > 0) found.push('passkey');
    if (found.length > 0) found.push('recovery_code');
    return found;
  }

  private async examine(proof: Proof, occasion: Occasion): Promise<Take> {
    if ('code' in proof) return await this.examineCode(proof.code, occasion.user_id);
    if ('passkey' in proof) return await this.examinePasskey(proof.passkey, occasion);
    return async (transaction) => {
      const isTaken = await takeRecoveryCode(transaction.$pickTables<'recovery_codes'>(), occasion.user_id, proof.recovery_code);
      if (!isTaken) throw refuse('recovery_code.wrong');
      await this.noticeRecoveryCode(transaction, occasion);
    };
  }

  /** Takes back the try of a code whose check did not complete. */
  private async giveBack(user_id: string): Promise<void> {
    await this.options.database
      .updateTable('totp')
      .set((update) => ({ tries: update('tries', '-', 1) }))
      .where('user_id', '=', user_id)
      .where('tries', '>', 0)
      .execute()
      .catch((error: unknown) =>
        this.options.logger.error({ err: error }, 'a try that was not looked at could not be given back'),
      );
  }

  /**
   * Verifies a proof, and consumes it in one transaction with `work`. @throws Problem `second_factor_refused`; `too_many_requests` for codes only; `unavailable` when codes
   * cannot be checked.
   */
  async use(proof: Proof, occasion: Occasion, work?: (transaction: Kysely<Tables>) => Promise<void>): Promise<void> {
    const isCode = 'code' in proof;
    if (isCode) await claimTry(this.options.database, this.options.now, occasion.user_id);
    try {
      const take = await this.examine(proof, occasion);
      await inTransaction(this.options.database, async (transaction) => {
        await take(transaction);
        await work?.(transaction);
      });
    } catch (error) {
      if (isCode && !isRefusedFactor(error)) await this.giveBack(occasion.user_id);
      throw error;
    }
  }

  /** Like `use`, for an account that may have no second factor: `work` is told whether it has one. @throws Problem `invalid_field` on `code` when one exists and none was given. */
  async demand(
    proof: Proof | undefined,
    occasion: Occasion,
    work?: (transaction: Kysely<Tables>, has_second_factor: boolean) => Promise<void>,
  ): Promise<void> {
    if ((await this.methods(occasion.user_id)).length === 0) {
      if (work) await inTransaction(this.options.database, (transaction) => work(transaction, false));
      return;
    }
    if (proof === undefined) throw refuseField('code', 'code.needed');
    await this.use(proof, occasion, work && ((transaction) => work(transaction, true)));
  }
}

export function createSecondFactors(options: SecondFactorsOptions): SecondFactors {
  return new SecondFactors(options);
}
