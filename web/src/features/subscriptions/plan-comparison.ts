import { planKeyOf, type Template } from '@palisade/contract/subscription';

type Plan = Pick<Template, 'is_premium' | 'features'>;

/** Meaning of the premium checkbox of a plan. */
const PREMIUM = 'Anti-Hacking Tools';

/** A count of devices, which a plan has as a value. */
const DEVICES = /^(?:up to )?(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|unlimited) devices?$/iu;
const SUPPORT = /\bsupport\b/iu;

/** Features of a plan, with the one that premium is. */
function allOf({ is_premium, features }: Plan): string[] {
  return is_premium && !features.some((feature) => planKeyOf(feature) === planKeyOf(PREMIUM)) ? [PREMIUM, ...features] : features;
}

/** A line of the comparison. */
export interface Compared {
  feature: string;
  isIncluded: boolean;
}

/** Part of a plan beside the same part of other plans. */
export interface Comparison {
  features: readonly Compared[];
  /** The kinds of support, where any of the plans names one. */
  support: readonly string[] | undefined;
}

/** The features of any of the plans, the most common first and in the same order for each plan, so that plans beside each other are compared line by line. */
export function comparedFeatures(plans: readonly Plan[]): (plan: Plan) => Comparison {
  const counts = new Map<string, { feature: string; count: number }>();
  for (const plan of plans) {
    for (const feature of allOf(plan).filter((named) => !DEVICES.test(named) && !SUPPORT.test(named))) {
      const counted = counts.get(planKeyOf(feature)) ?? { feature, count: 0 };
      counts.set(planKeyOf(feature), { ...counted, count: counted.count + 1 });
    }
  }
  const namesSupport = plans.some(({ features }) => features.some((feature) => SUPPORT.test(feature)));
  const ordered = [...counts.values()].toSorted((one, other) => other.count - one.count);
  return (plan) => {
    const own = new Set(allOf(plan).map(planKeyOf));
    return {
      features: ordered.map(({ feature }) => ({ feature, isIncluded: own.has(planKeyOf(feature)) })),
      support: namesSupport ? plan.features.filter((feature) => SUPPORT.test(feature)) : undefined,
    };
  };
}
