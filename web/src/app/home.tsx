import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMayAdministrate } from '#api/policies.ts';
import { overviewQuery } from '#domain/overview/overview.ts';
import { DashboardPage } from '#features/dashboard/dashboard-page.tsx';
import { areStepsLeft, wasHidden } from '#features/setup/first-steps-left.ts';
import { lazyPart } from '#ui/lazy-part.tsx';

const Waiting = lazyPart(async () => (await import('#features/dashboard/waiting.tsx')).Waiting);
const FirstSteps = lazyPart(async () => (await import('#features/setup/first-steps.tsx')).FirstSteps);

/** The dashboard, with parts of other features for administrators. */
export function Home() {
  const isAdmin = useMayAdministrate();
  const { data, isPending } = useQuery({ ...overviewQuery, enabled: isAdmin });
  const overview = isAdmin ? data : undefined;
  const [isHidden] = useState(wasHidden);
  const hasSteps = overview !== undefined && areStepsLeft(overview) && !isHidden;
  const isNothingWaiting = overview === undefined || Object.values(overview.waiting).every((count) => count === 0);
  // In a new installation an empty list of counts is hidden in favour of the first steps.
  const hasWaiting = overview !== undefined && !(hasSteps && isNothingWaiting);
  const isWaitingReady = Waiting.useIsReady(hasWaiting);
  const areStepsReady = FirstSteps.useIsReady(hasSteps);
  return (
    <DashboardPage
      waiting={hasWaiting && <Waiting />}
      firstSteps={hasSteps && <FirstSteps />}
      arePartsReady={!(isAdmin && isPending) && isWaitingReady && areStepsReady}
    />
  );
}
