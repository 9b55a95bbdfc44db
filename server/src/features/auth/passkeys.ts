import { createHash, randomBytes } from 'node:crypto';
import type { NewPasskey, PasskeyAssertion, PasskeyCreation, PasskeyRequest } from '@palisade/contract/two-factor';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { Problem } from '#platform/problem.ts';
import type { PasskeySite } from './passkey-site.ts';
import { refuse } from './two-factor.refusals.ts';
import type { TwoFactorTables } from './two-factor.tables.ts';

type Tables = Pick<TwoFactorTables, 'passkeys' | 'passkey_challenges'>;
type Purpose = TwoFactorTables['passkey_challenges']['purpose'];
export type PasskeyRow = Selectable<TwoFactorTables['passkeys']>;

const CHALLENGE_BYTES = 32;
const CHALLENGE_LIFETIME_MS = 300_000;
/** EdDSA, ES256, RS256 (COSE algorithms registry), which current authenticators support. */
const ALGORITHMS = [-8, -7, -257];
const PASSKEYS_MAXIMUM = 20;

const transportsSchema = z.array(z.string());
const clientDataSchema = z.object({ challenge: z.string() });

const hashOf = (challenge: string) => createHash('sha256').update(challenge).digest('hex');

/** The challenge that a browser claims to answer; undefined if unreadable. The library checks the rest of the answer. */
function challengeOf(clientDataJSON: string): string | undefined {
  try {
    return clientDataSchema.safeParse(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())).data?.challenge;
  } catch {
    return undefined;
  }
}

const descriptorOf = ({ credential_id, transports }: PasskeyRow) => ({
  type: 'public-key' as const,
  id: credential_id,
  transports: transportsSchema.parse(JSON.parse(transports)),
});

/** The library's result for an answer; undefined if it refuses, with the reason in the log. Loaded on first use, because it takes a fifth of the start time. */
async function verified<Answer>(
  logger: FastifyBaseLogger,
  verify: (library: typeof import('@simplewebauthn/server')) => Promise<Answer>,
): Promise<Answer | undefined> {
  const library = await import('@simplewebauthn/server');
  try {
    return await verify(library);
  } catch (error) {
    logger.info({ err: error }, 'a passkey was refused');
    return undefined;
  }
}

interface PasskeysOptions {
  database: Kysely<Tables>;
  now: () => number;
  logger: FastifyBaseLogger;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

async function ask(database: Kysely<Tables>, now: () => number, purpose: Purpose, user_id: string | null): Promise<string> {
  await database.deleteFrom('passkey_challenges').where('expires_at', '<', at(now)).execute();
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  await database
    .insertInto('passkey_challenges')
    .values({ challenge_hash: hashOf(challenge), purpose, user_id, expires_at: at(now, CHALLENGE_LIFETIME_MS) })
    .execute();
  return challenge;
}

/** Consumes the challenge of an answer, if it was issued for this purpose and person. */
async function asked(
  database: Kysely<Tables>,
  now: () => number,
  clientDataJSON: string,
  purpose: Purpose,
  user_id: string | null,
): Promise<string | undefined> {
  const challenge = challengeOf(clientDataJSON);
  if (challenge === undefined) return undefined;
  const taken = await database
    .deleteFrom('passkey_challenges')
    .where('challenge_hash', '=', hashOf(challenge))
    .where('purpose', '=', purpose)
    .where('user_id', user_id === null ? 'is' : '=', user_id)
    .where('expires_at', '>', at(now))
    .returning('challenge_hash')
    .executeTakeFirst();
  return taken === undefined ? undefined : challenge;
}

/** The passkeys of accounts, and the challenges for them. Each challenge may be answered once, within its lifetime. */
export class Passkeys {
  private readonly database: Kysely<Tables>;
  private readonly now: () => number;
  private readonly logger: FastifyBaseLogger;

  constructor(options: PasskeysOptions) {
    this.database = options.database;
    this.now = options.now;
    this.logger = options.logger;
  }

  list(user_id: string): Promise<PasskeyRow[]> {
    return this.database.selectFrom('passkeys').selectAll().where('user_id', '=', user_id).orderBy('id').execute();
  }

