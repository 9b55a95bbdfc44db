import { IconArrowLeft, IconClipboardList } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { CustomerCard } from '#domain/conversation/customer-card.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { customerQuery } from './desk.queries.ts';

/** Loaded on demand, because staff rarely open it. */
const RecordDialog = lazyPart(async () => (await import('#domain/person/record-dialog.tsx')).RecordDialog);

interface CustomerPaneProps {
  conversation_id: string;
  /** Each request for the card is recorded in the audit log, so it is read only while visible. */
  isShown: boolean;
  onBack: () => void;
}

export function CustomerPane({ conversation_id, isShown, onBack }: CustomerPaneProps) {
  return (
    <Grid as="aside" className="desk__pane desk__pane--customer" aria-label="Customer card">
      <Row as="header" gap="2" className="desk__from-customer pad-s line-below">
        <button type="button" className="icon-button" aria-label="Back to the conversation" onClick={onBack}>
          <IconArrowLeft size={20} stroke={1.7} aria-hidden="true" />
        </button>
        <b>Customer card</b>
      </Row>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <section className="desk__scroll" tabIndex={0} aria-label="Customer">
        {isShown && <Card conversation_id={conversation_id} />}
      </section>
    </Grid>
  );
}

function Card({ conversation_id }: { conversation_id: string }) {
  const { data: card, error, refetch } = useQuery(customerQuery(conversation_id));
  const [isOpen, setIsOpen] = useState(false);
  if (card)
    return (
      <>
        <CustomerCard card={card}>
          <Button variant="quiet" size="s" icon={IconClipboardList} aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
            Open record
          </Button>
        </CustomerCard>
        {isOpen && <RecordDialog user_id={card.user_id} username={card.username} onClose={() => setIsOpen(false)} />}
      </>
    );
  return (
    <Stack gap="4" className="pad-l">
      {error ? (
        <ErrorNotice title="We couldn’t load the customer" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      ) : (
        <LoadingRows label="Loading the card" />
      )}
    </Stack>
  );
}
