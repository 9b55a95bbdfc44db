import type { z } from 'zod';
import { idParamsSchema } from './fields.ts';
import type { ProblemCode } from './problem.ts';

/**
 * The minimum role for an endpoint. `anyone` needs no token; each further level includes the ones before it. `premium` is any role with an active plan that has premium
 * tools.
 */
export type Access = 'anyone' | 'customer' | 'premium' | 'support' | 'admin';

/** Parts of a person's account whose changes are reported to their open pages (`changed` on the events socket). */
export const TOPICS = ['rules', 'messages', 'remote', 'subscription', 'account', 'files', 'alerts', 'devices'] as const;
export type Topic = (typeof TOPICS)[number];

/**
 * Parts of the installation that any person's change may affect: the provider's name and contact, the plans on offer, counts for administrators, accounts, canned
 * answers and settings of the support desk, and the help pages.
 */
export const INSTALLATION_TOPICS = ['provider', 'plans', 'waiting', 'people', 'desk', 'help'] as const;
export type InstallationTopic = (typeof INSTALLATION_TOPICS)[number];

/** The people whose open pages are notified. */
export const TOLD_TO: Record<InstallationTopic, 'everybody' | 'administrators' | 'staff'> = {
  provider: 'everybody',
  plans: 'everybody',
  waiting: 'administrators',
  people: 'administrators',
  desk: 'staff',
  help: 'everybody',
};

/** Message id that the page assigns, so that a repeated message is stored once; and the id that recognises a browser. */
export const HEADER_FIELDS = { message: 'idempotency-key', browser: 'x-browser-id' } as const;
export type HeaderField = (typeof HEADER_FIELDS)[keyof typeof HEADER_FIELDS];

/** Parameter names in a path: `ParamsOf<'/scans/{id}'>` is `'id'`. */
export type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/**
 * The complete definition of an API call: the server validates and answers with it, the OpenAPI document describes it, and the client sends and parses with it.
 * `path` is below `/api`, with parameters in braces. `upload` names the multipart field of a file, in place of a JSON `body`.
 * `problems` lists the refusals specific to this call; the server adds those of every call (401, 422, 500 ...).
 */
export interface Endpoint<
  Path extends `/${string}` = `/${string}`,
  Who extends Access = Access,
  Params extends z.ZodObject | undefined = z.ZodObject | undefined,
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Reply extends z.ZodType | undefined = z.ZodType | undefined,
  Upload extends string | undefined = string | undefined,
  Download extends true | undefined = true | undefined,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: Path;
  summary: string;
  access: Who;
  params?: Params;
  query?: Query;
  body?: Body;
  upload?: Upload;
  /** Another endpoint with the same method and path takes JSON; this one takes multipart requests. */
  beside_json?: true;
  /**
   * Body fields outside the specification, with the header in which each is sent. They are accepted in the body too, because pages of the previous version
   * send them there.
   */
  header_fields?: Readonly<Record<string, HeaderField>>;
  /** HTTP status of success. `endpoint` sets 200 for an answer with a reply or a file, and 204 for one without. */
  status: 200 | 201 | 204;
  reply?: Reply;
  /** The specification does not define the reply: a success status is enough, and pages work without the fields of `reply`. */
  reply_unspecified?: true;
  /** The reply is a file, in place of a JSON `reply`. */
  download?: Download;
  /** Also allowed while a session is held, until the person has set up the required second factor. */
  while_held?: true;
  /**
   * A device calls it and authenticates with its token before the body is parsed: in `Authorization: Bearer` with its id in `X-Device-Id` (for a file, in the query), or,
   * for agents of the previous version that send JSON, by `device_id` and `token` in the body.
   */
  by_device?: true;
  /** Requires a confirmed email address, where confirmation is required (public exposure). */
  needs_proven_email?: true;
  /** The caller's records that change: after a success their open pages are told to refetch them. Other people are notified by the feature. */
  changes?: Topic;
  /** The installation's records that change: after a success the pages of `TOLD_TO` are notified. */
  changes_installation?: InstallationTopic;
  /** Costs the server far more than other calls, so its rate limit is lower. */
  expensive?: true;
  problems: readonly ProblemCode[];
}

/** Default schema of the parameters: a path with only `{id}` needs none of its own. */
type UsualParams<Path extends string> = [ParamNames<Path>] extends [never]
  ? undefined
  : [ParamNames<Path>] extends ['id']
    ? typeof idParamsSchema
    : undefined;

/** An endpoint as declared, in which fields with default values may be omitted. */
type Definition<E extends Endpoint> = Omit<E, 'status' | 'problems'> & Partial<Pick<E, 'status' | 'problems'>>;

/**
 * Declares an endpoint and preserves its literal types. A path with parameters needs a `params` schema with exactly those names.
 */
export function endpoint<
  const Path extends `/${string}`,
  const Who extends Access,
  Params extends
    | (ParamNames<Path> extends never ? undefined : z.ZodObject<Record<ParamNames<Path>, z.ZodType<string>>>)
    | UsualParams<Path>
    | undefined = UsualParams<Path>,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Reply extends z.ZodType | undefined = undefined,
  const Upload extends string | undefined = undefined,
  const Download extends true | undefined = undefined,
>(
  definition: Definition<Endpoint<Path, Who, Params, Query, Body, Reply, Upload, Download>>,
): Endpoint<Path, Who, Params, Query, Body, Reply, Upload, Download>;
export function endpoint(definition: Definition<Endpoint>): Endpoint {
  const { path, reply, download } = definition;
  return {
    status: reply === undefined && download === undefined ? 204 : 200,
    problems: [],
    ...(path.includes('{id}') && { params: idParamsSchema }),
    ...definition,
  };
}

type Parsed<Schema> = [NonNullable<Schema>] extends [never]
  ? undefined
  : NonNullable<Schema> extends z.ZodType
    ? z.output<NonNullable<Schema>>
    : undefined;
type Sent<Schema> = [NonNullable<Schema>] extends [never]
  ? undefined
  : NonNullable<Schema> extends z.ZodType
    ? z.input<NonNullable<Schema>>
    : undefined;

/** The input of a handler, after validation. */
export type ParamsOf<E extends Endpoint> = Parsed<E['params']>;
export type QueryOf<E extends Endpoint> = Parsed<E['query']>;
export type BodyOf<E extends Endpoint> = Parsed<E['body']>;
/** The input that a client sends. */
export type BodySentOf<E extends Endpoint> = Sent<E['body']>;
/** The output that a client receives. */
export type ReplyOf<E extends Endpoint> = Parsed<E['reply']>;
