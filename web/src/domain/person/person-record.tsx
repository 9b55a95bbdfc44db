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
  const found = describeInfected(card.scans);
  const gravest = administration?.alerts.gravest;
  // Only administrators open the log and the sessions of everyone.
  const logOf = (group: string) =>
    isAdmin ? `/admin/audit?person=${encodeURIComponent(card.email)}&kind=all-${group}` : undefined;
  return (
    <Grid columns="2" phone="stack" gap="4">
      <Part title="State">
        <li>
          <StatusBadge state={card.status.state} />
          <span>
            {`${card.status.is_scored ? `Score ${formatPercent(card.security_score / 100)}` : 'No score yet'}, ${plural(
              card.status.steps,
              {
                one: '1 open step',
                other: `${formatNumber(card.status.steps)} open steps`,
              },
            )}`}
          </span>
        </li>
        <li>
          <span>{`They see: “${card.status.sentence}”`}</span>
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
      <Part title="Open alerts" count={card.open_alerts} to={logOf('alerts')}>
        {gravest && <li>{`Worst: ${gravest.severity}`}</li>}
      </Part>
      <Part title="Files checked" count={clean + infected + pending + test_files} to={logOf('files')}>
        {found !== undefined && <li>{found}</li>}
      </Part>
      <Part title="Devices" count={card.devices.length} to={logOf('devices')}>
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
      <Part
        title="Conversation"
        isWide
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
        {conversation && <li>{CONVERSATION[conversation.status].sentence}</li>}
        {card.conversations_closed > 0 && <li>{describeClosed(card)}</li>}
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

function describeClosed({ conversations_closed: count, ratings: { average } }: Record['card']): string {
  const closed = plural(count, { one: 'Closed once before', other: `Closed ${formatNumber(count)} times before` });
  return average === null ? `${closed}.` : `${closed}, rated ${formatDecimals(average, 1)} of 5.`;
}

interface PartProps {
  title: string;
  count?: number;
  /** The list behind the count, if the reader may open it. */
  to?: string | undefined;
  action?: ReactNode;
  /** Text shown in place of an empty list. */
  nothing?: string | undefined;
  isWide?: boolean;
  children: ReactNode;
}

function Part({ title, count, to, action, nothing, isWide = false, children }: PartProps) {
  return (
    <section className={`record__part surface-plain pad-m shrink ${isWide ? 'span' : ''}`} aria-label={title}>
      <Row gap="3" rowGap="1" justify="between">
        <h3 className="base bold">{title}</h3>
        {action}
        {count !== undefined && <Count name={title} count={count} to={to} />}
      </Row>
      {nothing === undefined ? <ul className="base break">{children}</ul> : <p className="sub">{nothing}</p>}
    </section>
  );
}

function Count({ name, count, to }: { name: string; count: number; to: string | undefined }) {
  const words = formatNumber(count);
  if (to === undefined) return <b className="large bold num">{words}</b>;
  return (
    <Link to={to} className="large bold num" aria-label={`${name}: ${words}`}>
      {words}
    </Link>
  );
}
