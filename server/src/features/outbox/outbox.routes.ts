import { listOutbox, passOnMail, readMailServer } from '@palisade/contract/mail';
import type { Mail } from '#platform/mail.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';

export function serveOutbox(api: Api, mail: Pick<Mail, 'list' | 'passOn' | 'sender'>): void {
  serve(api, listOutbox, 'admin', async (call) => nextPage(call, await mail.list(call.query)));

  serve(api, readMailServer, 'admin', async () => {
    const sender = mail.sender() ?? null;
    return { is_connected: sender !== null, sender };
  });

  serve(api, passOnMail, 'admin', ({ body: { mail_id } }) => mail.passOn(mail_id));
}
