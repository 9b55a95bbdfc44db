import { setTimeout as sleep } from 'node:timers/promises';
import type { Topic } from '@palisade/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { serveAudit } from '#features/audit/audit.routes.ts';
import { createAuditLog } from '#features/audit/audit-log.ts';
import { serveAccounts } from '#features/auth/account.routes.ts';
import { createAccounts } from '#features/auth/account.ts';
import { createAccountDeletion } from '#features/auth/account-deletion.ts';
import { createAskedMail } from '#features/auth/asked-mail.ts';
import { serveAuth } from '#features/auth/auth.routes.ts';
import type { AuthTables } from '#features/auth/auth.tables.ts';
import { createAuth } from '#features/auth/auth.ts';
import { createEmailProofs } from '#features/auth/email-proof.ts';
import { createExport } from '#features/auth/export.ts';
import { serveInvitations } from '#features/auth/invitations.routes.ts';
import { Invitations } from '#features/auth/invitations.ts';
import { passkeySite } from '#features/auth/passkey-site.ts';
import { createPasskeys } from '#features/auth/passkeys.ts';
import { createPasswords } from '#features/auth/password.ts';
import { servePrivacy } from '#features/auth/privacy.routes.ts';
import { createProveAgain } from '#features/auth/prove-again.ts';
import { serveRecovery } from '#features/auth/recovery.routes.ts';
import { createRecovery } from '#features/auth/recovery.ts';
import { createRequirePassword } from '#features/auth/require-password.ts';
import { factorRule } from '#features/auth/required-factor.ts';
import { openSealedSecrets } from '#features/auth/sealed-secret.ts';
import { createSecondFactors } from '#features/auth/second-factors.ts';
import { createSignIn } from '#features/auth/sign-in.ts';
import { createSignInChallenges } from '#features/auth/sign-in-challenges.ts';
import { serveTwoFactor } from '#features/auth/two-factor.routes.ts';
import type { TwoFactorTables } from '#features/auth/two-factor.tables.ts';
import { createTwoFactor } from '#features/auth/two-factor.ts';
import { serveUsers } from '#features/auth/users.routes.ts';
import { createUsers, type PeopleFacts } from '#features/auth/users.ts';
import { createBlocks } from '#features/enforcement/blocks.ts';
import { createCallGuard, createPasswordGuard } from '#features/enforcement/call-guard.ts';
import { serveEnforcement } from '#features/enforcement/enforcement.routes.ts';
import { createLoginGuard } from '#features/enforcement/login-guard.ts';
import type { Audit } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import { isLoopbackSource, isPrivateNetwork } from '#platform/origin.ts';
import { type PersonalPart, partOf } from '#platform/personal-data.ts';
import type { ProxyWatch } from '#platform/proxy-watch.ts';
import type { Api } from '#platform/serve.ts';
import { createSessions } from '#platform/session.ts';
import type { Tables } from '#platform/tables.ts';
import type { AppOptions } from './app-options.ts';
import type { RestrainedMail } from './letters.ts';
import { PERSONAL_TABLES } from './personal-tables.ts';

type TwoFactorTableNames = keyof (AuthTables & TwoFactorTables) | 'audit_entries' | 'audit_head' | 'mails' | 'installation';

/** Builds passkeys, one-time codes, and their use as second factors. */
function buildSecondFactors(
  { settings, logger }: AppOptions,
  parts: Pick<Parameters<typeof createTwoFactor>[0], 'requirePassword' | 'audit' | 'mail' | 'mustHaveFactor' | 'now'> & {
    database: Kysely<Pick<Tables, TwoFactorTableNames>>;
  },
) {
  const { database, requirePassword, audit, mail, mustHaveFactor, now } = parts;
  const secrets = openSealedSecrets(settings.two_factor_key_file);
  const passkeys = createPasskeys({
    database: database.$pickTables<'passkeys' | 'passkey_challenges'>(),
    now,
    logger,
  });
  const drift_steps = settings.totp_drift_steps;
  const secondFactors = createSecondFactors({
    database,
    passkeys,
    secrets,
    audit,
    mail,
    drift_steps,
    now,
    logger,
  });
  const twoFactor = createTwoFactor({
    database,
    passkeys,
    secondFactors,
    requirePassword,
    secrets,
    audit,
    mail,
    mustHaveFactor,
    drift_steps,
    now,
  });
  return { passkeys, secondFactors, twoFactor };
}

