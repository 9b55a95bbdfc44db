import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@palisade/contract/auth';
import { sql } from 'kysely';
import { pino } from 'pino';
import { createAccounts } from '#features/auth/account.ts';
import { createAccountDeletion } from '#features/auth/account-deletion.ts';
import { createAskedMail } from '#features/auth/asked-mail.ts';
import { createAuth } from '#features/auth/auth.ts';
import { createEmailProofs } from '#features/auth/email-proof.ts';
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
import { createCallGuard } from '#features/enforcement/call-guard.ts';
import { createMemoryCounters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { parseLimits } from '#platform/limits.ts';
import { Problem } from '#platform/problem.ts';
import { createSessions } from '#platform/session.ts';
import { afterFile } from './after-file.ts';
import { addPerson, auditKindsOf, featureAudit, featureDatabase, heldMail, ORIGIN } from './feature-database.ts';

/** The password of every person here. Hashed once: that is the work of a sign-in. */
export const PASSWORD = 'a long enough password';
export const SITE = { origin: 'http://localhost:3000', rp_id: 'localhost' } as const;

/** The one password that the table of leaked ones has. */
export const LEAKED = 'Password123';
/** The one source from which every account has signed in before. */
export const HOME = '203.0.113.200';

let hashed: Promise<string> | undefined;

interface Settings {
  drift_steps?: number;
  require_two_factor?: 'nobody' | 'staff' | 'everyone';
  exposure?: 'local' | 'public';
  admin_emails?: string[];
}

interface NewPerson {
  username?: string;
  role?: Role;
  email?: string;
  /** Whether the address is proved, which public exposure asks for. */
  proven?: boolean;
}

/** Accounts on a copied database, without the application: sign-in, second factors and administration, with a clock that the test turns and letters that it reads. */
export async function accountParts(settings: Settings = {}) {
  const { drift_steps = 1, require_two_factor = 'nobody', exposure = 'local', admin_emails = [] } = settings;
  const database = await featureDatabase();
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const logger = pino({ level: 'silent' });
  const mail = heldMail();
  const audit = featureAudit(now);
  const folder = mkdtempSync(join(tmpdir(), 'palisade-accounts-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const common = { database, now, logger, mail, audit };
  const passwords = createPasswords({ database, exposure, leaked: { has: (password) => password === LEAKED } });
  const counters = createMemoryCounters({ now });
  const guard = createCallGuard({
    ...{ counters, limits: parseLimits([], exposure), isShared: () => false },
    isKnown: ({ source }) => Promise.resolve(source === HOME),
  });
  const askedMail = createAskedMail({ ...common, guard, pause: () => Promise.resolve() });
  const parts = {
    ...{ ...common, passwords, exposure, admin_emails, onChange() {} },
    onRegistered(email: string, isNew: boolean) {
      if (isNew) emailProofs.mail(email);
      else recovery.mailRegistration(email);
    },
  };
  const auth = createAuth(parts);
  const mustHaveFactor = factorRule(require_two_factor);
  const sessions = createSessions({
    ...{ database, now, lacksProof: ({ email_proven_at }) => emailProofs.isAsked && email_proven_at === null },
    lacksFactor: async ({ id, role: its }) => mustHaveFactor(its) && !(await twoFactor.secondFactor(id)).enabled,
  });
  const emailProofs = createEmailProofs({ ...parts, sessions, askedMail, public_url: 'https://palisade.example.com' });
  const isUnproven = (id: string) => emailProofs.isUnproven(id);
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
    guard: { attempt: (_, work) => work({ failed: () => Promise.resolve(4), succeeded: none }) },
    challenges: createSignInChallenges(common),
    isUnproven,
  });
  const accounts = createAccounts({ ...common, passwords, requirePassword, sessions, isUnproven });
  const nobody = () => Promise.resolve(new Map<string, never>());
  const isNobody = () => sql<boolean>`false`;
  const users = createUsers({
    ...{ ...parts, sessions, secondFactors: (ids: readonly string[]) => twoFactor.secondFactors(ids) },
    facts: {
      ...{ plans: nobody, scores: nobody, silentDevices: async () => new Set<string>(), seriousAlerts: nobody },
      isIn: { at_risk: isNobody, unchecked: isNobody, serious_alert: isNobody, silent_device: isNobody },
    },
  });
  const accountDeletion = createAccountDeletion({
    ...{ ...parts, sessions, forget: [] },
    mail: { ...mail, forgetRecipient: none },
  });
  const recovery = createRecovery({ ...{ ...common, passwords, sessions, askedMail, emailProofs, public_url: undefined } });

  /** A person who has signed in. */
  async function person({ username, role = 'customer', email: given, proven = false }: NewPerson = {}) {
    hashed ??= hashPassword(PASSWORD);
    const [id, at] = [newId(), new Date(clock.now).toISOString()];
    const email = given ?? `${id}@example.com`;
    const who = { id, email, role, password_hash: await hashed, created_at: at, email_proven_at: proven ? at : null };
    await addPerson(database, { ...who, ...(username !== undefined && { username }) });
    const { token, session_id } = await sessions.start(id, ORIGIN);
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
  const built = { accounts, accountDeletion, askedMail, emailProofs, recovery, auth, users, requirePassword };
  return { ...parts, ...built, clock, sessions, passkeys, secondFactors, twoFactor, signIn, person };
}

type AccountParts = Awaited<ReturnType<typeof accountParts>>;
export type FeaturePerson = Awaited<ReturnType<AccountParts['person']>>;
