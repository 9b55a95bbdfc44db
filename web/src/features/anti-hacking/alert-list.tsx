import type { Alert } from '@palisade/contract/anti-hacking';
import { IconChevronRight, IconRefresh } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, useTransition } from 'react';
import { Link } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { AlertFilters } from './alert-filters.tsx';
import { ACTIVE, alertsQuery, monitorQuery } from './alerts.queries.ts';
import { NoAlerts } from './no-alerts.tsx';
import { Suppressions } from './suppressions.tsx';
import { describeType, OutcomeBadges, SeverityBadge, StatusBadge, ThreatIcon, TimesBadge } from './threat.tsx';
import './alert-list.css';

export function AlertList() {
  const [choice, setChoice] = useState(ACTIVE);
  const { data: alerts, error, refetch } = useQuery({ ...alertsQuery(choice), placeholderData: keepPreviousData });
  const monitor = useQuery(monitorQuery);
  const [isRefreshing, startRefresh] = useTransition();
  const now = useMinute();
  const refresh = () =>
    startRefresh(async () => {
      await Promise.all([refetch(), monitor.refetch()]);
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
      <AlertFilters choice={choice} counts={monitor.data?.alerts} onChange={setChoice} />
      {error && <ErrorNotice title="Error fetching anti-hacking alerts" sentence={sentenceOf(error)} onRetry={refresh} />}
      {!alerts && !error && <LoadingRows label="Loading the alerts" />}
      {alerts?.length === 0 && <NoAlerts choice={choice} monitor={monitor.data} onChoose={setChoice} />}
      {alerts && alerts.length > 0 && (
        <ul aria-label="Alerts">
          {alerts.map((alert) => (
            <AlertRow key={alert.id} alert={alert} now={now} />
          ))}
        </ul>
      )}
      <Suppressions />
    </Card>
  );
}

function AlertRow({ alert, now }: { alert: Alert; now: number }) {
  return (
    <li className="alert-row" data-status={alert.status}>
      <ThreatIcon alert={alert} />
      <div className="alert-row__what">
        <div className="alert-row__head">
          <Link to={`?alert=${alert.id}`} preventScrollReset className="alert-row__open">
            {describeType(alert.threat_type)}
          </Link>
          <TimesBadge count={alert.count} />
          <SeverityBadge severity={alert.severity} />
          <OutcomeBadges alert={alert} />
          <StatusBadge alert={alert} />
        </div>
        <p>
          <bdi>{alert.description}</bdi>
        </p>
        <p className="alert-row__when">
          <span>
            Detected <Moment iso={alert.created_at} now={now} />
          </span>
          {alert.count > 1 && (
            <span>
              last <Moment iso={alert.last_seen} now={now} />
            </span>
          )}
          {alert.ip_address !== null && (
            <span>
              Source IP <code>{alert.ip_address}</code>
            </span>
          )}
        </p>
      </div>
      <IconChevronRight className="alert-row__chevron" size={18} stroke={1.7} aria-hidden="true" />
    </li>
  );
}
