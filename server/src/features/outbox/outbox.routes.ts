import { listOutbox, passOnMail } from '@palisade/contract/mail';
import type { Mail } from '#platform/mail.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';

export function serveOutbox(api: Api, mail: Pick<Mail, 'list' | 'passOn'>): void {
  serve(api, listOutbox, 'admin', async ({ query, header, request }) => {
    const mails = await mail.list(query);
    nextPage({ rows: mails, query, url: request.url, header });
    return mails;
  });

  serve(api, passOnMail, 'admin', ({ body: { mail_id } }) => mail.passOn(mail_id));
}
