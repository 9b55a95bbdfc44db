import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import { PLAN_FEATURES_SHOWN } from '@palisade/contract/dashboard';
import { formatDecimals, formatPrice, formatSpan } from '@palisade/contract/intl';
import { IconCheck } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { describeDate, describePlanEnd } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';

/** The plan: name, end and price. */
export function PlanPanel({ plan }: { plan: CurrentSubscription }) {
  return (
    <Stack as="section" gap="3" align="start" className="card" aria-labelledby="plan-name">
      {plan.has_subscription ? <Plan plan={plan} /> : <NoPlan asked={plan.requested_at} />}
    </Stack>
  );
}

function Plan({ plan }: { plan: CurrentSubscription }) {
  const more = plan.features.length - PLAN_FEATURES_SHOWN;
  return (
    <>
      <Row gap="2" rowGap="1" className="shrink break">
        <h2 id="plan-name">
          <bdi>{plan.plan_name}</bdi>
        </h2>
        {plan.is_premium && <Badge tone="safe">PREMIUM</Badge>}
      </Row>
      {plan.price !== null && (
        <p className="num muted base medium">
          <Price plan={plan} price={plan.price} />
        </p>
      )}
      {plan.features.length > 0 && (
        <Stack as="ul" gap="2" className="base muted">
          {plan.features.slice(0, PLAN_FEATURES_SHOWN).map((feature) => (
            <Row as="li" wrap={false} gap="2" align="start" className="break" key={feature}>
              <IconCheck className="fixed above-1 accent" size={16} stroke={2} aria-hidden="true" />
              <bdi>{feature}</bdi>
            </Row>
          ))}
        </Stack>
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

/** A large price with its term: "$9.99 USD for 12 months". */
function Price({ plan: { currency, duration_months }, price }: { plan: CurrentSubscription; price: number }) {
  const cost = currency ? formatPrice(price, currency) : formatDecimals(price, 2);
  if (duration_months === null) return <b className="figure ink">{cost}</b>;
  return <Sentence text="**{cost}** for {span}" parts={{ cost, span: formatSpan(duration_months, 'month') }} />;
}

function NoPlan({ asked }: { asked: string | undefined }) {
  const navigate = useNavigate();
  return (
    <>
      <Row gap="2" rowGap="1" className="shrink break">
        <h2 id="plan-name">BASIC NEURAL ACCESS</h2>
      </Row>
      <p className="sub">Scanning is included. A premium plan adds the anti-hacking monitor and more.</p>
      <Button variant="quiet" onClick={() => navigate('/subscription-manager')}>
        {asked ? `Requested on ${describeDate(asked)}` : 'Upgrade'}
      </Button>
    </>
  );
}
