import type { Readable } from 'node:stream';
import type { Role, UserInfo } from '@palisade/contract/auth';
import type { Access, BodyOf, Endpoint, InstallationTopic, ParamsOf, QueryOf, ReplyOf, Topic } from '@palisade/contract/endpoint';
import { idSchema } from '@palisade/contract/fields';
import { PROBLEMS, type ProblemCode } from '@palisade/contract/problem';
import { phrasedProblemSchema } from '@palisade/contract/problem-phrase';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { admitBy } from './body-admission.ts';
import { MULTIPART_ONLY } from './body-form.ts';
import { type DatabaseWait, newWait, waitingAs } from './database-patience.ts';
import { EncodedReply } from './encoded-reply.ts';
import { withHeaderFields } from './header-fields.ts';
import { sourceOf } from './origin.ts';
import { refuse } from './platform.refusals.ts';
import { Problem } from './problem.ts';
import type { RateLimits } from './rate-limit.ts';
import { refusalsOf } from './refusal-log.ts';
import type { RequestWatch } from './request-watch.ts';
import type { Sentence } from './sentence.ts';
import type { Session, Sessions } from './session.ts';

/** The session that a handler gets: undefined for endpoints with access `anyone`. */
type SessionOf<E extends Endpoint> = E['access'] extends 'anyone' ? undefined : Session;

/** A handler's arguments: input is parsed, the session checked, and the record authorized. */
export interface Call<E extends Endpoint, Row = undefined> {
  params: ParamsOf<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  session: SessionOf<E>;
  /** The record that the path names, already authorized for this person. */
  row: Row;
  request: FastifyRequest;
  /** Sets a header of the answer. */
  header(name: string, value: string): void;
}

/** Loads the record that a path names. Its `user_id` must be the caller's; otherwise the answer is 404, as for a missing record. */
interface Ownership<E extends Endpoint, Row extends { user_id: string }> {
  find(params: ParamsOf<E>): Promise<Row | undefined>;
}

/** Loads the record that a path names, and asks a policy (contract/src/may.ts) whether the caller may see it; otherwise the answer is 404, as for a missing record. */
interface Policy<E extends Endpoint, Row> {
  find(params: ParamsOf<E>): Promise<Row | undefined>;
  may(me: UserInfo, row: NoInfer<Row>): boolean;
}

/** The access argument: an endpoint's own access, repeated where it is served; a path that names a record requires the ownership check, or a policy. */
type AccessCheck<E extends Endpoint, Row> = E['path'] extends `${string}{${string}`
  ? Policy<E, Row> | (Row extends { user_id: string } ? Ownership<E, Row> : never)
  : E['access'];

/** Either of the two checks, as `serve` uses it. */
interface RecordCheck<E extends Endpoint, Row> {
  find(params: ParamsOf<E>): Promise<Row | undefined>;
  may?(me: UserInfo, row: Row): boolean;
}

/** Whether a record belongs to this person; false for a record without an owner. */
function isOwn(me: UserInfo, row: unknown): boolean {
  return typeof row === 'object' && row !== null && 'user_id' in row && row.user_id === me.id;
}

/** Dependencies of served endpoints: sessions, rate limits, and the receiver of unexpected calls. */
export interface Api {
  fastify: FastifyInstance;
  sessions: Sessions;
  limits: RateLimits;
  watch: Pick<RequestWatch, 'forbidden'>;
  /** Whether the device with this id has this token; for endpoints that devices call. */
  isDevice?: (identity: { device_id: string; token: string }) => Promise<boolean>;
  /** Reads whether a person's plan includes premium tools; for endpoints with the access `premium`. Called for each request, so that an expiry takes effect at once. */
  premium?: { current(user_id: string): Promise<{ is_premium: boolean }> };
  /** Replaces the common sentence for people without premium tools. */
  premium_sentence?: Sentence;
  /** Called for each request, with its session. Not for one with an invalid token: a page left open after a sign-out is not a stranger. */
  onCall?: (request: FastifyRequest, session: Session | undefined) => void;
  /** Called with the person whose account a call has changed. */
  onChange?: (user_id: string, topic: Topic) => void;
  /** Called when a call has changed data of the installation. */
  onInstallationChange?: (topic: InstallationTopic) => void;
}

const RANK: Record<Role, number> = { customer: 1, support: 2, admin: 3 };
const LEAST_RANK: Record<Access, number> = { anyone: 0, customer: 1, premium: 1, support: 2, admin: 3 };

/** Problems that any endpoint of this kind can return. */
function commonProblems(endpoint: Endpoint): ProblemCode[] {
  const codes: ProblemCode[] = ['internal', 'too_many_requests', 'storage_full'];
  if (endpoint.access !== 'anyone') codes.push('unauthenticated');
  if (endpoint.access !== 'anyone' && !endpoint.while_held) codes.push('two_factor_setup_required');
  if (endpoint.needs_proven_email) codes.push('email_unproven');
  if (LEAST_RANK[endpoint.access] > 1) codes.push('forbidden');
  if (endpoint.access === 'premium') codes.push('premium_required');
  if (endpoint.params) codes.push('not_found');
  if (endpoint.query || endpoint.body || endpoint.upload) codes.push('invalid_field');
  if (endpoint.body) codes.push('malformed', 'too_large', 'unsupported_media_type');
  return codes;
}