type AccountsParts = {
  database: Kysely<Tables>;
  audit: Audit;
  counters: Counters;
  mail: RestrainedMail;
  verifyLog: Parameters<typeof createAuditLog>[0]['verify'];
  news: Parameters<typeof createSessions>[0]['news'];
  proxies: ProxyWatch;
  facts: PeopleFacts;
  onChange: (user_id: string, topic: Topic) => void;
  /** Parts of a person’s data export that are not tables. Called after all features are built. */
  furtherParts: () => readonly PersonalPart[];
  now: () => number;
} & Pick<Parameters<typeof createPasswords>[0], 'leaked'> &
  Pick<Parameters<typeof createLoginGuard>[0], 'onLift'> &
  Pick<Parameters<typeof createSignIn>[0], 'observe'> &
  Pick<Parameters<typeof createAccountDeletion>[0], 'forget'>;

type AccountTableNames =
  | keyof (AuthTables & TwoFactorTables)
  | 'sessions'
  | 'mails'
  | 'installation'
  | 'audit_entries'
  | 'audit_head';

/** Builds the account's log, the data export and the account deletion. */
function buildPrivacy(
  { settings }: AppOptions,
  parts: Pick<AccountsParts, 'database' | 'audit' | 'mail' | 'verifyLog' | 'forget' | 'furtherParts' | 'now'> & {
    sessions: ReturnType<typeof createSessions>;
    auth: ReturnType<typeof createAuth>;
  },
) {
  const { database, audit, mail, verifyLog, forget, furtherParts, now, sessions, auth } = parts;
  const auditTables = database.$pickTables<'audit_entries' | 'audit_head'>();
  const auditLog = createAuditLog({ database: auditTables, accounts: auth, verify: verifyLog, now });
  const dataExport = createExport({
    database: auditTables,
    audit,
    parts: [
      ...PERSONAL_TABLES.map((table) => partOf(database, table)),
      ...furtherParts(),
      { name: 'activity', rows: ({ id }) => auditLog.allActivity(id) },
    ],
    now,
  });
  const accountDeletion = createAccountDeletion({
    database: database.$pickTables<AccountTableNames>(),
    audit,
    sessions,
    mail,
    forget,
    exposure: settings.exposure,
    now,
  });
  return { auditLog, dataExport, accountDeletion };
}

/** Serves accounts, sign-in, second factors, people, privacy and blocks. */
function serveAccountFeatures(
  api: Api,
  { settings }: AppOptions,
  parts: Pick<AccountsParts, 'audit' | 'mail' | 'proxies' | 'now'> &
    ReturnType<typeof buildPrivacy> &
    ReturnType<typeof buildSecondFactors> & {
      database: Kysely<Pick<Tables, AccountTableNames>>;
      auth: ReturnType<typeof createAuth>;
      sessions: ReturnType<typeof createSessions>;
      blocks: ReturnType<typeof createBlocks>;
      guard: ReturnType<typeof createLoginGuard>;
      callGuard: ReturnType<typeof createCallGuard>;
      requirePassword: ReturnType<typeof createRequirePassword>;
      signIn: ReturnType<typeof createSignIn>;
      emailProofs: ReturnType<typeof createEmailProofs>;
      accounts: ReturnType<typeof createAccounts>;
      users: ReturnType<typeof createUsers>;
      passwords: ReturnType<typeof createPasswords>;
      recovery: ReturnType<typeof createRecovery>;
    },
): void {
  const { auth, blocks, guard, callGuard, requirePassword, passkeys, secondFactors, twoFactor, signIn, emailProofs } = parts;
  const { accounts, recovery, proxies, auditLog, dataExport, accountDeletion, mail } = parts;
  const proveAgain = createProveAgain({ requirePassword, secondFactors, mail });
  const { exposure } = settings;
  serveAuth(api, auth, { signIn, guard: callGuard, accounts, notFirst: proxies.notFirst });
  const siteOf = ({ headers }: FastifyRequest) => passkeySite(headers.host, settings);
  serveTwoFactor(api, { twoFactor, passkeys, signIn, siteOf });
  serveAccounts(api, { accounts, requirePassword, emailProofs });
  serveUsers(api, { users: parts.users, accountDeletion, proveAgain, siteOf });
  const { database, audit, passwords, now } = parts;
  const { public_url } = settings;
  const invitations = new Invitations({ database, audit, passwords, accountDeletion, exposure, mail, public_url, now });
  serveInvitations(api, invitations, callGuard);
  servePrivacy(api, { dataExport, accountDeletion, proveAgain, siteOf });
  serveAudit(api, auditLog);
  serveRecovery(api, recovery, {
    withheld: settings.exposure === 'local' && settings.reset_delivery === 'response' ? proxies.withheld : undefined,
    guard: callGuard,
  });
  serveEnforcement(api, { blocks, guard, accounts: auth });
}

