import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import { type PlanRequest, requestPlan, type Template, withdrawPlanRequest } from '@palisade/contract/subscription';
import { IconShieldCheck, IconShieldOff, IconTemplate } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { useConfig } from '#api/config.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { describeDate, describePlanEnd, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { AfterRequest } from './after-request.tsx';
import { FeatureList, PlanCard, TypeBadge } from './plan-card.tsx';
import { comparePlans, distinctFeatures } from './plan-comparison.ts';
import {
  describeComputers,
  describeMonths,
  describePrice,
  describeProfiles,
  describeWebDevices,
  endsSoon,
} from './plan-words.ts';
import { currentSubscriptionQuery, isAwaited, planRequestsQuery, plansQuery } from './subscriptions.queries.ts';

/** The screen for everyone except administrators: their plan, and the plans they can request. */
export function CustomerPlans() {
  const isOwnAwaited = isAwaited(useQuery(currentSubscriptionQuery));
  const plans = useQuery(plansQuery);
  const arePlansAwaited = isAwaited(plans);
  const areRequestsAwaited = isAwaited(useQuery(planRequestsQuery));
  const isWaiting = isOwnAwaited || arePlansAwaited || areRequestsAwaited;
  return (
    <Page title="Subscription Manager" sentence="See your plan and request another one.">
      <OwnPlan isWaiting={isWaiting} />
      {/* Rendered with the plan, which would otherwise push them down. */}
      {!isWaiting && (
        <>
          <PlansOnOffer />
          {plans.data?.length !== 0 && <AfterRequest />}
        </>
      )}
    </Page>
  );
}

