import type { Alert } from '@palisade/contract/anti-hacking';
import { IconChevronRight } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { Link } from 'react-router';
import { leftOf, rowsOf } from '#api/pages.ts';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Button } from '#ui/button.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { AlertFilters } from './alert-filters.tsx';
import { ACTIVE, alertsQuery, monitorQuery, SIMULATED, useSimulatedAlerts } from './alerts.queries.ts';
import { NoAlerts } from './no-alerts.tsx';
import { Suppressions } from './suppressions.tsx';
import { describeType, OutcomeBadges, SeverityBadge, StatusBadge, ThreatIcon, TimesBadge } from './threat.tsx';
import './alert-list.css';

interface AlertListProps {
  /** False until the list and the parts below it may render. */
  isDrawn: boolean;
}

export const AlertList = memo(function AlertList({ isDrawn }: AlertListProps) {
  const [chosen, setChoice] = useState(ACTIVE);
  const choice = { ...chosen, search: useSearched(chosen.search) };
  const { data, isPlaceholderData, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...alertsQuery(choice),
    placeholderData: keepPreviousData,
  });
  const alerts = rowsOf(data);
  const monitor = useQuery(monitorQuery);
  const now = useMinute();
  return (
    <RefreshedCard title="Security alerts" onRefresh={() => Promise.all([refetch(), monitor.refetch()])}>
      {(refresh) => (
        <FocusKept>
          <AlertFilters choice={chosen} counts={monitor.data?.alerts} onChange={setChoice} />
          <Listed
            of="the alerts"
            failed="Error fetching anti-hacking alerts"
            list={{ rows: isDrawn ? alerts : undefined, isOutdated: isPlaceholderData, error, refetch: refresh }}
            empty={<NoAlerts choice={choice} monitor={monitor.data} onChoose={setChoice} />}
          >
            {(rows) => (
              <ul aria-label="Alerts">
                {rows.map((alert) => (
                  <AlertRow key={alert.id} alert={alert} now={now} />
                ))}
              </ul>
            )}
          </Listed>
          {isDrawn && hasNextPage && !isPlaceholderData && (
            <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={fetchNextPage} />
          )}
          {isDrawn && chosen.simulated === 'false' && chosen.status === 'active' && (
            <SimulatedAlerts now={now} onShowAll={() => setChoice(SIMULATED)} />
          )}
          {isDrawn && <Suppressions />}
        </FocusKept>
      )}
    </RefreshedCard>
  );
});

/** Maximum number of simulated alerts below the real ones. */
const SIMULATED_SHOWN = 3;

/** Active simulated alerts, separate from real ones. */
function SimulatedAlerts({ now, onShowAll }: { now: number; onShowAll: () => void }) {
  const { count, rows } = useSimulatedAlerts();
  if (count === 0 || !rows?.length) return null;
  return (
    <section className="simulated-alerts" aria-labelledby="simulated-alerts">
      <div className="simulated-alerts__head">
        <div>
          <h3 id="simulated-alerts">Simulated alerts</h3>
          <p className="sub">These didn’t happen and don’t count.</p>
        </div>
        {count > SIMULATED_SHOWN && <Button variant="text" size="s" onClick={onShowAll}>{`Show all ${count}`}</Button>}
      </div>
      <ul aria-label="Simulated threats">
        {rows.slice(0, SIMULATED_SHOWN).map((alert) => (
          <AlertRow key={alert.id} alert={alert} now={now} />
        ))}
      </ul>
    </section>
  );
}

const AlertRow = memo(function AlertRow({ alert, now }: { alert: Alert; now: number }) {
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
            <Sentence text="Detected {when}" parts={{ when: <Moment iso={alert.created_at} now={now} /> }} />
          </span>
          {alert.count > 1 && (
            <span>
              <Sentence text="last {when}" parts={{ when: <Moment iso={alert.last_seen} now={now} /> }} />
            </span>
          )}
          {alert.ip_address !== null && (
            <span>
              <Sentence text="Source IP {address}" parts={{ address: <code>{alert.ip_address}</code> }} />
            </span>
          )}
        </p>
      </div>
      <span className="alert-row__show">
        <ShowToSupport kind="alert" id={alert.id} name={alert.description} isSmall />
      </span>
      <IconChevronRight className="alert-row__chevron" size={18} stroke={1.7} aria-hidden="true" />
    </li>
  );
});
