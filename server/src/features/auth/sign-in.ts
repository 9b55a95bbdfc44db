import { createHash } from 'node:crypto';
import type { UserInfo } from '@palisade/contract/auth';
import type { PasskeyAssertion, PasskeyRequest } from '@palisade/contract/two-factor';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { MailTables } from '#platform/mail.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { Observe, SecurityEvent } from '#platform/security-event.ts';
import type { Sessions } from '#platform/session.ts';
import type { AuthTables } from './auth.tables.ts';
import type { Auth } from './auth.ts';
import type { PasskeySite } from './passkey-site.ts';
import type { Passkeys } from './passkeys.ts';
import type { FactorRule } from './required-factor.ts';
import type { Proof, SecondFactors } from './second-factors.ts';
import type { SignInChallenges } from './sign-in-challenges.ts';
import { refuse } from './two-factor.refusals.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

/** The result of a successful sign-in. */
interface SignedIn {
  access_token: string;
  user_info: UserInfo;
  /** Set if the person must set up a second factor first. */
  two_factor_setup_required?: true;
  /** Set while the person must still prove their address. */
  email_unproven?: true;
}

interface Credentials {
  email: string;
  password: string;
  browser_id?: string | undefined;
}

/** A try that the guard admitted. If neither function is called, it was incomplete or could not be checked, and does not count. */
interface Admission {
  /** Returns the number of tries left before further ones are refused for a time. */
  failed(user_id: string | null): Promise<number>;
  succeeded(user_id: string): Promise<void>;
}

/** Limits attempts to sign in, before they are checked. @throws Problem `too_many_requests`, and what the work throws. */
interface SignInGuard {
  attempt<Result>(
    attempt: { source: string; account: string; browser_id: string | undefined },
    work: (admission: Admission) => Promise<Result>,
  ): Promise<Result>;
}

type Tables = AuthTables & TwoFactorTables & AuditTables & MailTables & InstallationTables;

/** A pseudonym for an email, for events, limits and logs, which must not contain the email. */
export function accountKey(email: string): string {
  return createHash('sha256').update(email).digest('hex');
}

interface SignInOptions {
  database: Kysely<Tables>;
  auth: Pick<Auth, 'authenticate' | 'stillHolds' | 'findUser' | 'findUserByEmail'>;
  sessions: Pick<Sessions, 'start' | 'end'>;
  guard: SignInGuard;
  secondFactors: Pick<SecondFactors, 'methods' | 'use'>;
  challenges: SignInChallenges;
  passkeys: Pick<Passkeys, 'request' | 'ownerOf'>;
  audit: Pick<Audit, 'record'>;
  observe: Observe;
  /** Called with a person who has signed in: their sessions are listed in their open pages. */
  onSignedIn: (user_id: string) => void;
  mustHaveFactor: FactorRule;
  isUnproven: (user_id: string) => Promise<boolean>;
  /** Sends the letters that a sign-in has queued. */
  wakeMail: () => void;
  now: () => number;
}

const happened = (now: () => number, user_id: string | null, { source, address, client }: Origin) => ({
  at: new Date(now()).toISOString(),
  user_id,
  source,
  address,
  client,
});

/** Signs people in by email and password, plus a second factor if they have one. */
export class SignIn {
  private readonly options: SignInOptions;

  constructor(options: SignInOptions) {
    this.options = options;
  }

  private async failed(
    admission: Admission | undefined,
    { email, step, origin }: { email: string; step: 'password' | 'second_factor'; origin: Origin },
  ): Promise<{ is_one_left: boolean }> {
    const user = await this.options.auth.findUserByEmail(email);
    // Count the refusal first: the event's report says whether a limit took effect.
    const left = await admission?.failed(user?.id ?? null);
    const event: SecurityEvent = {
      ...happened(this.options.now, user?.id ?? null, origin),
      kind: 'login_failed',
      data: { account: accountKey(email), step },
    };
    await this.options.observe(event);
    return { is_one_left: left === 1 };
  }

  /** The last step of every sign-in. `stillHolds` repeats the check that it is based on after the session was created. */
  private async open(
    user_info: UserInfo,
    way: {
      admission?: Admission;
      origin: Origin;
      browser_id: string | null;
      has_second_factor: boolean;
      stillHolds: () => Promise<boolean>;
    },
  ): Promise<SignedIn> {
    const { admission, origin, browser_id, has_second_factor, stillHolds } = way;
    const { token, session_id } = await this.options.sessions.start(user_info.id, origin);
    if (!(await stillHolds())) {
      await this.options.sessions.end(session_id);
      throw new Problem('invalid_credentials');
    }
    await admission?.succeeded(user_info.id);
    await this.options.database
      .updateTable('users')
      .set({ last_signed_in_at: new Date(this.options.now()).toISOString() })
      .where('id', '=', user_info.id)
      .execute();
    await this.options.audit.record(this.options.database, {
      kind: 'signed_in',
      subject_id: user_info.id,
      actor_id: user_info.id,
      origin,
    });
    await this.options.observe({
      ...happened(this.options.now, user_info.id, origin),
      kind: 'login_succeeded',
      data: {
        account: accountKey(user_info.email),
        session_id,
        role: user_info.role,
        browser_id,
        has_second_factor,
        with_password: admission !== undefined,
      },
    });
    this.options.onSignedIn(user_info.id);
    const is_held = !has_second_factor && this.options.mustHaveFactor(user_info.role);
    const is_unproven = await this.options.isUnproven(user_info.id);
    return {
      access_token: token,
      user_info,
      ...(is_held && { two_factor_setup_required: true as const }),
      ...(is_unproven && { email_unproven: true as const }),
    };
  }

