import type { z } from 'zod';
import { idParamsSchema } from './fields.ts';
import type { ProblemCode } from './problem.ts';

/**
 * The least role that may call an endpoint. `anyone` needs no token; each further level includes the ones before it. `premium` is any role, with a plan that has premium
 * tools at the time of the call.
 */
export type Access = 'anyone' | 'customer' | 'premium' | 'support' | 'admin';

/** Changed parts of a person's account, as their open pages are told (`changed` of the events socket). */
export const TOPICS = ['rules', 'messages', 'remote', 'subscription', 'account', 'files', 'alerts', 'devices'] as const;
export type Topic = (typeof TOPICS)[number];

/**
 * Changed parts of the installation, by any person: the provider's name and contact, the plans on offer, what waits for administrators, who has an account, canned
 * answers and settings of the support desk, and the help pages.
 */
export const INSTALLATION_TOPICS = ['provider', 'plans', 'waiting', 'people', 'desk', 'help'] as const;
export type InstallationTopic = (typeof INSTALLATION_TOPICS)[number];

/** The people whose open pages are told. */
export const TOLD_TO: Record<InstallationTopic, 'everybody' | 'administrators' | 'staff'> = {
  provider: 'everybody',
  plans: 'everybody',
  waiting: 'administrators',
  people: 'administrators',
  desk: 'staff',
  help: 'everybody',
};

/** The id of a message before it is sent, so that a repeated message is stored once; and the id that recognises a browser. */
export const HEADER_FIELDS = { message: 'idempotency-key', browser: 'x-browser-id' } as const;
export type HeaderField = (typeof HEADER_FIELDS)[keyof typeof HEADER_FIELDS];

/** The parts of a path in braces: `ParamsOf<'/scans/{id}'>` is `'id'`. */
export type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/**
 * One call of the API, whole: what the server validates and answers, what the OpenAPI document shows, what the client sends and parses.
 * `path` is below `/api` with parameters in braces. `upload` names the multipart field of a file, in place of a JSON `body`.
 * `problems` are the refusals of its own; those that any call can answer (401, 422, 500 ...) are added by the server.
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
   * Fields of the body that the specification does not have, and the header in which each of them travels. In the body they are taken too: pages of the version before
   * write them there.
   */
  header_fields?: Readonly<Record<string, HeaderField>>;
  /** HTTP status of success. `endpoint` sets 200 for an answer with a reply or a file, and 204 for one without. */
  status: 200 | 201 | 204;
  reply?: Reply;
  /** The specification does not say what is answered: success is enough, and a page does without what is in `reply`. */
  reply_unspecified?: true;
  /** The answer is a file, in place of a JSON `reply`. */
  download?: Download;
  /** Also for a session that is held until its person has set up the second factor that they must have. */
  while_held?: true;
  /**
   * A device calls it and proves itself by its token, before its body is parsed: in `Authorization: Bearer` with its id in `X-Device-Id` (beside a file, in the query), or,
   * as agents of the version before do that send JSON, by `device_id` and `token` in the body.
   */
  by_device?: true;
  /** Only for who has proved that mails to their address reach them, where that is asked for (public exposure). */
  needs_proven_email?: true;
  /** The records of the caller that change: after success their open pages are told to read them again. The feature itself tells other people. */
  changes?: Topic;
  /** The records of the installation that change: after success the pages of `TOLD_TO` are told. */
  changes_installation?: InstallationTopic;
  /** It costs the server far more than another call, and is limited more tightly. */
  expensive?: true;
  problems: readonly ProblemCode[];
}

/** The parameters of a path with one record's id need no schema of their own. */
type UsualParams<Path extends string> = [ParamNames<Path>] extends [never]
  ? undefined
  : [ParamNames<Path>] extends ['id']
    ? typeof idParamsSchema
    : undefined;

/** An endpoint as it is declared: without fields that have their usual values. */
type Definition<E extends Endpoint> = Omit<E, 'status' | 'problems'> & Partial<Pick<E, 'status' | 'problems'>>;

/**
 * Declares an endpoint and keeps its literal types. A path with parameters needs a `params` schema that has exactly those names.
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
