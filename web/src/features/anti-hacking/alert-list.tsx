import { isOfTestFile } from '@palisade/contract/alert-advice';
import type { Alert } from '@palisade/contract/anti-hacking';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { leftOf, rowsOf } from '#api/pages.ts';
import { Button } from '#ui/button.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Row } from '#ui/layout.tsx';
import { useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { describeUncounted } from '#ui/test-files.ts';
import { AlertFilters } from './alert-filters.tsx';
import { AlertRow } from './alert-row.tsx';
import { ACTIVE, type AlertChoice, alertsQuery, monitorQuery, SIMULATED, useSimulatedAlerts } from './alerts.queries.ts';
import { NoAlerts } from './no-alerts.tsx';
import { Suppressions } from './suppressions.tsx';
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
  const { alerts, tests } = withoutTests(rowsOf(data), choice);
  const monitor = useQuery(monitorQuery);
  const counts = monitor.data?.alerts;
  const isNothingKept = counts && chosen === ACTIVE && !alerts?.length && counts.active + counts.resolved + counts.hidden === 0;
  const now = useMinute();
  return (
    <RefreshedCard title="Security alerts" onRefresh={() => Promise.all([refetch(), monitor.refetch()])}>
      {(refresh) => (
        <FocusKept>
          {!isNothingKept && <AlertFilters choice={chosen} counts={counts} onChange={setChoice} />}
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
          {isDrawn && tests.length > 0 && (
            <details className="alerts-folded above-3 small">
              <summary className="muted pointer">{describeUncounted(tests.length)}</summary>
              <ul aria-label="Harmless test files">
                {tests.map((alert) => (
                  <AlertRow key={alert.id} alert={alert} now={now} />
                ))}
              </ul>
            </details>
          )}
          {isDrawn && hasNextPage && !isPlaceholderData && (
            <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={fetchNextPage} />
          )}
          {isDrawn && !listsDrills(chosen) && <SimulatedAlerts now={now} onShowAll={() => setChoice(SIMULATED)} />}
          {isDrawn && <Suppressions />}
        </FocusKept>
      )}
    </RefreshedCard>
  );
});

/** In the list of active alerts, those about test files are shown separately. */
function withoutTests(rows: readonly Alert[] | undefined, { status, simulated }: AlertChoice) {
  if (rows === undefined || status !== 'active' || simulated !== 'false') return { alerts: rows, tests: [] };
  return { alerts: rows.filter((alert) => !isOfTestFile(alert)), tests: rows.filter(isOfTestFile) };
}

/** True if a list already shows every active simulated alert, so that the separate list is omitted. */
function listsDrills({ status, severity, type, simulated, search }: AlertChoice): boolean {
  const isWhole = severity === undefined && type === undefined && search === '';
  return isWhole && simulated !== 'false' && (status === undefined || status === 'active');
}

/** Maximum number of simulated alerts below the real ones, latest first. */
const SIMULATED_SHOWN = 1;

/** Active simulated alerts, separate from real ones. */
function SimulatedAlerts({ now, onShowAll }: { now: number; onShowAll: () => void }) {
  const { count, rows } = useSimulatedAlerts();
  if (count === 0 || !rows?.length) return null;
  return (
    <section className="simulated-alerts surface-plain pad-m above-4 rounded" aria-labelledby="simulated-alerts">
      <Row wrap={false} gap="3" justify="between">
        <Row gap="2" rowGap="0" align="baseline">
          <h3 className="base bold" id="simulated-alerts">
            Simulated alerts
          </h3>
          <p className="small muted">These didn’t happen and don’t count.</p>
        </Row>
        {count > SIMULATED_SHOWN && (
          <span className="fixed nowrap">
            <Button variant="text" size="s" onClick={onShowAll}>{`Show all ${count}`}</Button>
          </span>
        )}
      </Row>
      <ul aria-label="Simulated threats">
        {rows.slice(0, SIMULATED_SHOWN).map((alert) => (
          <AlertRow key={alert.id} alert={alert} now={now} />
        ))}
      </ul>
    </section>
  );
}
