import { formatNumber, plural } from '@palisade/contract/intl';
import { listOutbox, type Mail, type MailStatus, passOnMail } from '@palisade/contract/mail';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconCheck, IconChevronDown, IconClock, IconMail, IconMailOff, IconMailOpened } from '@tabler/icons-react';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { useConfig } from '#api/config.ts';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { ListCard } from '#ui/list-card.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useList } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import './outbox-page.css';

const outboxQuery = queryOptions({
  queryKey: ['outbox'],
  queryFn: ({ signal }) => call(listOutbox, { signal }),
});

const STATUSES = {
  waiting: { label: 'Waiting', icon: IconClock, tone: 'attention' },
  sent: { label: 'Sent', icon: IconCheck, tone: 'safe' },
  failed: { label: 'Failed', icon: IconMailOff, tone: 'danger' },
  passed_on: { label: 'Passed on', icon: IconCheck, tone: 'safe' },
} as const satisfies Record<MailStatus, unknown>;

export function OutboxPage() {
  const delivery = useConfig()?.reset_delivery;
  return (
    <Page
      title="Outbox"
      sentence={
        delivery === 'email'
          ? 'Sent emails, and emails that wait for the mail server.'
          : 'Email isn’t set up. Open a message and pass it on.'
      }
    >
      <Mails />
    </Page>
  );
}

function Mails() {
  const list = useList(outboxQuery);
  const now = useMinute();
  return (
    <ListCard
      title="Emails"
      of="the outbox"
      list={list}
      hasRefresh
      empty={
        <EmptyState
          icon={IconMailOpened}
          title="No emails yet"
          sentence="Emails with reset tokens, usernames, and notices of changed passwords appear here."
        />
      }
    >
      {(mails) => (
        <ul className="mail-list">
          {mails.map((mail) => (
            <MailRow key={mail.id} mail={mail} now={now} />
          ))}
        </ul>
      )}
    </ListCard>
  );
}

/** Actions of an administrator on an email that the server does not send itself. */
function PassOn({ mail: { id, recipient, status }, text }: { mail: Mail; text: string }) {
  const isSentLater = useConfig()?.reset_delivery === 'email' && status === 'waiting';
  const pass = useChange({ of: passOnMail, mutationFn: () => call(passOnMail, { body: { mail_id: id } }) });
  return (
    <div className="mail-row__actions">
      <CopyButton text={text} copied="The email was copied." label="Copy text" size="s" />
      <CopyButton text={shownEmail(recipient)} copied="The address was copied." label="Copy address" size="s" />
      {!isSentLater && (
        <Button
          size="s"
          loading={pass.isPending}
          onClick={() => {
            if (window.confirm('Mark this email as passed on? Its text is deleted.')) pass.mutate();
          }}
        >
          Mark as passed on
        </Button>
      )}
      <Refusal error={pass.error} />
    </div>
  );
}

function MailRow({ mail, now }: { mail: Mail; now: number }) {
  const { label, icon, tone } = STATUSES[mail.status];
  return (
    <li>
      <details className="mail-row">
        <summary>
          <IconTile tone={tone} icon={IconMail} />
          <span className="mail-row__what">
            <span className="mail-row__subject">
              <bdi>{mail.subject}</bdi>
            </span>
            <span className="mail-row__to">
              <Sentence text="to {email}" parts={{ email: <bdi>{shownEmail(mail.recipient)}</bdi> }} />
            </span>
          </span>
          <span className="mail-row__when">
            <Moment iso={mail.sent_at ?? mail.created_at} now={now} />
          </span>
          <Badge tone={tone} icon={icon}>
            {label}
          </Badge>
          <IconChevronDown className="mail-row__open" size={18} stroke={1.7} aria-hidden="true" />
        </summary>
        {mail.last_error !== null && (
          <p className="mail-row__error">
            <Sentence
              text={plural(mail.attempts, {
                one: '1 attempt, the last one answered: {error}',
                other: '{count} attempts, the last one answered: {error}',
              })}
              parts={{ count: formatNumber(mail.attempts), error: <bdi>{mail.last_error}</bdi> }}
            />
          </p>
        )}
        {mail.text === null ? (
          <p className="sub mail-row__gone">
            {mail.status === 'passed_on' ? 'You passed it on.' : 'It was handed to the mail server.'} Its text is not kept.
          </p>
        ) : (
          <>
            <pre className="mail-row__text">{mail.text}</pre>
            <PassOn mail={mail} text={mail.text} />
          </>
        )}
      </details>
    </li>
  );
}