  find(id: string): Promise<PasskeyRow | undefined> {
    return this.database.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async rename(id: string, name: string): Promise<PasskeyRow> {
    const row = await this.database.updateTable('passkeys').set({ name }).where('id', '=', id).returningAll().executeTakeFirst();
    if (row === undefined) throw new Problem('not_found');
    return row;
  }

  /** The owner of the passkey with this credential id. */
  async ownerOf(credential_id: string): Promise<string | undefined> {
    const row = await this.database
      .selectFrom('passkeys')
      .select('user_id')
      .where('credential_id', '=', credential_id)
      .executeTakeFirst();
    return row?.user_id;
  }

  /** Options for the browser to use a passkey of this person; null for an unknown person, for whom any passkey is accepted. */
  async request({
    purpose,
    user_id,
    site,
  }: {
    purpose: Purpose;
    user_id: string | null;
    site: PasskeySite;
  }): Promise<PasskeyRequest> {
    const own = user_id === null ? [] : (await this.list(user_id)).filter(({ rp_id }) => rp_id === site.rp_id);
    return {
      origin: site.origin,
      challenge: await ask(this.database, this.now, purpose, user_id),
      rpId: site.rp_id,
      timeout: CHALLENGE_LIFETIME_MS,
      userVerification: 'required',
      allowCredentials: own.map(descriptorOf),
    };
  }

  /** Options for the browser to create a passkey. `provider_name` is shown by the person's device. */
  async requestNew(
    { id, email, username }: { id: string; email: string; username: string },
    site: PasskeySite,
    provider_name: string,
  ): Promise<PasskeyCreation> {
    const own = await this.list(id);
    if (own.length >= PASSKEYS_MAXIMUM) throw refuse('passkey.too_many', { maximum: PASSKEYS_MAXIMUM });
    return {
      origin: site.origin,
      challenge: await ask(this.database, this.now, 'add', id),
      rp: { id: site.rp_id, name: provider_name },
      user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: username },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_LIFETIME_MS,
      attestation: 'none',
      excludeCredentials: own.map(descriptorOf),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    };
  }

  /** @throws Problem `conflict` for an answer to another challenge, or a known passkey. `keep` stores it, as part of a transaction. */
  async examineNew(
    made: NewPasskey,
    user_id: string,
    site: PasskeySite,
  ): Promise<{ keep(transaction: Kysely<Tables>, name: string): Promise<PasskeyRow> }> {
    const refused = refuse('passkey.not_added');
    const challenge = await asked(this.database, this.now, made.response.clientDataJSON, 'add', user_id);
    if (challenge === undefined) throw refused;
    const { transports = [], ...response } = made.response;
    const answer = await verified(this.logger, ({ verifyRegistrationResponse }) =>
      verifyRegistrationResponse({
        response: { ...made, response: { ...response, transports }, clientExtensionResults: {} },
        expectedChallenge: challenge,
        expectedOrigin: site.origin,
        expectedRPID: site.rp_id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    );
    if (!answer?.verified) throw refused;
    const { credential } = answer.registrationInfo;
    return {
      keep: async (transaction, name) => {
        try {
          return await transaction
            .insertInto('passkeys')
            .values({
              id: newId(),
              user_id,
              credential_id: credential.id,
              public_key: Buffer.from(credential.publicKey).toString('base64url'),
              counter: credential.counter,
              transports: JSON.stringify(transports),
              rp_id: site.rp_id,
              name,
              created_at: at(this.now),
              last_used_at: null,
            })
            .returningAll()
            .executeTakeFirstOrThrow();
        } catch (error) {
          if (isUniqueViolation(error, 'credential_id')) throw refuse('passkey.taken');
          throw error;
        }
      },
    };
  }

  /**
   * Verifies a passkey's answer to a challenge. `take` counts the use, as part of a transaction: false for a signature counter that decreases, as that of a cloned passkey
   * does. @throws Problem `second_factor_refused`.
   */
  async examine(
    assertion: PasskeyAssertion,
    { purpose, user_id, site }: { purpose: Purpose; user_id: string; site: PasskeySite },
  ): Promise<{ passkey: PasskeyRow; take(transaction: Kysely<Tables>): Promise<boolean> }> {
    // For sign-in with a passkey alone, the person was unknown when the challenge was created.
    const challenge = await asked(
      this.database,
      this.now,
      assertion.response.clientDataJSON,
      purpose,
      purpose === 'sign_in' ? null : user_id,
    );
    const passkey = await this.database
      .selectFrom('passkeys')
      .selectAll()
      .where('credential_id', '=', assertion.id)
      .where('user_id', '=', user_id)
      .executeTakeFirst();
    if (passkey === undefined) throw refuse('passkey.unknown');
    const { userHandle, ...response } = assertion.response;
    const isOthers = userHandle && userHandle !== Buffer.from(passkey.user_id).toString('base64url');
    const answer =
      challenge === undefined || isOthers
        ? undefined
        : await verified(this.logger, ({ verifyAuthenticationResponse }) =>
            verifyAuthenticationResponse({
              response: { ...assertion, response, clientExtensionResults: {} },
              expectedChallenge: challenge,
              expectedOrigin: site.origin,
              expectedRPID: site.rp_id,
              requireUserVerification: true,
              // The counter is checked below, when it is stored: of two concurrent uses one succeeds.
              credential: {
                id: passkey.credential_id,
                publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
                counter: 0,
              },
            }),
          );
    if (!answer?.verified) throw refuse('passkey.not_checked');
    const counter = answer.authenticationInfo.newCounter;
    return {
      passkey,
      take: async (transaction) => {
        // A device without a counter says 0 each time (WebAuthn level 3, section 6.1.1).
        const taken = await transaction
          .updateTable('passkeys')
          .set({ counter, last_used_at: at(this.now) })
          .where('id', '=', passkey.id)
          .where('counter', counter === 0 ? '=' : '<', counter)
          .returning('id')
          .executeTakeFirst();
        return taken !== undefined;
      },
    };
  }
}

export function createPasskeys(options: PasskeysOptions): Passkeys {
  return new Passkeys(options);
}
