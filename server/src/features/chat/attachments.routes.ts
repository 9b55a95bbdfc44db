import { deleteAttachment, downloadAttachment, readAttachment, uploadAttachment } from '@palisade/contract/chat';
import { type Me, may } from '@palisade/contract/may';
import { attachmentHeader } from '#platform/file-name.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Attachments, FoundAttachment } from './attachments.ts';
import { attachmentOf } from './records.ts';

export function serveAttachments(api: Api, attachments: Attachments): void {
  const find = ({ id }: { id: string }) => attachments.find(id);
  const seen = { find, may: may.seeAttachment };
  const own = { find, may: (me: Me, { uploader_id }: Pick<FoundAttachment, 'uploader_id'>) => uploader_id === me.id };

  serve(api, uploadAttachment, 'customer', ({ session, request }) => attachments.receive(session.user.id, request));
  serve(api, readAttachment, seen, ({ row: { row } }) => Promise.resolve(attachmentOf(row)));
  serve(api, deleteAttachment, own, ({ row: { row } }) => attachments.remove(row));
  serve(api, downloadAttachment, seen, async ({ row: { row }, header }) => {
    const bytes = await attachments.read(row);
    const { picture_type, filename, size } = row;
    header('content-type', picture_type ?? 'application/octet-stream');
    header('content-length', String(size));
    // Prevents scripts from running, whatever type the browser guesses.
    header('content-security-policy', "default-src 'none'; sandbox");
    header('content-disposition', picture_type === null ? attachmentHeader(filename) : 'inline');
    return bytes;
  });
}
