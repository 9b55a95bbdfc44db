import type { Template } from '@palisade/contract/subscription';
import { IconCheck, IconDevices, IconMinus, IconUsers, IconWorldCheck } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import { Badge } from '#ui/badge.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import type { Compared, Comparison } from './plan-comparison.ts';
import {
  describeDevices,
  describeMonths,
  describePrice,
  describeProfiles,
  describeType,
  describeWebDevices,
} from './plan-words.ts';

type Plan = Omit<Template, 'id'>;

export function TypeBadge({ isPremium }: { isPremium: boolean }) {
  return <Badge tone={isPremium ? 'safe' : 'plain'}>{describeType(isPremium)}</Badge>;
}

export function FeatureList({ features }: { features: readonly string[] }) {
  if (features.length === 0) return null;
  return (
    <Grid as="ul" columns="fit-m" gap="2" className="base above-2">
      {features.map((feature) => (
        <Row as="li" wrap={false} gap="2" align="start" className="shrink" key={feature}>
          <IconCheck className="fixed above-1 accent" size={16} stroke={2} aria-hidden="true" />
          <bdi className="shrink break">{feature}</bdi>
        </Row>
      ))}
    </Grid>
  );
}

/** Features of all plans; those that this plan lacks are dimmed. */
function ComparedList({ features }: { features: readonly Compared[] }) {
  return (
    <Stack as="ul" gap="2" className="base above-2">
      {features.map(({ feature, isIncluded }) => (
        <Row
          as="li"
          wrap={false}
          gap="2"
          align="start"
          className={isIncluded ? 'shrink' : 'shrink muted'}
          key={feature}
          data-included={isIncluded}
        >
          {isIncluded ? (
            <IconCheck className="fixed above-1 accent" size={16} stroke={2} aria-hidden="true" />
          ) : (
            <IconMinus className="fixed above-1" size={16} stroke={2} aria-hidden="true" />
          )}
          <bdi className="shrink break">
            {!isIncluded && <span className="visually-hidden">Not included: </span>}
            {feature}
          </bdi>
        </Row>
      ))}
    </Stack>
  );
}

function Value({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Row wrap={false} gap="4" align="start" justify="between" className="pad-line line-above">
      <dt className="muted">{name}</dt>
      <dd className="num break end">{children}</dd>
    </Row>
  );
}

interface PlanCardProps {
  plan: Plan;
  /** A comparison with other plans, shown in place of the plan's own features. */
  compared?: Comparison;
  children?: ReactNode;
}

/** One plan: name, price, term, devices and features. */
export function PlanCard({ plan, compared, children }: PlanCardProps) {
  const id = useId();
  // Name, price and action as rows, so that plans beside each other align.
  const parts = 3 + Number(compared !== undefined && compared.rows.length > 0) + Number((compared?.features.length ?? 0) > 0);
  return (
    <article className="plan-card surface-sunken pad-l shrink full" style={{ gridRow: `span ${parts}` }} aria-labelledby={id}>
      <Row as="header" wrap={false} gap="3" align="start" justify="between">
        <h3 id={id} className="break">
          <bdi>{plan.template_name}</bdi>
        </h3>
        <TypeBadge isPremium={plan.is_premium} />
      </Row>
      <p className="num muted base">
        <Sentence
          text="{price} for {span}"
          parts={{
            price: <b className="figure ink break">{describePrice(plan.base_price, plan.currency)}</b>,
            span: describeMonths(plan.duration_months),
          }}
        />
        {plan.duration_months > 1 && (
          <small className="block small">{`${describePrice(plan.base_price / plan.duration_months, plan.currency)} a month`}</small>
        )}
      </p>
      {compared ? (
        <>
          {compared.rows.length > 0 && (
            <dl className="base">
              {compared.rows.map(({ name, value }) => (
                <Value key={name} name={name}>
                  {value}
                </Value>
              ))}
            </dl>
          )}
          {compared.features.length > 0 && <ComparedList features={compared.features} />}
        </>
      ) : (
        <>
          <Row as="p" wrap={false} gap="2" className="base muted">
            <IconDevices size={16} stroke={1.7} aria-hidden="true" />
            {describeDevices(plan.max_devices)}
          </Row>
          <Row as="p" wrap={false} gap="2" className="base muted">
            <IconWorldCheck size={16} stroke={1.7} aria-hidden="true" />
            {describeWebDevices(plan.max_web_devices)}
          </Row>
          <Row as="p" wrap={false} gap="2" className="base muted">
            <IconUsers size={16} stroke={1.7} aria-hidden="true" />
            {describeProfiles(plan.max_profiles)}
          </Row>
          <FeatureList features={plan.features} />
        </>
      )}
      {children && (
        <Stack gap="2" className="plan-card__action">
          {children}
        </Stack>
      )}
    </article>
  );
}