function tokenOf(endpoint: Endpoint, request: FastifyRequest): string | undefined {
  if (endpoint.access === 'anyone') return undefined;
  return /^Bearer ([\w-]{1,128})$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** The session, if it may make this call. @throws Problem */
function authenticate(
  api: Api,
  endpoint: Endpoint,
  request: FastifyRequest,
  { token, session }: { token: string | undefined; session: Session | undefined },
): Session | undefined {
  if (endpoint.access === 'anyone') {
    api.onCall?.(request, undefined);
    return undefined;
  }
  if (session !== undefined || token === undefined) api.onCall?.(request, session);
  if (session === undefined) throw new Problem('unauthenticated');
  if (RANK[session.user.role] < LEAST_RANK[endpoint.access]) {
    api.watch.forbidden(endpoint, request, session);
    throw new Problem('forbidden');
  }
  if (session.is_held && !endpoint.while_held) throw new Problem('two_factor_setup_required');
  if (session.is_unproven && endpoint.needs_proven_email) throw new Problem('email_unproven');
  return session;
}

/** @throws Problem `premium_required` for a person whose plan has no premium tools now. */
async function requirePremium({ premium, premium_sentence: says }: Api, { user }: Session): Promise<void> {
  if ((await premium?.current(user.id))?.is_premium === true) return;
  throw new Problem('premium_required', says === undefined ? {} : { says });
}

const DEVICE_TOKEN = /^Bearer ([0-9a-f]{64})$/i;

/**
 * Refuses callers other than devices before a body is parsed: by the headers if they identify the caller, else by the first `device_id` and `token` in the text of the body.
 * The handler reads them again as the contract defines. @throws Problem
 */
async function admitDevice(api: Api, endpoint: Endpoint, request: FastifyRequest): Promise<void> {
  const prove = async (device_id: string | undefined, token: string | undefined) => {
    if (device_id === undefined || token === undefined || (await api.isDevice?.({ device_id, token })) !== true)
      throw new Problem('device_revoked');
  };
  const token = DEVICE_TOKEN.exec(request.headers.authorization ?? '')?.[1];
  if (endpoint.upload !== undefined) {
    const { device_id } = z.object({ device_id: idSchema.optional().catch(undefined) }).parse(request.query);
    await prove(device_id, token);
    return;
  }
  const named = request.headers['x-device-id'];
  // A proxy may drop unknown headers; then only the body identifies the device.
  if (token !== undefined && named !== undefined) await prove(idSchema.safeParse(named).data, token);
  else
    admitBy(request, (text) =>
      prove(/"device_id"\s*:\s*"([0-9a-f-]{36})"/i.exec(text)?.[1], /"token"\s*:\s*"([0-9a-f]{64})"/.exec(text)?.[1]),
    );
}

function requireContentType(endpoint: Endpoint, request: FastifyRequest): void {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (endpoint.upload && type !== 'multipart/form-data') {
    throw refuse('request.not_multipart', { field: endpoint.upload });
  }
  if (endpoint.body && type !== 'application/json') {
    throw refuse('request.not_json');
  }
}

// Named once in the API description: more than a thousand answers use it, and repeated it made up most of the document.
z.globalRegistry.add(phrasedProblemSchema, { id: 'Problem' });

function schemaOf(endpoint: Endpoint): RouteShorthandOptions['schema'] {
  const codes = [...new Set([...endpoint.problems, ...commonProblems(endpoint)])];
  const problems = Object.groupBy(codes, (code) => String(PROBLEMS[code].status));
  const file = { description: 'The file.', content: { 'application/octet-stream': { schema: z.string() } } };
  const response: Record<string, unknown> = {
    [endpoint.status]: endpoint.download ? file : (endpoint.reply ?? z.null().describe('Done.')),
  };
  for (const [status, group] of Object.entries(problems)) {
    const description = group?.map((code) => `\`${code}\`: ${PROBLEMS[code].detail}`).join('\n\n');
    response[status] = { description, content: { 'application/problem+json': { schema: phrasedProblemSchema } } };
  }
  return {
    summary: endpoint.summary,
    // The description has one operation for each method and path; the JSON route describes both.
    ...(endpoint.beside_json ? { hide: true } : {}),
    ...(endpoint.access === 'premium' ? { description: 'Needs a plan with premium tools.' } : {}),
    ...(endpoint.header_fields
      ? {
          description: `Also as headers: ${Object.entries(endpoint.header_fields)
            .map(([name, header]) => `\`${name}\` as \`${header}\``)
            .join(', ')}.`,
        }
      : {}),
    tags: [endpoint.path.split('/')[1] ?? ''],
    security: endpoint.access === 'anyone' ? [] : [{ bearer: [] }],
    ...(endpoint.upload ? { consumes: ['multipart/form-data'] } : {}),
    ...(endpoint.params ? { params: endpoint.params } : {}),
    ...(endpoint.query ? { querystring: endpoint.query } : {}),
    ...(endpoint.body ? { body: endpoint.body } : {}),
    response,
  };
}

/**
 * Serves one endpoint below `/api`: limits, session, access, content type, parsing, ownership, plan, handler, reply. Refused in that order, so that a stranger learns
 * nothing from a malformed request; the caller is looked up while the call is counted. An exception of a handler becomes a problem document (a `Problem` its own, any other
 * `internal`).
 */
export function serve<E extends Endpoint, Row = undefined>(
  api: Api,
  endpoint: E,
  access: AccessCheck<E, Row>,
  handle: (
    call: Call<E, Row>,
  ) => Promise<
    [NonNullable<E['download']>] extends [never]
      ? ReplyOf<E> extends undefined
        ? void
        : ReplyOf<E> | EncodedReply<ReplyOf<E>>
      : Readable
  >,
): void;
export function serve<E extends Endpoint, Row>(
  api: Api,
  endpoint: E,
  access: Access | RecordCheck<E, Row>,
  handle: (call: Call<E, Row>) => Promise<unknown>,
): void {
  if (endpoint.by_device && api.isDevice === undefined) throw new Error(`Nothing says who is a device: ${endpoint.path}`);
  if (endpoint.access === 'premium' && api.premium === undefined) throw new Error(`Nothing reads plans: ${endpoint.path}`);
  const sessions = new WeakMap<FastifyRequest, Session>();
  const waits = new WeakMap<FastifyRequest, DatabaseWait>();

  async function admit(request: FastifyRequest): Promise<void> {
    const token = tokenOf(endpoint, request);
    const lookUp = async () => (token === undefined ? undefined : await api.sessions.resolve(token));
    // Look up the session while the call is counted, but not for a caller far over the limit.
    const early = api.limits.isPressed(endpoint, request) ? undefined : lookUp();
    early?.catch(() => {});
    // The last known holder of this token is most likely the caller, and is counted in the same step.
    const caller = token === undefined ? undefined : api.sessions.recall(token);
    const counted = await api.limits.ofSource(endpoint, request, caller);
    const session = authenticate(api, endpoint, request, { token, session: await (early ?? lookUp()) });
    if (session) {
      await api.limits.ofAccount(endpoint, request, session, counted);
      sessions.set(request, session);
    }
    requireContentType(endpoint, request);
    if (endpoint.by_device) await admitDevice(api, endpoint, request);
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const session = sessions.get(request);
    let row: Row | undefined;
    if (typeof access !== 'string') {
      const found = await access.find(request.params as ParamsOf<E>);
      const me = session?.user;
      const isAllowed =
        found !== undefined && me !== undefined && (access.may === undefined ? isOwn(me, found) : access.may(me, found));
      if (!isAllowed) {
        if (found !== undefined && refusalsOf(api.fastify.log).mayTell(sourceOf(request.ip)))
          request.log.warn({ req: request, user: session?.user.id }, 'a record of somebody else was asked for');
        throw new Problem('not_found');
      }
      row = found;
    }
    if (endpoint.access === 'premium' && session !== undefined) await requirePremium(api, session);
    const answered = await handle({
      params: request.params as ParamsOf<E>,
      query: request.query as QueryOf<E>,
      body: withHeaderFields(endpoint, request) as BodyOf<E>,
      session: session as SessionOf<E>,
      row: row as Row,
      request,
      header: (name, value) => void reply.header(name, value),
    });
    if (session && endpoint.changes) api.onChange?.(session.user.id, endpoint.changes);
    if (endpoint.changes_installation) api.onInstallationChange?.(endpoint.changes_installation);
    return answered;
  }

  api.fastify.route({
    method: endpoint.method as HTTPMethods,
    url: `/api${endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    schema: schemaOf(endpoint) ?? {},
    ...(endpoint.beside_json ? { constraints: MULTIPART_ONLY } : {}),
    // A request's wait for the database is counted from its first hook to its answer.
    onRequest: (request) => {
      const wait = newWait();
      waits.set(request, wait);
      return waitingAs(wait, () => admit(request));
    },
    handler: async (request, reply) => {
      const wait = waits.get(request) ?? newWait();
      try {
        const answered = await waitingAs(wait, () => answer(request, reply));
        reply.code(endpoint.status);
        if (!(answered instanceof EncodedReply)) return reply.send(answered);
        return reply.type('application/json; charset=utf-8').send(answered.text);
      } finally {
        wait.is_over = true;
      }
    },
  });
}