  /** Runs a step, and reports a refusal. */
  private async watched<Result>(
    { user, origin, admission }: { user: UserInfo; origin: Origin; admission?: Admission },
    step: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof Problem && error.code === 'second_factor_refused') {
        const { is_one_left } = await this.failed(admission, { email: user.email, step: 'second_factor', origin });
        if (is_one_left) throw refuse('code.one_try_left', {}, { cause: error });
      }
      throw error;
    }
  }

  private async waitingUser(user_id: string): Promise<UserInfo> {
    const user = await this.options.auth.findUser(user_id);
    if (user === undefined) throw new Problem('sign_in_expired');
    return user;
  }

  /**
   * @throws Problem `invalid_credentials`, after the same time for known and unknown emails; `two_factor_required` with the challenge of the second step,
   * `too_many_requests`.
   */
  withPassword({ email, password, browser_id }: Credentials, origin: Origin): Promise<SignedIn> {
    return this.options.guard.attempt({ source: origin.source, account: accountKey(email), browser_id }, async (admission) => {
      let authenticated: Awaited<ReturnType<Auth['authenticate']>>;
      try {
        authenticated = await this.options.auth.authenticate({ email, password });
      } catch (error) {
        if (error instanceof Problem && error.code === 'invalid_credentials') {
          const { is_one_left } = await this.failed(admission, { email, step: 'password', origin });
          if (is_one_left) throw refuse('password.one_try_left', {}, { cause: error });
        }
        throw error;
      }
      const { user_info, password_mark } = authenticated;
      const methods = await this.options.secondFactors.methods(user_info.id);
      if (methods.length > 0) {
        const challenge = await this.options.challenges.issue({
          user_id: user_info.id,
          password_mark,
          browser_id: browser_id ?? null,
        });
        throw new Problem('two_factor_required', { second_step: { challenge, methods } });
      }
      const stillHolds = () => this.options.auth.stillHolds(user_info.id, password_mark);
      return await this.open(user_info, {
        admission,
        origin,
        browser_id: browser_id ?? null,
        has_second_factor: false,
        stillHolds,
      });
    });
  }

  /** @throws Problem `second_factor_refused`, `sign_in_expired`, and as `SecondFactors.use` does. */
  async withSecondFactor(
    { challenge, proof, site }: { challenge: string; proof: Proof; site: PasskeySite | undefined },
    origin: Origin,
  ): Promise<SignedIn> {
    const { user_id, password_mark, browser_id } = await this.options.challenges.find(challenge);
    const user = await this.waitingUser(user_id);
    const attempt = { source: origin.source, account: accountKey(user.email), browser_id: browser_id ?? undefined };
    return await this.options.guard.attempt(attempt, async (admission) => {
      await this.watched({ user, origin, admission }, () =>
        this.options.challenges.attempt(challenge, () =>
          this.options.secondFactors.use(proof, { user_id, purpose: 'second_step', site, origin }, (transaction) =>
            this.options.challenges.end(transaction.$pickTables<'sign_in_challenges'>(), challenge),
          ),
        ),
      );
      this.options.wakeMail();
      const stillHolds = () => this.options.auth.stillHolds(user_id, password_mark);
      return await this.open(user, { admission, origin, browser_id, has_second_factor: true, stillHolds });
    });
  }

  /** The request for a browser in the second step. @throws Problem `sign_in_expired`. */
  async requestPasskey(challenge: string, site: PasskeySite): Promise<PasskeyRequest> {
    const { user_id } = await this.options.challenges.find(challenge);
    await this.waitingUser(user_id);
    return await this.options.passkeys.request({ purpose: 'second_step', user_id, site });
  }

  /** Signs in with a passkey alone, whose device has verified its holder. @throws Problem `second_factor_refused`. */
  async withPasskey(
    { assertion, site, browser_id }: { assertion: PasskeyAssertion; site: PasskeySite; browser_id?: string | undefined },
    origin: Origin,
  ): Promise<SignedIn> {
    const owner = await this.options.passkeys.ownerOf(assertion.id);
    const user = owner === undefined ? undefined : await this.options.auth.findUser(owner);
    if (user === undefined) throw refuse('passkey.unknown');
    // Passkeys cannot be guessed, so attempts are not limited: a person whose passwords are refused can still use their passkey.
    await this.watched({ user, origin }, async () => {
      const occasion = { user_id: user.id, purpose: 'sign_in' as const, site, origin };
      await this.options.secondFactors.use({ passkey: assertion }, occasion);
    });
    const stillHolds = async () =>
      (await this.options.passkeys.ownerOf(assertion.id)) === user.id && (await this.options.auth.stillHolds(user.id, undefined));
    return await this.open(user, { origin, browser_id: browser_id ?? null, has_second_factor: true, stillHolds });
  }
}

export function createSignIn(options: SignInOptions): SignIn {
  return new SignIn(options);
}
