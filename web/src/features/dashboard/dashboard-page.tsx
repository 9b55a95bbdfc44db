import type { DashboardStatus } from '@palisade/contract/dashboard';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { useConfig, useIsConfigAnswered } from '#api/config.ts';
import { endStart } from '#api/start.ts';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import { isWaiting, WAITING_INTERVAL } from '#domain/scan/scans.ts';
import { Grid, Stack } from '#ui/layout.tsx';
import { Page } from '#ui/page.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { ActionCards } from './action-cards.tsx';
import { ActivityLog } from './activity-log.tsx';
import { Clock, Today } from './clock.tsx';
import { DevicesCard } from './devices-card.tsx';
import { Hero } from './hero.tsx';
import { PlanPanel } from './plan-panel.tsx';
import { useSimulatedCounters } from './simulated-counters.ts';
import { StatCards } from './stat-cards.tsx';
import { SystemHealth } from './system-health.tsx';
import './dashboard-page.css';

/** Interval at which the status is refetched while real-time updates are on, in ms. Shorter while a file waits for an engine. */
const UPDATE_INTERVAL = 30_000;

/** Maximum number of scans beside which the next steps fit in the same column. */
const SHORT_LIST = 5;

function intervalOf(status: DashboardStatus | undefined): number {
  return status?.recent_scans.some(isWaiting) ? WAITING_INTERVAL : UPDATE_INTERVAL;
}

/** Ends the start phase when all siblings have rendered, in a separate task, so that the browser shows the figures first. */
function Start() {
  useEffect(() => void setTimeout(endStart), []);
  return null;
}

interface DashboardPageProps {
  /** For administrators an overview of the installation, for technicians one of the desk. */
  staffHome?: ReactNode;
  /** Folds the person's own part, below the overview. */
  isOwnFolded?: boolean;
  /** Requests of people of the household. */
  asks?: ReactNode;
  /** First steps of a new customer. */
  firstSteps?: ReactNode;
  /** Steps of the status that another part of the page offers. */
  elsewhere?: readonly string[];
  /** True when code and data of both parts are loaded; the page waits for them. */
  arePartsReady?: boolean;
  random?: () => number;
}

/** Renders the whole page at once, because parts that arrive later would move content that the person already reads. */
export function DashboardPage({
  staffHome,
  isOwnFolded = false,
  asks,
  firstSteps,
  elsewhere = [],
  arePartsReady = true,
  random = Math.random,
}: DashboardPageProps) {
  const [isRealTime, setIsRealTime] = useState(true);
  const {
    data: status,
    error,
    refetch,
  } = useQuery({ ...dashboardQuery, refetchInterval: ({ state }) => (isRealTime ? intervalOf(state.data) : false) });
  const isDemo = useConfig()?.demo ?? false;
  // With a device there are real measurements, so simulation stops.
  const isSimulated = isDemo && !status?.devices;
  const counters = useSimulatedCounters(isRealTime && isSimulated, random);
  const isConfigAnswered = useIsConfigAnswered();
  const isReady = (status !== undefined || error !== null) && isConfigAnswered && arePartsReady;
  // With many scans the other column is shorter and gets the next steps.
  const isLong = (status?.recent_scans.length ?? 0) > SHORT_LIST;
  const failure = error ? sentenceOf(error) : undefined;
  const own = (
    <>
      {staffHome && !isOwnFolded && <h2>Your own protection</h2>}
      <Hero status={status} isUnknown={failure !== undefined} elsewhere={elsewhere} />
      {asks}
      {firstSteps}
      <StatCards status={status} simulated={isSimulated ? counters : undefined} />
      <Grid columns="wide" tablet="stack" gap="4" className="dashboard__columns">
        <Stack gap="4">
          <ActivityLog scans={status?.recent_scans} failure={failure} onRetry={() => void refetch()} />
          {!isLong && <ActionCards />}
        </Stack>
        <Stack gap="4">
          {status && <PlanPanel plan={status.subscription} />}
          {/* No figure is simulated outside the demo. */}
          {(isDemo || status?.devices) && <SystemHealth devices={status?.devices ?? null} />}
          <DevicesCard devices={status?.devices ?? null} />
        </Stack>
      </Grid>
      {isLong && <ActionCards />}
    </>
  );
  return (
    <Page
      title="Security dashboard"
      sentence={<Today />}
      aside={
        <Stack gap="0" align="end" className="dashboard__aside">
          <Clock />
          <Toggle label="Real-time updates" isOn={isRealTime} onChange={setIsRealTime} />
        </Stack>
      }
    >
      {isReady ? (
        <>
          {staffHome}
          <Start />
          {isOwnFolded ? <Folded status={status}>{own}</Folded> : own}
        </>
      ) : (
        <DashboardWaiting />
      )}
    </Page>
  );
}

/** A staff member's own protection, folded, because their work is above it. */
function Folded({ status, children }: { status: DashboardStatus | undefined; children: ReactNode }) {
  return (
    <details>
      <summary className="card pointer bold">
        Your own protection
        {status && <span className="muted medium">{`: ${status.status.sentence}`}</span>}
      </summary>
      <Stack gap="4" className="above-4">
        {children}
      </Stack>
    </details>
  );
}

/** The skeleton of the page until it can render completely. */
function DashboardWaiting() {
  return (
    <Stack gap="4" role="status" aria-label="Reading your security status" className="dashboard-waiting">
      <div className="card" />
      <Grid columns="fit-s" gap="4">
        <div className="card" />
        <div className="card" />
        <div className="card" />
        <div className="card" />
      </Grid>
      <div className="card" />
    </Stack>
  );
}
