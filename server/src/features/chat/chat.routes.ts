import { listMessages, sendMessage } from '@palisade/contract/chat';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Chat } from './chat.ts';

export function serveChat(api: Api, chat: Chat): void {
  serve(api, listMessages, 'customer', async ({ session, query, header, request }) => {
    const messages = await chat.list(session.user.id, query);
    nextPage({ rows: messages, query, url: request.url, header });
    return messages;
  });

  serve(api, sendMessage, 'customer', async ({ session, body }) => ({
    ...(await chat.send(session.user.id, body.message)),
    automatic_reply: null,
  }));
}
