import { createHash } from 'node:crypto';
import type { UserInfo } from '@palisade/contract/auth';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { Origin } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { Observe, SecurityEvent } from '#platform/security-event.ts';
import type { Sessions } from '#platform/session.ts';
import type { Auth } from './auth.ts';

/** Somebody who is signed in from now on. */
interface SignedIn {
  access_token: string;
  user_info: UserInfo;
}

interface Credentials {
  email: string;
  password: string;
  device_id?: string | undefined;
}

/** A try that the guard let through: exactly one of these is called when it is known what became of it. */
interface Admission {
  failed(user_id: string | null): Promise<void>;
  succeeded(user_id: string): Promise<void>;
  /** It was right but is not all, or it could not be looked at. */
  withdraw(): Promise<void>;
}

/** Who lets a try to sign in through, before anything of it is looked at. @throws Problem `too_many_requests`. */
export interface SignInGuard {
  admit(attempt: { source: string; account: string }): Promise<Admission>;
}

/** The way from an email and a password to a session. */
export interface SignIn {
  /** @throws Problem `invalid_credentials`, after the same time for known and unknown emails; `too_many_requests`. */
  withPassword(credentials: Credentials, origin: Origin): Promise<SignedIn>;
}

/** What stands for an email where the email itself must not: in events, limits and logs. */
export function accountKey(email: string): string {
  return createHash('sha256').update(email).digest('hex');
}

export function createSignIn(parts: {
  database: Kysely<AuditTables>;
  auth: Pick<Auth, 'authenticate' | 'findUserByEmail'>;
  sessions: Pick<Sessions, 'start' | 'end'>;
  guard: SignInGuard;
  audit: Audit;
  observe: Observe;
  now: () => number;
}): SignIn {
  const { database, auth, sessions, guard, audit, observe, now } = parts;

  const happened = (user_id: string | null, { source, address, client }: Origin) => ({
    at: new Date(now()).toISOString(),
    user_id,
    source,
    address,
    client,
  });

  async function failed(
    admission: Admission,
    { email, step, origin }: { email: string; step: 'password' | 'second_factor'; origin: Origin },
  ): Promise<void> {
    const user = await auth.findUserByEmail(email);
    // The refusal first: what is told of the event says whether it is in force.
    await admission.failed(user?.id ?? null);
    const event: SecurityEvent = {
      ...happened(user?.id ?? null, origin),
      kind: 'login_failed',
      data: { account: accountKey(email), step },
    };
    await observe(event);
  }

  return {
    async withPassword({ email, password, device_id }, origin) {
      const admission = await guard.admit({ source: origin.source, account: accountKey(email) });
      let authenticated: Awaited<ReturnType<Auth['authenticate']>>;
      try {
        authenticated = await auth.authenticate({ email, password });
      } catch (error) {
        if (error instanceof Problem && error.code === 'invalid_credentials')
          await failed(admission, { email, step: 'password', origin });
        else await admission.withdraw();
        throw error;
      }
      const { user_info, stillHolds } = authenticated;
      const { token, session_id } = await sessions.start(user_info.id, origin);
      if (!(await stillHolds())) {
        await sessions.end(session_id);
        await admission.withdraw();
        throw new Problem('invalid_credentials');
      }
      await admission.succeeded(user_info.id);
      await audit.record(database, { kind: 'signed_in', subject_id: user_info.id, actor_id: user_info.id, origin });
      await observe({
        ...happened(user_info.id, origin),
        kind: 'login_succeeded',
        data: {
          account: accountKey(email),
          session_id,
          role: user_info.role,
          device_id: device_id ?? null,
          has_second_factor: false,
        },
      });
      return { access_token: token, user_info };
    },
  };
}
