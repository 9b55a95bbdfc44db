import { PREMIUM_REQUIRED } from '@palisade/contract/anti-hacking';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ComponentType, startTransition, useDeferredValue, useEffect, useState } from 'react';
import { useSearchParams } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { AlertList } from './alert-list.tsx';
import { ACTIVE, alertsQuery, monitorQuery, suppressionsQuery, useSimulatedAlerts } from './alerts.queries.ts';
import { AnswerCard } from './answer-card.tsx';
import { blocksQuery, isPremiumRequired, lastCheckQuery, planQuery } from './anti-hacking.queries.ts';
import { BlocksCard } from './blocks-card.tsx';
import { HistoryCard } from './history-card.tsx';
import { LockedScreen } from './locked-screen.tsx';
import { ScanPanel } from './scan-panel.tsx';
import { ThreatPanel } from './threat-panel.tsx';
import './anti-hacking-page.css';

const AlertDetailDialog = lazyPart(async () => (await import('./alert-detail.tsx')).AlertDetailDialog);

/** Draws a part in slices from when it is ready, and answers whether it is drawn: an answer draws in one task, which holds a phone for longer than a press may wait. */
function useSlices(isReady: boolean): boolean {
  const [isDrawn, setIsDrawn] = useState(isReady);
  useEffect(() => {
    if (isReady) startTransition(() => setIsDrawn(true));
  }, [isReady]);
  return isDrawn;
}

interface AntiHackingPageProps {
  /** Where a new password is set. */
  securityDialog: ComponentType<{ tab?: 'password'; onClose: () => void }>;
  /** Decides what live mode does by chance. */
  random?: () => number;
}

export function AntiHackingPage({ securityDialog, random = Math.random }: AntiHackingPageProps) {
  const { data: plan, error, refetch } = useQuery(planQuery);
  const isPremium = plan?.is_premium ?? false;
  const alerts = useInfiniteQuery({ ...alertsQuery(ACTIVE), enabled: isPremium });
  // The answer is as high as what it says, and stands first: what is below comes after it, and does not move.
  const isAnswering = useQuery({ ...monitorQuery, enabled: isPremium }).isPending;
  // The lists in the card of the alerts are drawn together with them. The cards below are drawn with their answers: a card that grows later moves a button away from a press.
  const isFilling = [
    useSimulatedAlerts(isPremium),
    useQuery({ ...suppressionsQuery, enabled: isPremium }),
    useQuery({ ...blocksQuery, enabled: isPremium }),
    useQuery({ ...lastCheckQuery, enabled: isPremium }),
  ].some((read) => read.isLoading);
  // Once drawn they stay: a first drill has its list read, and takes nothing away meanwhile.
  const [isFilled, setIsFilled] = useState(false);
  if (!isFilled && isPremium && !isAnswering && !alerts.isPending && !isFilling) setIsFilled(true);
  const isListed = useSlices(!isAnswering);
  const areAlertsDrawn = useSlices(isPremium && !alerts.isPending);
  // Lower parts come after the last of the alerts, which would push them down.
  const isRest = useSlices(useDeferredValue(isFilled && areAlertsDrawn, false));
  // The plan may have ended since it was read: the server's refusal of the alerts counts.
  const isRefused = isPremiumRequired(alerts.error);
  return (
    <Page title="Anti-Hacking" sentence="See threats against you, what we blocked, and what to do.">
      {error && <ErrorNotice title="We couldn’t load your plan" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!plan && !error && <LoadingRows label="Loading your plan" />}
      {plan && (!isPremium || isRefused) && (
        <LockedScreen message={isRefused ? PREMIUM_REQUIRED : undefined} requested_at={plan.requested_at} />
      )}
      {isPremium && !isRefused && (
        <>
          <AnswerCard />
          {isListed && <AlertList isDrawn={areAlertsDrawn} />}
          {/* Below a list that is on its way they would be pushed down. */}
          {isRest && (
            <>
              <div className="threat-pair">
                <ScanPanel />
                <BlocksCard />
              </div>
              <ThreatPanel random={random} />
              <HistoryCard />
            </>
          )}
          <OpenAlert securityDialog={securityDialog} />
        </>
      )}
    </Page>
  );
}

/** The alert that the address names, over the page. */
function OpenAlert({ securityDialog: SecurityDialog }: Pick<AntiHackingPageProps, 'securityDialog'>) {
  const [search, setSearch] = useSearchParams();
  const [isChangingPassword, setIsChangingPassword] = useState(false);
  const id = search.get('alert');
  const close = () => setSearch({}, { replace: true, preventScrollReset: true });
  return (
    <>
      {id !== null && (
        <AlertDetailDialog
          key={id}
          id={id}
          onClose={close}
          onChangePassword={() => {
            setIsChangingPassword(true);
            close();
          }}
        />
      )}
      {isChangingPassword && <SecurityDialog tab="password" onClose={() => setIsChangingPassword(false)} />}
    </>
  );
}