/** Builds the delay and the blocking of repeated sign-ins. */
function buildLoginGuard(
  { settings, logger, pause }: AppOptions,
  parts: Pick<AccountsParts, 'database' | 'counters' | 'audit' | 'proxies' | 'onLift' | 'now'> & {
    blocks: ReturnType<typeof createBlocks>;
  },
) {
  const { database, blocks, counters, audit, proxies, onLift, now } = parts;
  return createLoginGuard({
    database: database.$pickTables<'blocks' | 'sign_in_sources' | 'audit_entries' | 'audit_head'>(),
    blocks,
    counters,
    limits: settings.limits,
    audit,
    isExempt: (source) =>
      isPrivateNetwork(source) || (settings.exposure === 'local' && isLoopbackSource(source)) || proxies.isShared(source),
    onLift,
    now,
    pause: pause ?? sleep,
    logger,
  });
}

/** Builds mails that are sent on request, with rate limits, and the proof that an address belongs to the person. */
function buildMailedProofs(
  { settings, logger }: AppOptions,
  parts: Pick<AccountsParts, 'database' | 'audit' | 'counters' | 'mail' | 'proxies' | 'now'> & {
    sessions: ReturnType<typeof createSessions>;
    guard: ReturnType<typeof createLoginGuard>;
  },
) {
  const { audit, counters, mail, proxies, sessions, guard, now } = parts;
  const database = parts.database.$pickTables<AccountTableNames>();
  const callGuard = createCallGuard({
    counters,
    limits: settings.limits,
    isShared: (source) => settings.exposure === 'public' && proxies.isShared(source),
    isKnown: (attempt) => guard.isKnown(attempt),
  });
  const askedMail = createAskedMail({ database, mail, guard: callGuard, logger });
  const emailProofs = createEmailProofs({
    database,
    audit,
    sessions,
    askedMail,
    public_url: settings.public_url,
    exposure: settings.exposure,
    admin_emails: settings.admin_emails,
    now,
  });
  return { callGuard, askedMail, emailProofs };
}

/** Builds the administration of people. */
function buildUsers(
  { settings }: AppOptions,
  parts: Pick<AccountsParts, 'database' | 'audit' | 'facts' | 'onChange' | 'now'> &
    Pick<ReturnType<typeof buildSecondFactors>, 'twoFactor'> & { sessions: ReturnType<typeof createSessions> },
) {
  const { database, audit, facts, onChange, now, sessions, twoFactor } = parts;
  return createUsers({
    ...{ facts, audit, sessions, now, exposure: settings.exposure },
    database: database.$pickTables<AccountTableNames>(),
    secondFactors: (user_ids) => twoFactor.secondFactors(user_ids),
    onChange: (user_id) => onChange(user_id, 'account'),
  });
}

