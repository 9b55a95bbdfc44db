import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import { PLAN_FEATURES_SHOWN } from '@palisade/contract/dashboard';
import { formatDecimals, formatSpan } from '@palisade/contract/intl';
import { IconCheck } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { Button } from '#ui/button.tsx';
import { describeDate, describePlanEnd } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';

/** The plan: name, end and price. */
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
          <Price plan={plan} price={plan.price} />
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
        {more > 0 && <span>{`+${more} more`}</span>}
        {more > 0 && ' · '}
        {plan.expires_at === null ? (
          'Does not expire'
        ) : (
          <Sentence
            text="Expires {day}"
            parts={{ day: <time dateTime={plan.expires_at}>{describePlanEnd(plan.expires_at)}</time> }}
          />
        )}
      </p>
    </>
  );
}

/** A large price with currency and term: "9.99 USD for 12 months". */
function Price({ plan: { currency, duration_months }, price }: { plan: CurrentSubscription; price: number }) {
  const amount = <b>{formatDecimals(price, 2)}</b>;
  const code = currency ?? '';
  if (duration_months === null) return <Sentence text="{amount} {code}" parts={{ amount, code }} />;
  const span = formatSpan(duration_months, 'month');
  return currency ? (
    <Sentence text="{amount} {code} for {span}" parts={{ amount, code, span }} />
  ) : (
    <Sentence text="{amount} for {span}" parts={{ amount, span }} />
  );
}

function NoPlan({ asked }: { asked: string | undefined }) {
  const navigate = useNavigate();
  return (
    <>
      <div className="plan__head">
        <h2 id="plan-name">BASIC NEURAL ACCESS</h2>
      </div>
      <p className="sub">Scanning is included. A premium plan adds the anti-hacking monitor and more.</p>
      <Button variant="quiet" onClick={() => navigate('/subscription-manager')}>
        {asked ? `Requested on ${describeDate(asked)}` : 'Upgrade'}
      </Button>
    </>
  );
}
