import { z } from 'zod';
import { brandSchema } from './brand.ts';
import { endpoint } from './endpoint.ts';

/** The audience of a server: the people of this machine, or customers over a network (docs/operating.md#exposure). */
export const exposureSchema = z.enum(['local', 'public']);
export type Exposure = z.infer<typeof exposureSchema>;

/** `there`: there is one. `first_account`: whoever registers first. `first_account_on_machine`: the same, but
 * who asks comes from elsewhere, or through a proxy, and is refused. `named_email`: an address that the settings name, once it was confirmed. */
const administratorBySchema = z.enum(['there', 'first_account', 'first_account_on_machine', 'named_email']);
export type AdministratorBy = z.infer<typeof administratorBySchema>;

/** The origin of a server's build: the commit and its time, ISO; `unknown` where the build step did not know. */
export const buildSchema = z.object({ commit: z.string(), committed_at: z.string() });
export type Build = z.infer<typeof buildSchema>;

export const readConfig = endpoint({
  method: 'GET',
  path: '/config',
  summary: 'What the screens need to know before anybody signs in.',
  access: 'anyone',
  reply: z.object({
    version: z.string(),
    /** Servers of earlier versions do not say. */
    build: buildSchema.optional(),
    exposure: exposureSchema,
    /** Local exposure on an address that others may reach: administrators are warned on every screen. */
    open_local: z.boolean(),
    demo: z.boolean(),
    reset_delivery: z.enum(['response', 'email', 'outbox']),
    /** The way to the first administrator, while there is none. */
    administrator: administratorBySchema,
    provider_name: z.string(),
    /** `promise` is the provider's own words; blank where it promises nothing. */
    support: z.object({ phone: z.string(), email: z.string(), promise: z.string() }),
    /** Servers of earlier versions do not say. */
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
    /** Only where servers share a store. */
    store: z.enum(['ok', 'away']).optional(),
    clock: z.enum(['ok', 'off']).optional(),
    build: buildSchema.optional(),
  }),
  problems: ['unavailable', 'storage_full'],
});
