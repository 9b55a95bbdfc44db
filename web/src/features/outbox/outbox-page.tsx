import { listOutbox, type Mail, type MailStatus } from '@palisade/contract/mail';
import { IconCheck, IconClock, IconMailOff, IconMailOpened, IconRefresh } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useTransition } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useConfig } from '#api/config.ts';
import { useSession } from '#api/session.ts';
import { AdministratorsOnly } from '#ui/administrators-only.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import './outbox-page.css';

const outboxQuery = queryOptions({
  queryKey: ['outbox'],
  queryFn: ({ signal }) => call(listOutbox, { signal }),
});

const STATUSES = {
  waiting: { label: 'Waiting', icon: IconClock },
  sent: { label: 'Sent', icon: IconCheck },
  failed: { label: 'Failed', icon: IconMailOff },
} as const satisfies Record<MailStatus, unknown>;

export function OutboxPage() {
  const isAdmin = useSession().session?.user_info.role === 'admin';
  const delivery = useConfig()?.reset_delivery;
  return (
    <Page
      title="Outbox"
      sentence={
        delivery === 'email'
          ? 'The mails of this installation: what was sent, and what waits for the mail server.'
          : 'The mails of this installation. Without a mail server they wait here: pass on what a person waits for.'
      }
    >
      {isAdmin ? (
        <Mails />
      ) : (
        <AdministratorsOnly sentence="Mails may hold reset tokens, so only an administrator of this installation sees them." />
      )}
    </Page>
  );
}

function Mails() {
  const { data: mails, error, refetch } = useQuery(outboxQuery);
  const [isRefreshing, startRefresh] = useTransition();
  const now = useMinute();
  const refresh = () =>
    startRefresh(async () => {
      await refetch();
    });
  return (
    <Card
      title="Mails"
      action={
        <Button
          variant="quiet"
          size="s"
          icon={<IconRefresh size={16} stroke={1.7} aria-hidden="true" />}
          loading={isRefreshing}
          onClick={refresh}
        >
          Refresh
        </Button>
      }
    >
      {error && <ErrorNotice title="The outbox could not be read" sentence={sentenceOf(error)} onRetry={refresh} />}
      {!mails && !error && <LoadingRows label="Loading the outbox" />}
      {mails?.length === 0 && (
        <EmptyState
          icon={<IconMailOpened size={28} stroke={1.7} />}
          title="No mails yet"
          sentence="Reset tokens, usernames and notices of changed passwords stand here once somebody asks for them."
        />
      )}
      {mails && mails.length > 0 && (
        <ul className="mail-list">
          {mails.map((mail) => (
            <MailRow key={mail.id} mail={mail} now={now} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function MailRow({ mail, now }: { mail: Mail; now: number }) {
  const { label, icon: Icon } = STATUSES[mail.status];
  return (
    <li>
      <details className="mail-row">
        <summary>
          <span className="mail-row__what">
            <span className="mail-row__subject">
              <bdi>{mail.subject}</bdi>
            </span>
            <span className="mail-row__to">
              to <bdi>{mail.recipient}</bdi>
            </span>
          </span>
          <span className="mail-row__when">
            <Moment iso={mail.sent_at ?? mail.created_at} now={now} />
          </span>
          <span className="mail-row__status" data-status={mail.status}>
            <Icon size={14} stroke={2} aria-hidden="true" />
            {label}
          </span>
        </summary>
        {mail.last_error !== null && (
          <p className="mail-row__error">
            {mail.attempts} {mail.attempts === 1 ? 'attempt' : 'attempts'}, the last one answered: <bdi>{mail.last_error}</bdi>
          </p>
        )}
        {mail.text === null ? (
          <p className="sub mail-row__gone">It was handed to the mail server. Its text is not kept.</p>
        ) : (
          <pre className="mail-row__text">{mail.text}</pre>
        )}
      </details>
    </li>
  );
}
