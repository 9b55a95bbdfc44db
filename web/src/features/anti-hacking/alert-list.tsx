import type { Alert } from '@palisade/contract/anti-hacking';
import { IconRefresh, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTransition } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { alertsQuery } from './anti-hacking.queries.ts';
import { describeType, OutcomeBadges, SeverityBadge, ThreatIcon } from './threat.tsx';

export function AlertList() {
  const { data: alerts, error, refetch } = useQuery(alertsQuery);
  const [isRefreshing, startRefresh] = useTransition();
  const now = useMinute();
  const refresh = () =>
    startRefresh(async () => {
      await refetch();
    });
  return (
    <Card
      title="Security alerts"
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
      {error && <ErrorNotice title="Error fetching anti-hacking alerts" sentence={sentenceOf(error)} onRetry={refresh} />}
      {!alerts && !error && <LoadingRows label="Loading the alerts" />}
      {alerts?.length === 0 && (
        <EmptyState
          icon={<IconShieldCheck size={28} stroke={1.7} />}
          title="No active threats"
          sentence="Dangerous files that scanning finds are raised here. Sign-ins and network traffic are not watched yet."
        />
      )}
      {alerts && alerts.length > 0 && (
        <ul aria-label="Alerts">
          {alerts.map((alert) => (
            <AlertRow key={alert.id} alert={alert} now={now} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function AlertRow({ alert, now }: { alert: Alert; now: number }) {
  return (
    <li className="alert-row">
      <ThreatIcon alert={alert} />
      <div className="alert-row__what">
        <div className="alert-row__head">
          <b>{describeType(alert.threat_type)}</b>
          <SeverityBadge severity={alert.severity} />
          <OutcomeBadges alert={alert} />
        </div>
        <p>
          <bdi>{alert.description}</bdi>
        </p>
        <p className="alert-row__when">
          <span>
            Detected <Moment iso={alert.created_at} now={now} />
          </span>
          {alert.ip_address !== null && (
            <span>
              Source IP <code>{alert.ip_address}</code>
            </span>
          )}
        </p>
      </div>
    </li>
  );
}
