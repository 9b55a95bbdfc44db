import type { Template } from '@palisade/contract/subscription';
import { IconCheck, IconDevices } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import { Sentence } from '#ui/sentence.tsx';
import { describeDevices, describeMonths, describePrice, describeType } from './plan-words.ts';

type Plan = Omit<Template, 'id'>;

export function TypeBadge({ isPremium }: { isPremium: boolean }) {
  return (
    <span className="type-badge" data-premium={isPremium}>
      {describeType(isPremium)}
    </span>
  );
}

export function FeatureList({ features }: { features: readonly string[] }) {
  if (features.length === 0) return null;
  return (
    <ul className="feature-list">
      {features.map((feature) => (
        <li key={feature}>
          <IconCheck className="check-icon" size={16} stroke={2} aria-hidden="true" />
          <bdi>{feature}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** One plan: name, price, term, devices and features. */
export function PlanCard({ plan, children }: { plan: Plan; children?: ReactNode }) {
  const id = useId();
  return (
    <article className="plan-card" aria-labelledby={id}>
      <header>
        <h3 id={id}>
          <bdi>{plan.template_name}</bdi>
        </h3>
        <TypeBadge isPremium={plan.is_premium} />
      </header>
      <p className="plan-card__price num">
        <Sentence
          text="**{price}** for {span}"
          parts={{ price: describePrice(plan.base_price, plan.currency), span: describeMonths(plan.duration_months) }}
        />
      </p>
      <p className="plan-card__devices">
        <IconDevices size={16} stroke={1.7} aria-hidden="true" />
        {describeDevices(plan.max_devices)}
      </p>
      <FeatureList features={plan.features} />
      {children && <div className="plan-card__action">{children}</div>}
    </article>
  );
}
