import type { Home } from '@palisade/contract/home';
import { formatNumber, plural } from '@palisade/contract/intl';
import type { Overview } from '@palisade/contract/overview';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCreditCardPay,
  IconFlag,
  IconInbox,
  IconMailOff,
  IconMailQuestion,
  IconMessages,
  IconScreenShare,
  IconShieldExclamation,
  type TablerIcon,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '#domain/overview/overview.ts';
import { IconTile } from '#ui/badge.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Row, Stack } from '#ui/layout.tsx';

interface Kind {
  key: string;
  count: (overview: Overview, home: Home | undefined) => number;
  icon: TablerIcon;
  /** Words after the number. */
  what: { one: string; other: string };
  /** The text of a row without a number. */
  sentence?: string;
  /** Label of the action, and the address of its screen. */
  action: string;
  to: string;
  isDanger?: boolean;
}

/** Address of a person’s record. */
const recordOf = (id: string) => `/admin/users?person=${id}`;

/** A row for each named person in danger. */
const kindsInDanger = (home: Home | undefined): Kind[] =>
  (home?.in_danger ?? []).map(({ id, username }) => ({
    ...{ key: id, count: () => 1, icon: IconShieldExclamation, isDanger: true },
    sentence: `${username} is in danger`,
    what: { one: username, other: username },
    ...{ action: 'Open record', to: recordOf(id) },
  }));

/** Most urgent first: waiting people before records. */
const KINDS: readonly Kind[] = [
  {
    key: 'in_danger',
    count: (_, home) => (home ? home.people.at_risk - home.in_danger.length : 0),
    icon: IconShieldExclamation,
    isDanger: true,
    what: { one: 'other person is in danger', other: 'other people are in danger' },
    action: 'See who',
    to: '/admin/users?state=at_risk',
  },
  {
    key: 'mail_server',
    count: ({ is_mail_connected }) => (is_mail_connected ? 0 : 1),
    icon: IconMailOff,
    sentence: 'No email goes out: people get no password codes.',
    what: { one: 'mail server', other: 'mail server' },
    action: 'Connect',
    to: '/admin/outbox',
  },
  {
    key: 'remote_requests',
    count: ({ waiting }) => waiting.remote_requests,
    icon: IconScreenShare,
    what: { one: 'customer waits for remote help', other: 'customers wait for remote help' },
    action: 'Enter code',
    to: '/portal',
  },
  {
    key: 'conversations',
    count: ({ waiting }) => waiting.conversations,
    icon: IconMessages,
    what: { one: 'chat has no answer', other: 'chats have no answer' },
    action: 'Answer',
    to: '/support?view=all',
  },
  {
    key: 'plan_requests',
    count: ({ waiting }) => waiting.plan_requests,
    icon: IconCreditCardPay,
    what: { one: 'plan request', other: 'plan requests' },
    action: 'Decide',
    to: '/subscription-manager?tab=manage',
  },
  {
    key: 'jobs',
    count: ({ waiting }) => waiting.jobs,
    icon: IconAlertTriangle,
    what: { one: 'background task failed', other: 'background tasks failed' },
    action: 'See why',
    to: '/admin/setup',
  },
  {
    key: 'mails',
    count: ({ waiting }) => waiting.mails,
    icon: IconInbox,
    what: { one: 'email waits in the outbox', other: 'emails wait in the outbox' },
    action: 'Pass on',
    to: '/admin/outbox',
  },
  {
    key: 'false_alarms',
    count: ({ waiting }) => waiting.false_alarms,
    icon: IconFlag,
    what: { one: 'disputed scan result', other: 'disputed scan results' },
    action: 'Review',
    to: '/admin/false-alarms',
  },
  {
    key: 'unproven',
    count: ({ waiting }) => waiting.unproven,
    icon: IconMailQuestion,
    what: { one: 'person has not confirmed their email', other: 'people have not confirmed their email' },
    action: 'See who',
    to: '/admin/users?state=unproven',
  },
];

/** Counts that wait for an administrator, each with one action. */
export function Waiting({ home }: { home: Home | undefined }) {
  const { data: overview } = useQuery(overviewQuery);
  if (!overview) return null;
  const kinds = [...kindsInDanger(home), ...KINDS]
    .map((kind) => ({ ...kind, waiting: kind.count(overview, home) }))
    .filter(({ waiting }) => waiting > 0);
  return (
    <section className="card waiting" data-level="raised" aria-labelledby="waiting">
      <h2 className="below-3" id="waiting">
        Waiting for you
      </h2>
      {kinds.length === 0 ? (
        <Row as="p" wrap={false} gap="2" className="muted">
          <IconCircleCheck className="fixed accent" size={18} stroke={1.7} aria-hidden="true" />
          Nothing. New chats, requests and reports appear here.
        </Row>
      ) : (
        <Stack as="ul">
          {kinds.map(({ key, waiting, ...kind }, place) => (
            <WaitingRow key={key} {...kind} count={waiting} isFirst={place === 0} />
          ))}
        </Stack>
      )}
    </section>
  );
}

interface WaitingRowProps extends Omit<Kind, 'key' | 'count'> {
  count: number;
  isFirst: boolean;
}

function WaitingRow({ icon, what, sentence, action, to, count, isDanger = false, isFirst }: WaitingRowProps) {
  return (
    <Row as="li" wrap={false} gap="3" className="pad-row line-above">
      <IconTile tone={isDanger ? 'danger' : 'attention'} icon={icon} />
      <span className="waiting__what grow shrink muted base">
        {sentence === undefined ? (
          <>
            <b className="num ink large bold">{formatNumber(count)}</b> {plural(count, what)}
          </>
        ) : (
          <bdi className="ink">{sentence}</bdi>
        )}
      </span>
      <ScreenLink to={to} variant={isFirst ? 'primary' : 'quiet'} size="s">
        {action}
        <span className="visually-hidden">: {what.other}</span>
      </ScreenLink>
    </Row>
  );
}
