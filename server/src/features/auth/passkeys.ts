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
/** EdDSA, ES256, RS256 (COSE algorithms registry): those of present authenticators. */
const ALGORITHMS = [-8, -7, -257];
const PASSKEYS_MAXIMUM = 20;

const transportsSchema = z.array(z.string());
const clientDataSchema = z.object({ challenge: z.string() });

const hashOf = (challenge: string) => createHash('sha256').update(challenge).digest('hex');

/** The question that a browser says it answers; undefined for nonsense. Everything else about the answer is for the library to check. */
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

/** The library's result for an answer; undefined for one that it refuses, with the reason in the log. Loaded on first use: it is a fifth of the start. */
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

/** The question that an answer is to, if it was asked for this and of this person. It is not asked any more then. */
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

/** The passkeys of accounts, and what browsers are asked for them. Every question may be answered once, within its lifetime. */
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

  /** The request for a browser to use a passkey of this person; null for an unknown person, for whom any passkey is accepted. */
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

  /** The request for a browser to make a passkey. `provider_name` is shown by the person's device. */
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

  /** @throws Problem `conflict` for an answer to another challenge, or a known passkey. `keep` stores it, as part of `database`'s transaction. */
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
   * Looks whether a person's passkey answers the question that was asked. `take` counts the use, as part of `database`'s transaction: false for a signature
   * counter that goes back, as that of a copy does.
   * @throws Problem `second_factor_refused`.
   */
  async examine(
    assertion: PasskeyAssertion,
    { purpose, user_id, site }: { purpose: Purpose; user_id: string; site: PasskeySite },
  ): Promise<{ passkey: PasskeyRow; take(transaction: Kysely<Tables>): Promise<boolean> }> {
    // A sign-in with a passkey alone had no known person when the challenge was made.
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
              // The counter is decided where it is stored, below: of two uses at once one succeeds.
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
