import type { DashboardStatus } from '@palisade/contract/dashboard';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { useConfig } from '#api/config.ts';
import { dashboardQuery } from '#api/dashboard.ts';
import { isWaiting, WAITING_INTERVAL } from '#api/scans.ts';
import { Page } from '#ui/page.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { ActionCards } from './action-cards.tsx';
import { ActivityLog } from './activity-log.tsx';
import { Clock, Today } from './clock.tsx';
import { Hero } from './hero.tsx';
import { PlanPanel } from './plan-panel.tsx';
import { useSimulatedCounters } from './simulated-counters.ts';
import { StatCards } from './stat-cards.tsx';
import { SystemHealth } from './system-health.tsx';
import './dashboard-page.css';

/** How often the status is read anew while real-time updates are on, in ms; sooner while a file waits for an engine. */
const UPDATE_INTERVAL = 30_000;

function intervalOf(status: DashboardStatus | undefined): number {
  return status?.recent_scans.some(isWaiting) ? WAITING_INTERVAL : UPDATE_INTERVAL;
}

export function DashboardPage({ random = Math.random }: { random?: () => number }) {
  const [isRealTime, setIsRealTime] = useState(true);
  const {
    data: status,
    error,
    refetch,
  } = useQuery({ ...dashboardQuery, refetchInterval: ({ state }) => (isRealTime ? intervalOf(state.data) : false) });
  const isDemo = useConfig()?.demo ?? false;
  const counters = useSimulatedCounters(isRealTime && isDemo, random);
  const failure = error ? sentenceOf(error) : undefined;
  return (
    <Page
      title="Security dashboard"
      sentence={<Today />}
      aside={
        <div className="dashboard__aside">
          <Clock />
          <Toggle label="Real-time updates" isOn={isRealTime} onChange={setIsRealTime} />
        </div>
      }
    >
      <Hero status={status} isUnknown={failure !== undefined} />
      <StatCards status={status} simulated={isDemo ? counters : undefined} />
      <div className="dashboard__columns">
        <div className="dashboard__column">
          <ActivityLog scans={status?.recent_scans} failure={failure} onRetry={() => void refetch()} />
          <ActionCards />
        </div>
        <div className="dashboard__column">
          {status && <PlanPanel plan={status.subscription} />}
          {isDemo && <SystemHealth />}
        </div>
      </div>
    </Page>
  );
}
