import { formatNumber, plural } from '@palisade/contract/intl';
import { listOutbox, type Mail, type MailStatus, passOnMail } from '@palisade/contract/mail';
import { shownEmail } from '@palisade/contract/shown-email';
import {
  IconCheck,
  IconChevronDown,
  IconClock,
  IconMail,
  IconMailExclamation,
  IconMailForward,
  IconMailOff,
  IconMailOpened,
} from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { mailServerQuery } from '#domain/overview/mail-server.ts';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Lead, LeadWaiting } from '#ui/lead.tsx';
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
  waiting: { label: 'Waiting', icon: IconClock, tone: 'plain' },
  sent: { label: 'Sent', icon: IconCheck, tone: 'safe' },
  failed: { label: 'Failed', icon: IconMailOff, tone: 'danger' },
  passed_on: { label: 'Passed on', icon: IconCheck, tone: 'safe' },
} as const satisfies Record<MailStatus, unknown>;
/** For an email that waits although no mail server is connected. */
const NOT_SENT = { label: 'Not sent', icon: IconMailOff, tone: 'plain' } as const;
/** For an email that a person waits for. */
const URGENT = { label: 'Urgent', icon: IconMailExclamation, tone: 'attention' } as const;

export function OutboxPage() {
  return (
    <Page title="Outbox" sentence="Emails that wait, and emails that were sent.">
      <Outbox />
    </Page>
  );
}

function Outbox() {
  const isAnswered = !useQuery(mailServerQuery).isPending;
  // Requested together with the server's state but rendered below it, so that no email moves.
  useQuery(outboxQuery);
  const [isConnecting, setIsConnecting] = useState(false);
  return (
    <>
      <Server onConnect={() => setIsConnecting(true)} isConnecting={isConnecting} />
      {isConnecting && <Steps />}
      {isAnswered && <Mails />}
    </>
  );
}

/** Whether emails are sent, and the consequences if they are not. */
function Server({ onConnect, isConnecting }: { onConnect: () => void; isConnecting: boolean }) {
  const { data: server, error } = useQuery(mailServerQuery);
  // The list below shows the error.
  if (error) return null;
  if (!server) return <LeadWaiting label="Reading whether emails go out" />;
  if (server.is_connected)
    return (
      <Lead
        tone="good"
        icon={IconMailForward}
        title="Emails go out"
        sentence={<Sentence text="They come from {sender}." parts={{ sender: <bdi>{shownEmail(server.sender ?? '')}</bdi> }} />}
      />
    );
  return (
    <Lead
      tone="attention"
      icon={IconMailOff}
      title="No email goes out"
      sentence="People get no password codes, invitations, or alerts by email until you connect a mail server."
      action={!isConnecting && <Button onClick={onConnect}>Connect a mail server</Button>}
    />
  );
}

/** The steps to connect a mail server. Their heading takes the focus of the button that showed them. */
function Steps() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="card" aria-labelledby="mail-steps">
      <h2 className="below-3" id="mail-steps" ref={heading} tabIndex={-1}>
        Connect a mail server
      </h2>
      <ol className="base decimal">
        <li>Ask your email provider for its SMTP address, a username, and a password.</li>
        <li>
          On the computer that runs Palisade, set this:
          <Row gap="2">
            <code className="break">{SETTING}</code>
            <CopyButton text={SETTING} copied="The setting was copied." label="Copy setting" size="s" />
          </Row>
        </li>
        <li>Restart Palisade. Unsent emails stay here; new ones go out.</li>
      </ol>
    </section>
  );
}

const SETTING = 'SMTP_URL=smtp://user:password@mail.example.com:587';

function Mails() {
  const list = useList(outboxQuery);
  const now = useMinute();
  const urgent = list.rows?.filter(({ is_urgent }) => is_urgent).length ?? 0;
  return (
    <ListCard
      title="Emails"
      of="the outbox"
      list={list}
      hasRefresh
      empty={
        <EmptyState
          icon={IconMailOpened}
          drawing={<Drawing of="letter" />}
          title="No emails yet"
          sentence="Emails with codes and account notices appear here, and wait until a mail server sends them."
        />
      }
    >
      {(mails) => (
        <>
          {urgent > 0 && (
            <p className="sub" role="status">
              {plural(urgent, {
                one: '1 email is urgent: someone waits for it.',
                other: `${formatNumber(urgent)} emails are urgent: people wait for them.`,
              })}
            </p>
          )}
          <Stack as="ul" lines aria-label="Emails">
            {mails
              .toSorted((one, other) => Number(other.is_urgent) - Number(one.is_urgent))
              .map((mail) => (
                <MailRow key={mail.id} mail={mail} now={now} />
              ))}
          </Stack>
        </>
      )}
    </ListCard>
  );
}

/** Actions of an administrator on an email that the server does not send itself. */
function PassOn({ mail: { id, recipient, status }, text }: { mail: Mail; text: string }) {
  const isSentLater = (useQuery(mailServerQuery).data?.is_connected ?? false) && status === 'waiting';
  const pass = useChange({ of: passOnMail, mutationFn: () => call(passOnMail, { body: { mail_id: id } }) });
  return (
    <Row gap="2" className="below-4">
      <CopyButton text={text} copied="The email was copied." label="Copy text" size="s" />
      <CopyButton text={shownEmail(recipient)} copied="The address was copied." label="Copy address" size="s" />
      {!isSentLater && (
        <Button
          variant="quiet"
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
    </Row>
  );
}

function MailRow({ mail, now }: { mail: Mail; now: number }) {
  const isConnected = useQuery(mailServerQuery).data?.is_connected ?? false;
  const { label, icon, tone } =
    mail.status !== 'waiting' ? STATUSES[mail.status] : mail.is_urgent ? URGENT : isConnected ? STATUSES.waiting : NOT_SENT;
  return (
    <li>
      <details className="mail-row">
        <Grid
          as="summary"
          columns="both"
          phone="under"
          gap="3"
          rowGap="0"
          align="center"
          className="hover pad-row rounded-s pointer"
        >
          <IconTile tone={tone} icon={IconMail} />
          <Stack as="span" className="shrink break">
            <span className="base medium">
              <bdi>{mail.subject}</bdi>
            </span>
            <span className="small muted">
              <Sentence text="to {email}" parts={{ email: <bdi>{shownEmail(mail.recipient)}</bdi> }} />
            </span>
          </Stack>
          <Row as="span" wrap={false} gap="3" className="full">
            <span className="small muted">
              <Moment iso={mail.sent_at ?? mail.created_at} now={now} />
            </span>
            <Badge tone={tone} icon={icon}>
              {label}
            </Badge>
            <IconChevronDown className="mail-row__open faint push" size={18} stroke={1.7} aria-hidden="true" />
          </Row>
        </Grid>
        {mail.last_error !== null && (
          <p className="small red break below-4">
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
          <p className="sub below-4">
            {mail.status === 'passed_on' ? 'You passed it on.' : 'It was handed to the mail server.'} Its text is not kept.
          </p>
        ) : (
          <>
            <pre className="mono small pre surface-sunken pad-m break below-4">{mail.text}</pre>
            {!mail.is_urgent && <PassOn mail={mail} text={mail.text} />}
          </>
        )}
      </details>
      {mail.is_urgent && mail.text !== null && <PassOn mail={mail} text={mail.text} />}
    </li>
  );
}
