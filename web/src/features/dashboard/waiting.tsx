import { formatNumber, plural } from '@palisade/contract/intl';
import { type Overview, PLANS_END_WITHIN_DAYS } from '@palisade/contract/overview';
import {
  IconAlertTriangle,
  IconCalendarDue,
  IconCircleCheck,
  IconCreditCardPay,
  IconFlag,
  IconInbox,
  IconMailQuestion,
  IconMessages,
  type TablerIcon,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '#domain/overview/overview.ts';
import { IconTile } from '#ui/badge.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import './waiting.css';

interface Kind {
  of: keyof Overview['waiting'];
  icon: TablerIcon;
  /** Words after the number. */
  what: { one: string; other: string };
  /** Label of the action, and the screen for it. */
  action: string;
  to: string;
}

/** Most urgent first: waiting people before records. */
const KINDS: readonly Kind[] = [
  {
    of: 'conversations',
    icon: IconMessages,
    what: { one: 'chat has no answer', other: 'chats have no answer' },
    action: 'Answer',
    to: '/support?view=all',
  },
  {
    of: 'plan_requests',
    icon: IconCreditCardPay,
    what: { one: 'plan request', other: 'plan requests' },
    action: 'Decide',
    to: '/subscription-manager?tab=manage',
  },
  {
    of: 'jobs',
    icon: IconAlertTriangle,
    what: { one: 'background task failed', other: 'background tasks failed' },
    action: 'See why',
    to: '/admin/setup',
  },
  {
    of: 'mails',
    icon: IconInbox,
    what: { one: 'email waits in the outbox', other: 'emails wait in the outbox' },
    action: 'Pass on',
    to: '/admin/outbox',
  },
  {
    of: 'false_alarms',
    icon: IconFlag,
    what: { one: 'disputed scan result', other: 'disputed scan results' },
    action: 'Review',
    to: '/admin/false-alarms',
  },
  {
    of: 'plans_ending',
    icon: IconCalendarDue,
    what: { one: `plan ends within ${PLANS_END_WITHIN_DAYS} days`, other: `plans end within ${PLANS_END_WITHIN_DAYS} days` },
    action: 'Renew',
    to: '/subscription-manager?tab=manage',
  },
  {
    of: 'unproven',
    icon: IconMailQuestion,
    what: { one: 'person has not confirmed their email', other: 'people have not confirmed their email' },
    action: 'See who',
    to: '/admin/users?state=unproven',
  },
];

/** Counts that wait for an administrator, each with one action. Shown above the administrator's dashboard. */
export function Waiting() {
  const { data: overview } = useQuery(overviewQuery);
  if (!overview) return null;
  const kinds = KINDS.filter(({ of }) => overview.waiting[of] > 0);
  return (
    <section className="card waiting" aria-labelledby="waiting">
      <h2 id="waiting">Waiting for you</h2>
      {kinds.length === 0 ? (
        <p className="waiting__none">
          <IconCircleCheck size={18} stroke={1.7} aria-hidden="true" />
          Nothing. New chats, requests and reports appear here.
        </p>
      ) : (
        <ul className="waiting__list">
          {kinds.map((kind) => (
            <WaitingRow key={kind.of} {...kind} count={overview.waiting[kind.of]} />
          ))}
        </ul>
      )}
    </section>
  );
}

function WaitingRow({ icon, what, action, to, count }: Kind & { count: number }) {
  return (
    <li className="waiting__row">
      <IconTile tone="attention" icon={icon} />
      <span className="waiting__what">
        <b className="num">{formatNumber(count)}</b> {plural(count, what)}
      </span>
      <ScreenLink to={to} variant="quiet" size="s">
        {action}
        <span className="visually-hidden">: {what.other}</span>
      </ScreenLink>
    </li>
  );
}
