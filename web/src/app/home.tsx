import { useQuery } from '@tanstack/react-query';
import { lazy, useState } from 'react';
import { overviewQuery } from '#domain/overview/overview.ts';
import { DashboardPage } from '#features/dashboard/dashboard-page.tsx';
import { areStepsLeft, wasHidden } from '#features/setup/first-steps-left.ts';

const Waiting = lazy(async () => ({ default: (await import('#features/dashboard/waiting.tsx')).Waiting }));
const FirstSteps = lazy(async () => ({ default: (await import('#features/setup/first-steps.tsx')).FirstSteps }));

/** Loaded only by administrators, while a step is left that they have not put away. */
function FirstStepsWhileLeft() {
  const { data: overview } = useQuery(overviewQuery);
  const [isHidden] = useState(wasHidden);
  return overview && areStepsLeft(overview) && !isHidden && <FirstSteps />;
}

/** A new installation begins with its first steps: that nothing waits is no news there. */
function WaitingOfOwner() {
  const { data: overview } = useQuery(overviewQuery);
  if (!overview) return null;
  const isNew = areStepsLeft(overview) && !wasHidden() && Object.values(overview.waiting).every((count) => count === 0);
  return !isNew && <Waiting />;
}

/** The dashboard, with the parts that other features add to it. */
export function Home() {
  return <DashboardPage waiting={<WaitingOfOwner />} firstSteps={<FirstStepsWhileLeft />} />;
}
