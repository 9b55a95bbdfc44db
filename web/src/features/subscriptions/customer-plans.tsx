import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import { type PlanRequest, requestPlan, type Template, withdrawPlanRequest } from '@palisade/contract/subscription';
import { IconShieldCheck, IconShieldOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { useConfig } from '#api/config.ts';
import { AskForPlan, plansQuery, useHasNoPlans } from '#domain/plan/plans.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { describeDate, describePlanEnd, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { AfterRequest } from './after-request.tsx';
import { FeatureList, PlanCard, TypeBadge } from './plan-card.tsx';
import { type Comparison, comparePlans, distinctFeatures } from './plan-comparison.ts';
import {
  describeComputers,
  describeMonths,
  describePrice,
  describeProfiles,
  describeWebDevices,
  endsSoon,
} from './plan-words.ts';
import { currentSubscriptionQuery, isAwaited, planRequestsQuery } from './subscriptions.queries.ts';

/** The screen for everyone except administrators: their plan, and the plans they can request. */
export function CustomerPlans() {
  const isOwnAwaited = isAwaited(useQuery(currentSubscriptionQuery));
  const arePlansAwaited = isAwaited(useQuery(plansQuery));
  const areRequestsAwaited = isAwaited(useQuery(planRequestsQuery));
  const isWaiting = isOwnAwaited || arePlansAwaited || areRequestsAwaited;
  const hasNoPlans = useHasNoPlans();
  return (
    <Page title="Subscription Manager" sentence="See your plan and request another one.">
      {!isWaiting && !hasNoPlans && <EmailNeeded sentence="You can request a plan after you confirm your email address." />}
      <OwnPlan isWaiting={isWaiting} />
      {/* Rendered with the plan, which would otherwise move them. */}
      {!isWaiting && !hasNoPlans && (
        <>
          <PlansOnOffer />
          <AfterRequest />
        </>
      )}
    </Page>
  );
}

function OwnPlan({ isWaiting }: { isWaiting: boolean }) {
  const { data: current, error, refetch } = useQuery(currentSubscriptionQuery);
  return (
    <Card title="Your plan">
      {error && <ErrorNotice title="We couldn’t load your plan" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {isWaiting && !error && <LoadingRows label="Loading your plan" />}
      {!isWaiting && current && (current.has_subscription ? <Plan current={current} /> : <NoPlan />)}
    </Card>
  );
}

function NoPlan() {
  const hasNoPlans = useHasNoPlans();
  const { phone = '', email = '' } = useConfig()?.support ?? {};
  const contact = phone === '' && email === '' ? 'Ask in the chat.' : 'Ask for a plan in the chat, or call or email support.';
  return (
    <Grid columns="both" phone="under" gap="4" align="center" data-tone="plain">
      <span className="icon-tile" data-size="l" aria-hidden="true">
        <IconShieldOff size={28} stroke={1.7} />
      </span>
      <div>
        <h3 className="title">You don’t have a plan</h3>
        <p className="sub">
          You can scan files and manage firewall rules without a plan.{!hasNoPlans && ' Request one below for more.'}
        </p>
        {hasNoPlans && <p className="sub">{`Your provider hasn’t published any. ${contact}`}</p>}
      </div>
      {hasNoPlans && <AskForPlan />}
    </Grid>
  );
}

function Plan({ current }: { current: CurrentSubscription }) {
  const { plan_name, price, currency, duration_months, max_devices, max_web_devices, max_profiles, expires_at } = current;
  const plan = useQuery(plansQuery).data?.find(({ template_name }) => template_name === plan_name);
  const hasNoPlans = useHasNoPlans();
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
        <FeatureList
          features={[
            ...(max_devices === null ? [] : [describeComputers(max_devices)]),
            ...(max_web_devices === null ? [] : [describeWebDevices(max_web_devices)]),
            ...(max_profiles === null ? [] : [describeProfiles(max_profiles)]),
            ...distinctFeatures(current.features),
          ]}
        />
      </div>
      <Stack gap="2" className="num">
        <Cost price={price} currency={currency} duration_months={duration_months} />
        {plan && <PlanAction plan={plan} isOwn />}
        {hasNoPlans && <AskForPlan variant="quiet" />}
      </Stack>
    </Grid>
  );
}

type CostProps = Pick<CurrentSubscription, 'price' | 'currency' | 'duration_months'>;

/** Price and term, as far as known. */
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

/** The values of the person's plan for comparison; undefined without a plan, or if a value is unknown. */
function comparedOf(current: CurrentSubscription | undefined) {
  if (!current?.has_subscription) return undefined;
  const { is_premium, features, max_devices, max_web_devices, max_profiles } = current;
  if (max_devices === null || max_web_devices === null || max_profiles === null) return undefined;
  return { is_premium, features, max_devices, max_web_devices, max_profiles };
}

function PlansOnOffer() {
  const plans = useQuery(plansQuery);
  const requests = useQuery(planRequestsQuery);
  const { data: current } = useQuery(currentSubscriptionQuery);
  const error = plans.error ?? requests.error;
  // The person's own plan has its card above.
  const others = plans.data?.filter(({ template_name }) => template_name !== current?.plan_name) ?? [];
  if (plans.data && others.length === 0) return null;
  const own = comparedOf(current);
  const { common, of } = comparePlans(own ? [own, ...others] : others);
  const differ = others.some((plan) => of(plan).rows.length + of(plan).features.length > 0);
  const title = differ ? 'In every plan' : 'These plans include the same';
  const retry = () => void Promise.all([plans.refetch(), requests.refetch()]);
  return (
    <Card title={current?.has_subscription ? 'Other plans' : 'Available plans'}>
      {error && <ErrorNotice title="We couldn’t load the plans" sentence={sentenceOf(error)} onRetry={retry} />}
      {!error && !(plans.data && requests.data) && <LoadingRows label="Loading the plans" />}
      {plans.data && requests.data && (
        <Grid columns="fit-m" gap="4" className="plans-compared above-2">
          {others.map((plan) => (
            <PlanCard key={plan.id} plan={plan} compared={of(plan)}>
              {own && common.length > 0 && <p className="sub">{describeSame(of(plan))}</p>}
              <PlanAction plan={plan} isOwn={false} />
            </PlanCard>
          ))}
        </Grid>
      )}
      {!own && common.length > 0 && (
        <section className="above-4" aria-label={title}>
          <h3 className="base bold">{title}</h3>
          <FeatureList features={common} />
        </section>
      )}
    </Card>
  );
}

const describeSame = ({ rows, features }: Comparison) =>
  rows.length + features.length === 0 ? 'Includes the same as your plan.' : 'Everything else is as in your plan.';

interface PlanActionProps {
  plan: Template;
  isOwn: boolean;
}

/** Requests a plan, or withdraws the request. */
function PlanAction({ plan, isOwn }: PlanActionProps) {
  const { data: current } = useQuery(currentSubscriptionQuery);
  const { data: requests = [] } = useQuery(planRequestsQuery);
  const now = useMinute();
  // Newest first, so this finds the latest request.
  const request = requests.find(({ template }) => template.id === plan.id);
  // Not for people with another plan, with a long remaining term, or with an open request.
  const leads =
    !requests.some(({ status }) => status === 'open') &&
    (isOwn ? current !== undefined && endsSoon(current.expires_at, now) : !current?.has_subscription);
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
        {describeState(request)}
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

function describeState(request: PlanRequest | undefined): string {
  if (request?.status === 'open') return `Requested on ${describeDate(request.requested_at)}.`;
  if (request?.status === 'declined' && request.decided_at !== null) return `Declined on ${describeDate(request.decided_at)}.`;
  return '';
}
