import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@palisade/contract/auth';
import { pino } from 'pino';
import { createAccounts } from '#features/auth/account.ts';
import { createAccountDeletion } from '#features/auth/account-deletion.ts';
import { createAskedMail } from '#features/auth/asked-mail.ts';
import { createAuth } from '#features/auth/auth.ts';
import { createPasskeys } from '#features/auth/passkeys.ts';
import { createPasswords, hashPassword } from '#features/auth/password.ts';
import { createRecovery } from '#features/auth/recovery.ts';
import { createRequirePassword } from '#features/auth/require-password.ts';
import { factorRule } from '#features/auth/required-factor.ts';
import { openSealedSecrets } from '#features/auth/sealed-secret.ts';
import { createSecondFactors, type Proof } from '#features/auth/second-factors.ts';
import { createSignIn } from '#features/auth/sign-in.ts';
import { createSignInChallenges } from '#features/auth/sign-in-challenges.ts';
import { createTwoFactor } from '#features/auth/two-factor.ts';
import { createUsers } from '#features/auth/users.ts';
import { Problem } from '#platform/problem.ts';
import { createSessions } from '#platform/session.ts';
import { afterFile } from './after-file.ts';
import { addPerson, auditKindsOf, featureAudit, featureDatabase, heldMail, ORIGIN } from './feature-database.ts';

/** The password of every person here. Hashed once: that is the work of a sign-in. */
export const PASSWORD = 'a long enough password';
export const SITE = { origin: 'http://localhost:3000', rp_id: 'localhost' } as const;

let hashed: Promise<string> | undefined;

type Settings = { drift_steps?: number; require_two_factor?: 'nobody' | 'staff' | 'everyone' };

/** Accounts on a copied database, without the application: sign-in, second factors and administration, with a clock that the test turns and letters that it reads. */
export async function accountParts({ drift_steps = 1, require_two_factor = 'nobody' }: Settings = {}) {
  const database = await featureDatabase();
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const logger = pino({ level: 'silent' });
  const mail = heldMail();
  const audit = featureAudit(now);
  const folder = mkdtempSync(join(tmpdir(), 'palisade-accounts-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const common = { database, now, logger, mail, audit };
  const passwords = createPasswords({ database, exposure: 'local', leaked: { has: () => false } });
  const parts = { ...common, passwords, exposure: 'local' as const, admin_emails: [], onRegistered() {}, onChange() {} };
  const auth = createAuth(parts);
  const mustHaveFactor = factorRule(require_two_factor);
  const sessions = createSessions({
    ...{ database, now, lacksProof: () => false },
    lacksFactor: async ({ id, role }) => mustHaveFactor(role) && !(await twoFactor.secondFactor(id)).enabled,
  });
  const requirePassword = createRequirePassword({ database, guard: { attempt: (_, work) => work() } });
  const secrets = openSealedSecrets(join(folder, 'two-factor.key'));
  const passkeys = createPasskeys(common);
  const secondFactors = createSecondFactors({ ...common, passkeys, secrets, drift_steps });
  const twoFactor = createTwoFactor({
    ...common,
    passkeys,
    secondFactors,
    requirePassword,
    secrets,
    mustHaveFactor,
    drift_steps,
  });
  const none = () => Promise.resolve();
  const signIn = createSignIn({
    ...{ ...common, auth, sessions, secondFactors, passkeys, mustHaveFactor, wakeMail() {}, onSignedIn() {}, observe: none },
    guard: { attempt: (_, work) => work({ failed: none, succeeded: none }) },
    challenges: createSignInChallenges(common),
    isUnproven: () => Promise.resolve(false),
  });
  const accounts = createAccounts({ ...common, passwords, requirePassword, sessions, isUnproven: () => Promise.resolve(false) });
  const users = createUsers({ ...parts, sessions, secondFactors: (ids) => twoFactor.secondFactors(ids) });
  const accountDeletion = createAccountDeletion({
    ...{ ...parts, sessions, forget: [] },
    mail: { ...mail, forgetRecipient: none },
  });
  const askedMail = createAskedMail({ ...common, guard: { letter: () => Promise.resolve(undefined) } });
  const recovery = createRecovery({
    ...{ ...common, passwords, sessions, askedMail, public_url: undefined },
    emailProofs: { proveByReset: () => Promise.resolve([]), mayHear: () => Promise.resolve(true) },
  });

  /** A person who has signed in. */
  async function person({ username, role = 'customer' as Role }: { username?: string; role?: Role } = {}) {
    hashed ??= hashPassword(PASSWORD);
    const who = { role, password_hash: await hashed, created_at: new Date(clock.now).toISOString() };
    const id = await addPerson(database, { ...who, ...(username !== undefined && { username }) });
    const { token, session_id } = await sessions.start(id, ORIGIN);
    const email = `${id}@example.com`;
    const actor = { user_id: id, session_id, origin: ORIGIN };
    return {
      ...{ id, email, token, actor, role },
      /** Signs in with the password; answers what it answers. */
      enter: (password = PASSWORD) => signIn.withPassword({ email, password }, ORIGIN),
      /** The second step that a sign-in with the password asks for. */
      async step(): Promise<{ challenge: string; methods: readonly string[] }> {
        try {
          await signIn.withPassword({ email, password: PASSWORD }, ORIGIN);
        } catch (error) {
          if (error instanceof Problem && error.second_step !== undefined) return error.second_step;
          throw error;
        }
        throw new Error('no second step was asked for');
      },
      sessionAgain: () => sessions.start(id, ORIGIN),
      confirm: (proof?: Proof) => twoFactor.confirm(actor, { current_password: PASSWORD, proof, site: SITE }),
      isSignedIn: async () => (await sessions.resolve(token)) !== undefined,
      letters: () => mail.to(email),
      audited: () => auditKindsOf(database, id),
    };
  }
  const built = { accounts, accountDeletion, askedMail, recovery, auth, users, requirePassword };
  return { ...parts, ...built, clock, sessions, passkeys, secondFactors, twoFactor, signIn, person };
}

type AccountParts = Awaited<ReturnType<typeof accountParts>>;
export type FeaturePerson = Awaited<ReturnType<AccountParts['person']>>;
