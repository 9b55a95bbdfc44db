import type { Monitor } from '@palisade/contract/alerts';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { IconAlertTriangle, IconEyeOff, IconFilterOff, IconShieldCheck } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { describeDate } from '#ui/moment.tsx';
import { EmptyState } from '#ui/states.tsx';
import { ACTIVE, type AlertChoice } from './alerts.queries.ts';

const WATCHES: Record<Monitor['watches'][number]['id'], string> = {
  files: 'uploaded files',
  sign_ins: 'sign-ins',
  requests: 'requests',
};

interface NoAlertsProps {
  choice: AlertChoice;
  monitor: Monitor | undefined;
  onChoose: (choice: AlertChoice) => void;
}

/** The reason why a list is empty: no findings, no watched events, or filters that hide all alerts. */
export function NoAlerts({ choice, monitor, onChoose }: NoAlertsProps) {
  const { severity, type, simulated, search } = choice;
  const isNarrowed = severity !== undefined || type !== undefined || simulated === 'true' || search !== '';
  if (isNarrowed) {
    const hidden = monitor && countOf(monitor, choice);
    return (
      <EmptyState
        icon={IconFilterOff}
        title="Nothing matches these filters"
        sentence={
          hidden
            ? plural(hidden, { one: 'They hide 1 alert.', other: `They hide ${formatNumber(hidden)} alerts.` })
            : 'There are no other alerts.'
        }
        action={
          <Button variant="quiet" onClick={() => onChoose({ ...ACTIVE, status: choice.status })}>
            Show all
          </Button>
        }
      />
    );
  }
  if (choice.status === 'resolved')
    return (
      <EmptyState
        icon={IconShieldCheck}
        title="Nothing resolved yet"
        sentence="Alerts you resolve are listed here with your reasons."
      />
    );
  if (choice.status === 'hidden')
    return (
      <EmptyState
        icon={IconEyeOff}
        title="Nothing is hidden"
        sentence="You can hide a false alarm for 30 days. Hidden alerts are listed here."
      />
    );
  return <NoneFound monitor={monitor} onChoose={onChoose} />;
}

function countOf({ alerts }: Monitor, { status, simulated }: AlertChoice): number {
  if (status === 'active' && simulated === 'false') return alerts.real;
  if (status === 'hidden' || status === 'resolved' || status === 'active') return alerts[status];
  return alerts.active + alerts.resolved;
}

/** Shown if there is no active alert. The watched events show what was checked. */
function NoneFound({ monitor, onChoose }: Omit<NoAlertsProps, 'choice'>) {
  if (!monitor)
    return <EmptyState icon={IconShieldCheck} title="No active threats" sentence="We couldn’t load what is watched." />;
  const watched = monitor.watches.filter(({ is_watched }) => is_watched).map(({ id }) => WATCHES[id]);
  const reasons = monitor.watches.flatMap(({ reason }) => reason ?? []);
  const isBlind = watched.length === 0;
  const since = describeDate(monitor.watching_since);
  const sentences = [
    ...(isBlind ? [] : [`No alert is open. Palisade watches ${formatList(watched)}, since ${since}.`]),
    ...reasons,
  ];
  const { hidden } = monitor.alerts;
  return (
    <EmptyState
      isSmall={!isBlind}
      icon={isBlind ? IconAlertTriangle : IconShieldCheck}
      title={isBlind ? 'Not monitoring' : 'No active threats'}
      sentence={[
        ...sentences,
        ...(hidden > 0
          ? [plural(hidden, { one: '1 alert kept out by you.', other: `${formatNumber(hidden)} alerts kept out by you.` })]
          : []),
      ].join(' ')}
      action={
        hidden > 0 && (
          <Button variant="quiet" onClick={() => onChoose({ ...ACTIVE, status: 'hidden' })}>
            Show hidden
          </Button>
        )
      }
    />
  );
}
