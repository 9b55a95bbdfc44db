import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, timeSchema } from './fields.ts';

/** Maximum number of browsers of one person that receive notifications. */
export const PUSH_SUBSCRIPTIONS_MAXIMUM = 10;

const base64url = (bytes: number) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((bytes * 4) / 3)}}$`, 'u'), 'The browser sent a key of another kind.');

/** A push subscription as browsers return it (Push API): the address of its push service, and the keys for encryption (RFC 8291). */
export const pushSubscriptionSchema = z.object({
  endpoint: z.url({ protocol: /^https?$/u, error: 'The browser sent no address.' }).max(1_000),
  keys: z.object({ p256dh: base64url(65), auth: base64url(16) }),
});

/** A browser that receives notifications until its session ends. `current` is true for the calling session. */
export const pushBrowserSchema = z.object({ id: idSchema, client: z.string(), created_at: timeSchema, current: z.boolean() });
export type PushBrowser = z.infer<typeof pushBrowserSchema>;

export const readPush = endpoint({
  method: 'GET',
  path: '/push',
  summary:
    'The public key that browsers subscribe with (RFC 8292), in base64url, and your browsers that get notices, newest first.',
  access: 'customer',
  reply: z.object({ public_key: z.string(), subscriptions: z.array(pushBrowserSchema) }),
});

export const subscribePush = endpoint({
  method: 'POST',
  path: '/push/subscriptions',
  summary: 'Send notices of support answers and of high alerts to this browser, until the session ends.',
  access: 'customer',
  body: pushSubscriptionSchema.extend({
    /** Renews only an existing subscription of the same person in this browser; otherwise `not_found`. */
    renews: z.boolean().optional(),
  }),
  reply: z.object({ success: z.literal(true) }),
  problems: ['conflict', 'not_found'],
});

export const removePush = endpoint({
  method: 'DELETE',
  path: '/push/subscriptions/{id}',
  summary: 'Send a browser of yours no more notices.',
  access: 'customer',
});

export const unsubscribePush = endpoint({
  method: 'POST',
  path: '/push/unsubscribe',
  summary: 'Send this browser no more notices.',
  access: 'customer',
  body: pushSubscriptionSchema.pick({ endpoint: true }),
  reply: z.object({ success: z.literal(true) }),
});
