import type { Card } from '@palisade/contract/chat-record';
import { downloadMail, takeMail } from '@palisade/contract/desk';
import { call, download, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { saveFile } from '#ui/save-file.ts';
import { deskMessagesQuery } from './desk.queries.ts';

/** Actions of staff on a kept email: download the original, and add it as the customer's message. */
export function KeptMail({ card, conversation_id }: { card: Extract<Card, { kind: 'mail' }>; conversation_id: string }) {
  const params = { id: card.mail_id };
  const take = useChange({
    of: takeMail,
    mutationFn: () => call(takeMail, { params }),
    renews: [deskMessagesQuery(conversation_id).queryKey],
  });
  const save = useChange({ mutationFn: async () => saveFile('mail.eml', await download(downloadMail, { params })) });
  const error = take.error ?? save.error;
  const isTaken = card.is_taken || take.isSuccess;
  return (
    <>
      {isTaken && card.reason !== 'lost_letters' && <span className="tiny muted">Taken over as the customer’s words.</span>}
      <span className="tiny muted">Nothing in the original was scanned: open it with care.</span>
      <Row as="span" gap="2" className="above-1">
        {!isTaken && (
          <Button variant="quiet" size="s" loading={take.isPending} onClick={() => take.mutate()}>
            Take over as the customer’s words
          </Button>
        )}
        <Button variant="quiet" size="s" loading={save.isPending} onClick={() => save.mutate()}>
          Download the original
        </Button>
      </Row>
      {error && (
        <span className="tiny muted" role="alert">
          {sentenceOf(error)}
        </span>
      )}
    </>
  );
}
