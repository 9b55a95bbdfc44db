import { useQuery } from '@tanstack/react-query';
import { lazy, useState } from 'react';
import { overviewQuery } from '#domain/overview/overview.ts';
import { DashboardPage } from '#features/dashboard/dashboard-page.tsx';
import { areStepsLeft, wasHidden } from '#features/setup/first-steps-left.ts';

const FirstSteps = lazy(async () => ({ default: (await import('#features/setup/first-steps.tsx')).FirstSteps }));

/** Loaded only by administrators, while a step is left that they have not put away. */
function FirstStepsWhileLeft() {
  const { data: overview } = useQuery(overviewQuery);
  const [isHidden] = useState(wasHidden);
  return overview && areStepsLeft(overview) && !isHidden && <FirstSteps />;
}

/** The dashboard, with the parts that other features add to it. */
export function Home() {
  return <DashboardPage firstSteps={<FirstStepsWhileLeft />} />;
}
