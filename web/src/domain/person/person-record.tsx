import { formatDecimals, formatNumber, formatPercent, plural } from '@palisade/contract/intl';
import type { PersonRecord as Record } from '@palisade/contract/person-record';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import { IconGift, IconMessages } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { StatusBadge } from '#domain/status/state-badge.tsx';
import { Badge } from '#ui/badge.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { describeDate, describePlanEnd } from '#ui/moment.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { DeviceRows, describeInfected, RemoteSessionRows } from './card-rows.tsx';
import { personRecordQuery } from './person.queries.ts';
import './person-record.css';

/** The action on a conversation, and its state in a sentence. */
const CONVERSATION = {
  open: { action: 'Read and answer', sentence: 'Stays at the desk until someone closes it.' },
  snoozed: { action: 'Read and answer', sentence: 'Set aside. It comes back later, or with their next message.' },
  closed: { action: 'Read it', sentence: 'Closed. Their next message opens it again.' },
} as const;

/** A person's plan, devices, alerts, conversation and remote sessions, limited by the reader's role. */
export function PersonRecord({ user_id }: { user_id: string }) {
  const { data: record, error, refetch } = useQuery(personRecordQuery(user_id));
  if (record) return <Shown record={record} />;
  if (!error) return <LoadingRows label="Loading the record" />;
  return <ErrorNotice title="We couldn’t load the record" sentence={sentenceOf(error)} onRetry={() => void refetch()} />;
}

function Shown({ record: { card, conversation, administration } }: { record: Record }) {
  const isAdmin = useMayAdministrate();
  const { clean, infected, pending, test_files } = card.scans;
  const gravest = administration?.alerts.gravest;
  // Only administrators open the log and the sessions of everyone.
  const logOf = (group: string) =>
    isAdmin ? `/admin/audit?person=${encodeURIComponent(card.email)}&kind=all-${group}` : undefined;
  return (
    <Grid gap="4" className="record">
      <Part title="State">
        <li>
          <StatusBadge state={card.status.state} />
          <span>
            {`Score ${formatPercent(card.security_score / 100)}${card.status.is_scored ? '' : ' for now'}, ${plural(
              card.status.steps,
              {
                one: '1 open step',
                other: `${formatNumber(card.status.steps)} open steps`,
              },
            )}`}
          </span>
        </li>
        <li>
          <span>{`They read: “${card.status.sentence}”`}</span>
        </li>
      </Part>
      <Part
        title="Plan"
        action={
          isAdmin && (
            <ScreenLink to={`/subscription-manager?tab=assign&email=${encodeURIComponent(card.email)}`} variant="quiet" size="s">
              <IconGift size={16} stroke={1.7} aria-hidden="true" />
              Assign a plan
            </ScreenLink>
          )
        }
      >
        <li>
          <Badge tone={card.is_premium ? 'safe' : 'plain'}>{card.plan_name ?? 'No plan'}</Badge>
          <span>{administration?.plan ? describePlan(administration.plan) : `Customer since ${describeDate(card.since)}`}</span>
        </li>
      </Part>
      <Grid as="dl" columns="4" gap="3" className="record__figures num span">
        <Figure
          name="Open alerts"
          value={formatNumber(card.open_alerts)}
          line={gravest ? `worst: ${gravest.severity}` : undefined}
          to={logOf('alerts')}
        />
        <Figure
          name="Files checked"
          value={formatNumber(clean + infected + pending + test_files)}
          line={describeInfected(card.scans)}
          to={logOf('files')}
        />
        <Figure name="Devices" value={formatNumber(card.devices.length)} to={logOf('devices')} />
        <Figure
          name="Conversations closed"
          value={formatNumber(card.conversations_closed)}
          line={card.ratings.average === null ? undefined : `rated ${formatDecimals(card.ratings.average, 1)} of 5`}
          to={conversation ? `/support?conversation=${conversation.id}` : undefined}
        />
      </Grid>
      <Part
        title="Conversation"
        nothing={conversation === null ? 'No messages yet.' : undefined}
        action={
          conversation && (
            <ScreenLink to={`/support?conversation=${conversation.id}`} variant="quiet" size="s">
              <IconMessages size={16} stroke={1.7} aria-hidden="true" />
              {CONVERSATION[conversation.status].action}
            </ScreenLink>
          )
        }
      >
        {conversation && (
          <li>
            <span>{CONVERSATION[conversation.status].sentence}</span>
          </li>
        )}
      </Part>
      <Part title="Devices" nothing={card.devices.length === 0 ? 'No devices yet.' : undefined}>
        <DeviceRows devices={card.devices} />
      </Part>
      <Part
        title="Remote sessions"
        nothing={card.remote_sessions.length === 0 ? 'No remote sessions yet.' : undefined}
        action={
          isAdmin &&
          card.remote_sessions.length > 0 && (
            <Link to={`/admin/remote-sessions?search=${encodeURIComponent(card.username)}`} className="small">
              All sessions
            </Link>
          )
        }
      >
        <RemoteSessionRows sessions={card.remote_sessions} />
      </Part>
      <p className="sub span">Opening this record is logged.</p>
    </Grid>
  );
}

function describePlan({ expires_at, max_devices }: NonNullable<NonNullable<Record['administration']>['plan']>): string {
  const end = expires_at === null ? 'No end date' : `Ends ${describePlanEnd(expires_at)}`;
  if (max_devices === UNLIMITED_DEVICES) return `${end}, any number of computers`;
  return plural(max_devices, { one: `${end}, 1 computer`, other: `${end}, ${formatNumber(max_devices)} computers` });
}

interface FigureProps {
  name: string;
  value: string;
  line?: string | undefined;
  /** The list behind the figure, if the reader may open it. */
  to: string | undefined;
}

function Figure({ name, value, line, to }: FigureProps) {
  return (
    <div className="surface-sunken pad-s">
      <dt className="small muted">{name}</dt>
      <dd className="title">
        {to === undefined ? (
          value
        ) : (
          <Link to={to} className="ink">
            {value}
          </Link>
        )}
      </dd>
      {line !== undefined && <dd className="small medium muted">{line}</dd>}
    </div>
  );
}

interface PartProps {
  title: string;
  action?: ReactNode;
  /** Text in place of the list. */
  nothing?: string | undefined;
  children: ReactNode;
}

function Part({ title, action, nothing, children }: PartProps) {
  return (
    <section className="record__part surface-plain pad-m shrink" aria-label={title}>
      <Row gap="3" rowGap="1" justify="between" className="below-1">
        <h3 className="base bold">{title}</h3>
        {action}
      </Row>
      {nothing === undefined ? <ul className="base break">{children}</ul> : <p className="sub">{nothing}</p>}
    </section>
  );
}