/** Builds accounts: sign-in, sessions, second factors, blocking, data export and deletion. */
export function buildAccounts(appOptions: AppOptions, parts: AccountsParts) {
  const { settings, logger } = appOptions;
  const { database, audit, counters, mail, proxies, news, leaked, onLift, observe, onChange, now } = parts;
  const passwords = createPasswords({
    database: database.$pickTables<'installation'>(),
    exposure: settings.exposure,
    leaked,
  });
  const auth = createAuth({
    database: database.$pickTables<'users' | 'account_tokens' | 'installation' | 'audit_entries' | 'audit_head'>(),
    audit,
    passwords,
    exposure: settings.exposure,
    admin_emails: settings.admin_emails,
    onRegistered(email, isNew) {
      if (isNew) emailProofs.mail(email);
      else recovery.mailRegistration(email);
    },
    now,
  });
  const mustHaveFactor = factorRule(settings.require_two_factor);
  const sessions = createSessions({
    database: database.$pickTables<'sessions' | 'users'>(),
    lacksProof: ({ email_proven_at }) => emailProofs.isAsked && email_proven_at === null,
    lacksFactor: async ({ id, role }) => mustHaveFactor(role) && !(await twoFactor.secondFactor(id)).enabled,
    now,
    news,
  });
  const blocks = createBlocks({ database: database.$pickTables<'blocks' | 'sign_in_sources'>(), now });
  const guard = buildLoginGuard(appOptions, { database, blocks, counters, audit, proxies, onLift, now });
  const requirePassword = createRequirePassword({
    database: database.$pickTables<'users' | 'account_tokens'>(),
    guard: createPasswordGuard({ counters, limits: settings.limits }),
  });
  const twoFactorTables = database.$pickTables<TwoFactorTableNames>();
  const { passkeys, secondFactors, twoFactor } = buildSecondFactors(appOptions, {
    database: twoFactorTables,
    requirePassword,
    audit,
    mail,
    mustHaveFactor,
    now,
  });
  const signIn = createSignIn({
    database: twoFactorTables,
    auth,
    sessions,
    guard,
    secondFactors,
    challenges: createSignInChallenges({ database: database.$pickTables<'sign_in_challenges'>(), now, logger }),
    passkeys,
    wakeMail: mail.wake,
    audit,
    observe,
    onSignedIn: (user_id) => onChange(user_id, 'account'),
    mustHaveFactor,
    isUnproven: (user_id) => emailProofs.isUnproven(user_id),
    now,
  });
  const accountTables = database.$pickTables<AccountTableNames>();
  const { callGuard, askedMail, emailProofs } = buildMailedProofs(appOptions, { ...parts, sessions, guard });
  const accounts = createAccounts({
    database: accountTables,
    audit,
    passwords,
    requirePassword,
    sessions,
    mail,
    isUnproven: (user_id) => emailProofs.isUnproven(user_id),
  });
  const recovery = createRecovery({
    database: accountTables,
    audit,
    passwords,
    sessions,
    mail,
    askedMail,
    emailProofs,
    public_url: settings.public_url,
    now,
  });
  const users = buildUsers(appOptions, { ...parts, sessions, twoFactor });

  return {
    auth,
    users,
    sessions,
    blocks,
    twoFactor,
    emailProofs,

    serve: (api: Api) =>
      serveAccountFeatures(api, appOptions, {
        ...{ auth, sessions, blocks, guard, callGuard, requirePassword, passkeys, secondFactors, twoFactor, signIn },
        ...{ emailProofs, accounts, users, recovery, passwords, proxies, audit, mail, now, database: accountTables },
        ...buildPrivacy(appOptions, { ...parts, sessions, auth }),
      }),

    /** The people among `user_ids` who must have a second factor and have none. */
    async held(user_ids: readonly string[]): Promise<ReadonlySet<string>> {
      if (settings.require_two_factor === 'nobody') return new Set();
      const people = (await auth.findUsers(user_ids)).filter(({ role }) => mustHaveFactor(role)).map(({ id }) => id);
      const factors = await twoFactor.secondFactors(people);
      return new Set(people.filter((id) => factors.get(id) !== true));
    },

    async close(): Promise<void> {
      await askedMail.close();
      await guard.close();
    },
  };
}

export type Accounts = ReturnType<typeof buildAccounts>;
