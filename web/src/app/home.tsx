import type { Status } from '@palisade/contract/status';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIsStaff, useMayAdministrate } from '#api/policies.ts';
import { waitingQuery } from '#domain/conversation/waiting.ts';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import { homeQuery } from '#domain/overview/home.ts';
import { overviewQuery } from '#domain/overview/overview.ts';
import { DashboardPage } from '#features/dashboard/dashboard-page.tsx';
import { FirstSteps } from '#features/setup/first-steps.tsx';
import { areStepsLeft, customerSteps, wasHidden } from '#features/setup/first-steps-left.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { useIsPhone } from '#ui/use-is-phone.ts';

const OwnerHome = lazyPart(async () => (await import('#features/dashboard/owner-home.tsx')).OwnerHome);
const WaitingAsks = lazyPart(async () => (await import('#features/household/waiting-asks.tsx')).WaitingAsks);
const DeskHome = lazyPart(async () => (await import('#features/dashboard/desk-home.tsx')).DeskHome);

/** The first step that has a button in the status. */
function offeredBy(status: Status | undefined) {
  if (status?.next === null) return 'first_scan';
  return status?.next.id === 'no_two_factor' ? 'second_factor' : undefined;
}

/** The dashboard. Above it, administrators see an overview of the installation and technicians one of the desk. */
export function Home() {
  const isAdmin = useMayAdministrate();
  const isTechnician = useIsStaff() && !isAdmin;
  const isPhone = useIsPhone();
  const { data, isPending } = useQuery({ ...overviewQuery, enabled: isAdmin });
  const isHomePending = useQuery({ ...homeQuery, enabled: isAdmin }).isPending;
  const [isHidden] = useState(wasHidden);
  const { data: dashboard } = useQuery(dashboardQuery);
  const done = isAdmin ? data?.first_steps : dashboard && customerSteps(dashboard.status);
  const hasSteps = !isHidden && done !== undefined && areStepsLeft(done);
  const steps = dashboard ? [dashboard.status.next, ...dashboard.status.others] : [];
  const hasAsks = steps.some((step) => step?.id === 'ask_waiting');
  const isDeskPending = useQuery({ ...waitingQuery, enabled: isTechnician }).isLoading;
  const isOwnerReady = OwnerHome.useIsReady(isAdmin);
  const isDeskReady = DeskHome.useIsReady(isTechnician) && !isDeskPending;
  const areAsksReady = WaitingAsks.useIsReady(hasAsks);
  const areHomesReady = !(isAdmin && (isPending || isHomePending)) && isOwnerReady && isDeskReady;
  const firstSteps = hasSteps && <FirstSteps done={done} offered={isAdmin ? undefined : offeredBy(dashboard?.status)} />;
  return (
    <DashboardPage
      staffHome={isAdmin ? <OwnerHome firstSteps={firstSteps} /> : isTechnician && <DeskHome />}
      isOwnFolded={isTechnician || (isAdmin && isPhone)}
      asks={hasAsks && <WaitingAsks />}
      firstSteps={!isAdmin && firstSteps}
      elsewhere={[...(hasAsks ? ['ask_waiting'] : []), ...(hasSteps ? ['no_two_factor'] : [])]}
      arePartsReady={areHomesReady && areAsksReady}
    />
  );
}
