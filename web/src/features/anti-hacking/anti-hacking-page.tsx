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
import { blocksQuery, isPremiumRequired, lastCheckQuery, planQuery, statsQuery } from './anti-hacking.queries.ts';
import { BlocksCard } from './blocks-card.tsx';
import { HistoryCard } from './history-card.tsx';
import { LockedScreen } from './locked-screen.tsx';
import { ScanPanel } from './scan-panel.tsx';
import { ThreatPanel } from './threat-panel.tsx';

const AlertDetailDialog = lazyPart(async () => (await import('./alert-detail.tsx')).AlertDetailDialog);

/** Renders a part in a transition once `isReady`, and returns whether it is rendered. Without a transition the part is one long task, during which a phone does not respond to a press. */
function useSlices(isReady: boolean): boolean {
  const [isDrawn, setIsDrawn] = useState(isReady);
  useEffect(() => {
    if (isReady) startTransition(() => setIsDrawn(true));
  }, [isReady]);
  return isDrawn;
}

interface AntiHackingPageProps {
  /** The dialog in which the person sets a new password. */
  securityDialog: ComponentType<{ tab?: 'password'; onClose: () => void }>;
  /** Random source of live mode. */
  random?: () => number;
}

export function AntiHackingPage({ securityDialog, random = Math.random }: AntiHackingPageProps) {
  const { data: plan, error, refetch } = useQuery(planQuery);
  const isPremium = plan?.is_premium ?? false;
  const alerts = useInfiniteQuery({ ...alertsQuery(ACTIVE), enabled: isPremium });
  // The height of this part depends on its text and it is the first one, so the parts below wait for it and do not move.
  const isAnswering = useQuery({ ...monitorQuery, enabled: isPremium }).isPending;
  // Lists render together with their card. The cards below render with their data, because a card that grows later moves buttons away from a press.
  const isFilling = [
    useSimulatedAlerts(isPremium),
    useQuery({ ...suppressionsQuery, enabled: isPremium }),
    useQuery({ ...blocksQuery, enabled: isPremium }),
    useQuery({ ...lastCheckQuery, enabled: isPremium }),
    useQuery({ ...statsQuery, enabled: isPremium }),
  ].some((read) => read.isLoading);
  // Rendered parts stay: the first simulated alert starts a fetch, during which they must not disappear.
  const [isFilled, setIsFilled] = useState(false);
  if (!isFilled && isPremium && !isAnswering && !alerts.isPending && !isFilling) setIsFilled(true);
  const isListed = useSlices(!isAnswering);
  const areAlertsDrawn = useSlices(isPremium && !alerts.isPending);
  // Lower parts render after the alerts, which would push them down.
  const isRest = useSlices(useDeferredValue(isFilled && areAlertsDrawn, false));
  // The plan may have ended since it was read, so a refusal of the alerts counts too.
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
          {/* Rendered below a list that is still loading, these would be pushed down. */}
          {isRest && (
            <>
              <BlocksCard />
              <ScanPanel />
              <ThreatPanel random={random} />
              <HistoryCard />
            </>
          )}
        </>
      )}
      {/* Also above the locked screen: people without premium are led here from their status, and can decide about their alerts. */}
      {plan && <OpenAlert securityDialog={securityDialog} />}
    </Page>
  );
}

/** The dialog of the alert that the address names. */
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
