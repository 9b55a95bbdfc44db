import { z } from 'zod';
import { brandSchema } from './brand.ts';
import { endpoint } from './endpoint.ts';

/** The audience of a server: people on this machine, or customers over a network (docs/operating.md#exposure). */
export const exposureSchema = z.enum(['local', 'public']);
export type Exposure = z.infer<typeof exposureSchema>;

/** Origin of the first administrator. `there`: one exists. `first_account`: the first person to register. `first_account_on_machine`: the same, but this
 * caller is refused, because the request came from another machine or through a proxy. `named_email`: the address in the settings, once it is confirmed. */
const administratorBySchema = z.enum(['there', 'first_account', 'first_account_on_machine', 'named_email']);
export type AdministratorBy = z.infer<typeof administratorBySchema>;

/** The commit of the server's build and its time (ISO); `unknown` if the build step could not determine them. */
export const buildSchema = z.object({ commit: z.string(), committed_at: z.string() });
export type Build = z.infer<typeof buildSchema>;

export const readConfig = endpoint({
  method: 'GET',
  path: '/config',
  summary: 'What the screens need to know before anybody signs in.',
  access: 'anyone',
  reply: z.object({
    version: z.string(),
    /** Absent from servers of earlier versions. */
    build: buildSchema.optional(),
    exposure: exposureSchema,
    /** True if a server in local exposure may be reachable for others; every screen warns administrators. */
    open_local: z.boolean(),
    demo: z.boolean(),
    reset_delivery: z.enum(['response', 'email', 'outbox']),
    /** Origin of the first administrator. */
    administrator: administratorBySchema,
    provider_name: z.string(),
    /** `promise` is in the provider's own words; empty if it makes none. */
    support: z.object({ phone: z.string(), email: z.string(), promise: z.string() }),
    /** Absent from servers of earlier versions. */
    brand: brandSchema.optional(),
    links: z.object({ live_chat: z.string().nullable(), remote_portal: z.string().nullable() }),
  }),
});

export const readHealth = endpoint({
  method: 'GET',
  path: '/health',
  summary: 'The process runs.',
  access: 'anyone',
  reply: z.object({ status: z.literal('ok') }),
});

export const readReadiness = endpoint({
  method: 'GET',
  path: '/ready',
  summary:
    'The process can serve: database and engine answer, and the database has room. With `storage: low` the disk has no room for uploads beside the reserve of the database: they are refused, and everything else goes on. With `store: away` the store that servers share does not answer: uploads are refused, and everything else goes on. With `clock: off` the clock of this server is more than 2 s from that of the database, by which records go.',
  access: 'anyone',
  reply: z.object({
    status: z.literal('ready'),
    storage: z.enum(['ok', 'low']),
    /** Present only if servers share a store. */
    store: z.enum(['ok', 'away']).optional(),
    clock: z.enum(['ok', 'off']).optional(),
    build: buildSchema.optional(),
  }),
  problems: ['unavailable', 'storage_full'],
});
