import {
  cancelSession,
  completeJoined,
  completeSession,
  createSession,
  joinSession,
  listJoined,
  listSessions,
} from '@palisade/contract/remote';
import { countPages, nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Remote } from './remote.ts';

export function serveRemote(api: Api, remote: Remote): void {
  const own = { find: ({ id }: { id: string }) => remote.findOwn(id) };
  const joined = { find: ({ id }: { id: string }) => remote.findJoined(id) };

  serve(api, listSessions, 'customer', async ({ session, query, header, request }) => {
    const rows = await remote.list(session.user.id, query);
    await countPages({ query, header, count: () => remote.count(session.user.id, query) });
    nextPage({ rows, query, url: request.url, header });
    return rows;
  });

  serve(api, createSession, 'customer', ({ session }) => remote.create(session.user));

  serve(api, cancelSession, own, ({ row }) => remote.cancel(row.id));

  serve(api, completeSession, own, ({ row }) => remote.complete(row.id));

  serve(api, joinSession, 'support', ({ session, body }) => remote.join(session.user, body.session_code));

  serve(api, listJoined, 'support', async ({ session, query, header, request }) => {
    const rows = await remote.listJoined(session.user.id, query);
    await countPages({ query, header, count: () => remote.countJoined(session.user.id, query) });
    nextPage({ rows, query, url: request.url, header });
    return rows;
  });

  serve(api, completeJoined, joined, ({ row }) => remote.complete(row.id));
}
