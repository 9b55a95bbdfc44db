import { PREMIUM_REQUIRED } from '@palisade/contract/anti-hacking';
import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { AlertList } from './alert-list.tsx';
import { alertsQuery, isPremiumRequired, planQuery } from './anti-hacking.queries.ts';
import { BlocksCard } from './blocks-card.tsx';
import { LockedScreen } from './locked-screen.tsx';
import { ScanPanel } from './scan-panel.tsx';
import { ThreatPanel } from './threat-panel.tsx';
import './anti-hacking-page.css';

/** `random` decides what live mode does by chance. */
export function AntiHackingPage({ random = Math.random }: { random?: () => number }) {
  const { data: plan, error, refetch } = useQuery(planQuery);
  const isPremium = plan?.is_premium ?? false;
  const alerts = useQuery({ ...alertsQuery, enabled: isPremium });
  // The plan may have ended since it was read: the server's refusal of the alerts counts.
  const isRefused = isPremiumRequired(alerts.error);
  return (
    <Page title="Anti-Hacking" sentence="What was tried against you, what was stopped, and what stands open.">
      {error && <ErrorNotice title="Your plan could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!plan && !error && <LoadingRows label="Loading your plan" />}
      {plan && (!isPremium || isRefused) && <LockedScreen message={isRefused ? PREMIUM_REQUIRED : undefined} />}
      {isPremium && !isRefused && (
        <>
          <ThreatPanel random={random} />
          <ScanPanel />
          <AlertList />
          <BlocksCard />
        </>
      )}
    </Page>
  );
}
