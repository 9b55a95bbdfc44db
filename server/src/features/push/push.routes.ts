import { readPush, removePush, subscribePush, unsubscribePush } from '@palisade/contract/push';
import { type Api, serve } from '#platform/serve.ts';
import type { Push, PushRow } from './push.ts';

const DONE = { success: true } as const;

export function servePush(api: Api, push: Push): void {
  serve(api, readPush, 'customer', async ({ session }) => ({
    public_key: push.publicKey,
    subscriptions: await push.list(session.user.id, session.id),
  }));
  serve(api, subscribePush, 'customer', async ({ session, body }) => {
    await push.subscribe(session.user.id, session.id, body);
    return DONE;
  });
  serve<typeof removePush, PushRow>(api, removePush, { find: ({ id }) => push.find(id) }, ({ row }) => push.remove(row.id));
  serve(api, unsubscribePush, 'customer', async ({ session, body }) => {
    await push.unsubscribe(session.user.id, body.endpoint);
    return DONE;
  });
}
