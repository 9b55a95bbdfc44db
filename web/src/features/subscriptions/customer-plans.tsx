import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import { type PlanRequest, requestPlan, type Template, withdrawPlanRequest } from '@palisade/contract/subscription';
import { IconLock, IconShieldCheck, IconShieldOff, IconTemplate } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { describeDate, describePlanEnd } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { FeatureList, PlanCard, TypeBadge } from './plan-card.tsx';
import { describeDevices, describeMonths, describePrice } from './plan-words.ts';
import { currentSubscriptionQuery, isAwaited, planRequestsQuery, plansQuery } from './subscriptions.queries.ts';

/** The screen for everyone except administrators: their plan, the plans they can request, and a note about management. */
export function CustomerPlans() {
  const isOwnAwaited = isAwaited(useQuery(currentSubscriptionQuery));
  const arePlansAwaited = isAwaited(useQuery(plansQuery));
  const areRequestsAwaited = isAwaited(useQuery(planRequestsQuery));
  const isWaiting = isOwnAwaited || arePlansAwaited || areRequestsAwaited;
  return (
    <Page title="Subscription Manager" sentence="See your plan and request another one.">
      <OwnPlan isWaiting={isWaiting} />
      {/* Rendered with the plan, which would otherwise push them down. */}
      {!isWaiting && (
        <>
          <PlansOnOffer />
          <ManagingNotice />
        </>
      )}
    </Page>
  );
}

/** Explains why the sidebar marks this screen as the administrators'. Last, because it is the least important. */
function ManagingNotice() {
  return (
    <section className="admins-only" aria-labelledby="admins-only">
      <span className="admins-only__icon" aria-hidden="true">
        <IconLock size={20} stroke={1.7} />
      </span>
      <div>
        <h2 id="admins-only">Administrators only</h2>
        <p className="sub">Only administrators assign plans. Request one above.</p>
      </div>
    </section>
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
  return (
    <div className="own-plan" data-tone="none">
      <span className="own-plan__icon" aria-hidden="true">
        <IconShieldOff size={28} stroke={1.7} />
      </span>
      <div>
        <h3>You don’t have a plan</h3>
        <p className="sub">You can scan files and manage firewall rules without a plan. Request one below for more.</p>
      </div>
    </div>
  );
}

function Plan({ current }: { current: CurrentSubscription }) {
  const { plan_name, price, currency, duration_months, max_devices, expires_at } = current;
  return (
    <div className="own-plan">
      <span className="own-plan__icon" aria-hidden="true">
        <IconShieldCheck size={28} stroke={1.7} />
      </span>
      <div>
        <h3>
          <bdi>{plan_name}</bdi> <TypeBadge isPremium={current.is_premium} />
        </h3>
        <p className="sub num">{expires_at === null ? 'No end date' : `Until ${describePlanEnd(expires_at)}`}</p>
        <FeatureList features={current.features} />
      </div>
      <div className="own-plan__facts num">
        <Cost price={price} currency={currency} duration_months={duration_months} />
        {max_devices !== null && <span className="sub">{describeDevices(max_devices)}</span>}
      </div>
    </div>
  );
}

type CostProps = Pick<CurrentSubscription, 'price' | 'currency' | 'duration_months'>;

/** The known parts of price and term. */
function Cost({ price, currency, duration_months }: CostProps) {
  const cost = price === null || currency === null ? undefined : describePrice(price, currency);
  const span = duration_months === null ? undefined : describeMonths(duration_months);
  if (cost === undefined) return span && <span className="sub">{`for ${span}`}</span>;
  if (span === undefined) return <b>{cost}</b>;
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
  const error = plans.error ?? requests.error;
  const retry = () => void Promise.all([plans.refetch(), requests.refetch()]);
  return (
    <Card title="Available plans">
      <EmailNeeded sentence="You can request a plan after you confirm your email address." />
      {error && <ErrorNotice title="We couldn’t load the plans" sentence={sentenceOf(error)} onRetry={retry} />}
      {!error && !(plans.data && requests.data) && <LoadingRows label="Loading the plans" />}
      {plans.data?.length === 0 && (
        <EmptyState
          icon={IconTemplate}
          title="No plans available yet"
          sentence="Plans appear here when an administrator adds them."
        />
      )}
      {plans.data && requests.data && plans.data.length > 0 && (
        <div className="plan-grid">
          {plans.data.map((plan) => (
            <PlanCard key={plan.id} plan={plan}>
              <PlanAction
                plan={plan}
                // Newest first, so this finds the latest request.
                request={requests.data.find(({ template }) => template.id === plan.id)}
                isOwn={current?.plan_name === plan.template_name}
              />
            </PlanCard>
          ))}
        </div>
      )}
    </Card>
  );
}

interface PlanActionProps {
  plan: Template;
  request: PlanRequest | undefined;
  isOwn: boolean;
}

function PlanAction({ plan, request, isOwn }: PlanActionProps) {
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

  const isOpen = request?.status === 'open';
  return (
    <>
      <p role="status" className="plan-card__state" data-open={isOpen}>
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
          variant={isOwn ? 'quiet' : 'primary'}
          loading={isPending}
          disabled={isUnproven}
          aria-label={`Request this plan ${plan.template_name}`}
          onClick={() => send(() => call(requestPlan, { body: { template_id: plan.id } }))}
        >
          Request this plan
        </Button>
      )}
      {error && (
        <p role="alert" className="plan-card__error">
          {sentenceOf(error)}
        </p>
      )}
    </>
  );
}

function describeState(request: PlanRequest | undefined, isOwn: boolean): string {
  if (request?.status === 'open') return `Requested on ${describeDate(request.requested_at)}. An administrator will answer.`;
  if (isOwn) return 'This is your plan. Request it again to extend it.';
  if (request?.status === 'declined' && request.decided_at !== null) return `Declined on ${describeDate(request.decided_at)}.`;
  return '';
}