function OwnPlan({ isWaiting }: { isWaiting: boolean }) {
  const { data: current, error, refetch } = useQuery(currentSubscriptionQuery);
  const hasPlans = (useQuery(plansQuery).data ?? []).length > 0;
  return (
    <Card title="Your plan">
      {error && <ErrorNotice title="We couldn’t load your plan" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {isWaiting && !error && <LoadingRows label="Loading your plan" />}
      {!isWaiting && current && (current.has_subscription ? <Plan current={current} /> : <NoPlan hasPlans={hasPlans} />)}
    </Card>
  );
}

/** `hasPlans`: the provider offers plans. */
function NoPlan({ hasPlans }: { hasPlans: boolean }) {
  return (
    <Grid columns="lead" gap="4" align="center" data-tone="plain">
      <span className="icon-tile" data-size="l" aria-hidden="true">
        <IconShieldOff size={28} stroke={1.7} />
      </span>
      <div>
        <h3 className="title">You don’t have a plan</h3>
        <p className="sub">
          You can scan files and manage firewall rules without a plan.{hasPlans && ' Request one below for more.'}
        </p>
      </div>
    </Grid>
  );
}

function Plan({ current }: { current: CurrentSubscription }) {
  const { plan_name, price, currency, duration_months, max_devices, max_web_devices, max_profiles, expires_at } = current;
  return (
    <Grid columns="both" phone="under" gap="4" rowGap="2" align="start">
      <span className="icon-tile" data-size="l" aria-hidden="true">
        <IconShieldCheck size={28} stroke={1.7} />
      </span>
      <div>
        <h3 className="title break">
          <bdi>{plan_name}</bdi> <TypeBadge isPremium={current.is_premium} />
        </h3>
        <p className="sub num">{expires_at === null ? 'No end date' : `Until ${describePlanEnd(expires_at)}`}</p>
        <FeatureList features={distinctFeatures(current.features)} />
      </div>
      <Stack className="num">
        <Cost price={price} currency={currency} duration_months={duration_months} />
        {max_devices !== null && <span className="sub">{describeComputers(max_devices)}</span>}
        {max_web_devices !== null && <span className="sub">{describeWebDevices(max_web_devices)}</span>}
        {max_profiles !== null && <span className="sub">{describeProfiles(max_profiles)}</span>}
      </Stack>
    </Grid>
  );
}

type CostProps = Pick<CurrentSubscription, 'price' | 'currency' | 'duration_months'>;

/** The known parts of price and term. */
function Cost({ price, currency, duration_months }: CostProps) {
  const cost = price === null || currency === null ? undefined : describePrice(price, currency);
  const span = duration_months === null ? undefined : describeMonths(duration_months);
  if (cost === undefined) return span && <span className="sub">{`for ${span}`}</span>;
  if (span === undefined) return <b className="figure ink">{cost}</b>;
  return (
    <span className="sub">
      <Sentence text="**{cost}** for {span}" parts={{ cost, span }} />
    </span>
  );
}

function PlansOnOffer() {
  const plans = useQuery(plansQuery);
  const requests = useQuery(planRequestsQuery);
  const { data: current } = useQuery(currentSubscriptionQuery);
  const { phone = '', email = '' } = useConfig()?.support ?? {};
  const hasContact = phone !== '' || email !== '';
  const error = plans.error ?? requests.error;
  const hasOpen = requests.data?.some(({ status }) => status === 'open');
  const { common, of } = comparePlans(plans.data ?? []);
  const now = useMinute();
  const isLasting = current?.has_subscription === true && !endsSoon(current.expires_at, now);
  const retry = () => void Promise.all([plans.refetch(), requests.refetch()]);
  return (
    <Card title="Available plans">
      <EmailNeeded sentence="You can request a plan after you confirm your email address." />
      {error && <ErrorNotice title="We couldn’t load the plans" sentence={sentenceOf(error)} onRetry={retry} />}
      {!error && !(plans.data && requests.data) && <LoadingRows label="Loading the plans" />}
      {plans.data?.length === 0 && (
        <EmptyState
          icon={IconTemplate}
          drawing={<Drawing of="sheets" />}
          title="No plans available yet"
          sentence={`Your provider hasn’t published any. ${hasContact ? 'Ask for a plan in the chat, or call or email support.' : 'Ask in the chat.'}`}
          action={<ScreenLink to="/chat">Ask for a plan</ScreenLink>}
        />
      )}
      {plans.data && requests.data && plans.data.length > 0 && (
        <Grid columns="fit-m" gap="4" className="plans-compared above-2">
          {plans.data.map((plan) => (
            <PlanCard key={plan.id} plan={plan} compared={of(plan)}>
              <PlanAction
                plan={plan}
                // Newest first, so this finds the latest request.
                request={requests.data.find(({ template }) => template.id === plan.id)}
                isOwn={current?.plan_name === plan.template_name}
                leads={!hasOpen && !isLasting && (!current?.has_subscription || current.plan_name === plan.template_name)}
              />
            </PlanCard>
          ))}
        </Grid>
      )}
      {common.length > 0 && (
        <section className="above-4" aria-label="In every plan">
          <h3 className="base bold">In every plan</h3>
          <FeatureList features={common} />
        </section>
      )}
    </Card>
  );
}

interface PlanActionProps {
  plan: Template;
  request: PlanRequest | undefined;
  isOwn: boolean;
  /** False where the person has another plan, has this one for long, or waits for an answer. */
  leads: boolean;
}

function PlanAction({ plan, request, isOwn, leads }: PlanActionProps) {
  const { mutate, isPending, error } = useChange({
    of: [requestPlan, withdrawPlanRequest],
    mutationFn: (change: () => Promise<unknown>) => change(),
    onError: (refusal) => console.error(refusal),
  });
  // State updates at the next render, but two quick presses must send one request.
  const isSending = useRef(false);
  const isUnproven = useIsUnproven();

  function send(change: () => Promise<unknown>) {
    if (isSending.current) return;
    isSending.current = true;
    mutate(change, {
      onSettled() {
        isSending.current = false;
      },
    });
  }

  const label = isOwn ? 'Extend plan' : 'Request this plan';
  const isOpen = request?.status === 'open';
  return (
    <>
      <p role="status" className={`small off-empty ${isOpen ? 'amber medium' : 'muted'}`}>
        {describeState(request, isOwn)}
      </p>
      {isOpen ? (
        <Button
          variant="quiet"
          loading={isPending}
          aria-label={`Withdraw the request for ${plan.template_name}`}
          onClick={() => send(() => call(withdrawPlanRequest, { params: { id: request.id } }))}
        >
          Withdraw the request
        </Button>
      ) : (
        <Button
          variant={leads ? 'primary' : 'quiet'}
          loading={isPending}
          disabled={isUnproven}
          aria-label={`${label} ${plan.template_name}`}
          onClick={() => send(() => call(requestPlan, { body: { template_id: plan.id } }))}
        >
          {label}
        </Button>
      )}
      {error && (
        <p role="alert" className="small red">
          {sentenceOf(error)}
        </p>
      )}
    </>
  );
}

function describeState(request: PlanRequest | undefined, isOwn: boolean): string {
  if (request?.status === 'open') return `Requested on ${describeDate(request.requested_at)}. An administrator will answer.`;
  if (isOwn) return 'This is your plan.';
  if (request?.status === 'declined' && request.decided_at !== null) return `Declined on ${describeDate(request.decided_at)}.`;
  return '';
}
