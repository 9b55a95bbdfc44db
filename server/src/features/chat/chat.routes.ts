import { Readable } from 'node:stream';
import {
  askPerson,
  downloadTranscript,
  mailTranscript,
  markRead,
  rateChat,
  sendMessage,
  shareThing,
} from '@palisade/contract/chat';
import { listMessages, messagesQuerySchema, readChat } from '@palisade/contract/chat-read';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Chat } from './chat.ts';
import type { Letters } from './letters.ts';
import { transcriptOf } from './transcript.ts';

/** Number of newest messages in a mailed transcript; the file has all. */
const MAILED_MESSAGES = 200;

async function* transcript(chat: Chat, user: { id: string; username: string }) {
  // Without messages the file is still valid.
  yield '\uFEFF';
  for await (const message of chat.all(user.id)) yield transcriptOf(message, user.username);
}

export function serveChat(api: Api, chat: Chat, letters: Letters, kept: Pick<KeptAnswers, 'keep'>): void {
  const state = kept.keep(readChat, ({ id }) => chat.state(id));
  serve(api, listMessages, 'customer', async ({ session, query, header, request }) => {
    const messages = await chat.list(session.user.id, query);
    if (query.after === undefined) nextPage({ query, request, header }, messages);
    return messages;
  });

  serve(api, sendMessage, 'customer', ({ session, body }) => chat.send(session.user.id, body));
  serve(api, readChat, 'customer', ({ session }) => state(session.user));
  serve(api, markRead, 'customer', ({ session, body }) => chat.markRead(session.user.id, body.seq));
  serve(api, askPerson, 'customer', ({ session }) => chat.askPerson(session.user.id));
  serve(api, rateChat, 'customer', ({ session, body }) => chat.rate(session.user.id, body.rating, body.comment));
  serve(api, shareThing, 'customer', ({ session, body: { thing, subject_id, client_message_id } }) =>
    chat.share(session.user.id, thing, subject_id, client_message_id),
  );

  serve(api, downloadTranscript, 'customer', ({ session, header }) => {
    header('content-type', 'text/plain; charset=utf-8');
    header('content-disposition', 'attachment; filename="palisade-chat.txt"');
    return Promise.resolve(Readable.from(transcript(chat, session.user)));
  });
  serve(api, mailTranscript, 'customer', async ({ session }) => {
    const newest = await chat.list(session.user.id, messagesQuerySchema.parse({ limit: MAILED_MESSAGES }));
    await letters.sendTranscript(session.user, newest.toReversed());
    return { success: true as const };
  });
}
