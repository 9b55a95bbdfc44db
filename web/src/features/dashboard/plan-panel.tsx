import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import { PLAN_FEATURES_SHOWN } from '@palisade/contract/dashboard';
import { IconCheck } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { Button } from '#ui/button.tsx';
import { describeDate } from '#ui/moment.tsx';

/** The licence: what the person has, until when, and for how much. */
export function PlanPanel({ plan }: { plan: CurrentSubscription }) {
  return (
    <section className="card plan" aria-labelledby="plan-name">
      {plan.has_subscription ? <Plan plan={plan} /> : <NoPlan asked={plan.requested_at} />}
    </section>
  );
}

function Plan({ plan }: { plan: CurrentSubscription }) {
  const more = plan.features.length - PLAN_FEATURES_SHOWN;
  return (
    <>
      <div className="plan__head">
        <h2 id="plan-name">
          <bdi>{plan.plan_name}</bdi>
        </h2>
        {plan.is_premium && <span className="plan__premium">PREMIUM</span>}
      </div>
      {plan.price !== null && (
        <p className="plan__price num">
          {plan.price.toFixed(2)}{' '}
          <span className="sub">
            {plan.currency}
            {plan.duration_months && ` for ${plan.duration_months} month${plan.duration_months === 1 ? '' : 's'}`}
          </span>
        </p>
      )}
      {plan.features.length > 0 && (
        <ul className="plan__features">
          {plan.features.slice(0, PLAN_FEATURES_SHOWN).map((feature) => (
            <li key={feature}>
              <IconCheck size={16} stroke={2} aria-hidden="true" />
              <bdi>{feature}</bdi>
            </li>
          ))}
        </ul>
      )}
      <p className="sub">
        {more > 0 && (
          <>
            <span>{`+${more} more`}</span> ·{' '}
          </>
        )}
        {plan.expires_at === null ? (
          'Does not expire'
        ) : (
          <>
            Expires <time dateTime={plan.expires_at}>{describeDate(plan.expires_at)}</time>
          </>
        )}
      </p>
    </>
  );
}

function NoPlan({ asked }: { asked: string | undefined }) {
  const navigate = useNavigate();
  return (
    <>
      <div className="plan__head">
        <h2 id="plan-name">BASIC NEURAL ACCESS</h2>
      </div>
      <Button variant="quiet" onClick={() => navigate('/subscription-manager')}>
        {asked ? `Requested on ${describeDate(asked)}` : 'Upgrade'}
      </Button>
    </>
  );
}
