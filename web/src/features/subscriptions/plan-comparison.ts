import { formatList } from '@palisade/contract/intl';
import { planKeyOf, type Template } from '@palisade/contract/subscription';
import { describeLimit, describePeople } from './plan-words.ts';

type Plan = Pick<Template, 'is_premium' | 'features' | 'max_devices' | 'max_web_devices' | 'max_profiles'>;

/** The feature that the premium checkbox of a plan stands for. */
const PREMIUM = 'Anti-Hacking Tools';

/** Features that state a number of devices, which a plan has as a separate value. */
const DEVICES = /^(?:up to )?(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|unlimited) devices?$/iu;
const SUPPORT = /\bsupport\b/iu;

/** Feature names that mean premium, such as "Anti-hacking monitor". */
const MEANS_PREMIUM = /\banti-?hacking\b/iu;

/** Features of a plan without duplicates: without the number of devices, which is a separate value, and without a second name of premium. */
export function distinctFeatures(features: readonly string[]): string[] {
  const other = features.some((feature) => MEANS_PREMIUM.test(feature) && planKeyOf(feature) !== planKeyOf(PREMIUM));
  return features.filter((feature) => !DEVICES.test(feature) && !(other && planKeyOf(feature) === planKeyOf(PREMIUM)));
}

/** Features of a plan, including the one that premium stands for. */
function allOf({ is_premium, features }: Pick<Plan, 'is_premium' | 'features'>): string[] {
  const own = distinctFeatures(features);
  return is_premium && !own.some((feature) => MEANS_PREMIUM.test(feature)) ? [PREMIUM, ...own] : own;
}

/** A feature in the comparison. */
export interface Compared {
  feature: string;
  isIncluded: boolean;
}

/** A value that every plan has. */
interface Row {
  name: string;
  value: string;
}

/** The parts in which a plan differs from others; all parts for a single plan. */
export interface Comparison {
  rows: readonly Row[];
  features: readonly Compared[];
}

/** The values of a plan. `namesSupport`: any of the plans names a kind of support. */
function rowsOf(plan: Plan, namesSupport: boolean): Row[] {
  const support = plan.features.filter((feature) => SUPPORT.test(feature));
  return [
    { name: 'Computers with our program', value: describeLimit(plan.max_devices) },
    { name: 'Devices with web protection', value: describeLimit(plan.max_web_devices) },
    { name: 'Profiles at home', value: describePeople(plan.max_profiles) },
    ...(namesSupport ? [{ name: 'Support', value: formatList(support, 'plain') || 'None named' }] : []),
  ];
}

/**
 * Plans beside each other: `common` are the features of all plans, `of` returns the remaining ones of one plan. All plans list features in the same order, the most common
 * first, so that plans can be compared line by line.
 */
export function comparePlans(plans: readonly Plan[]): { common: string[]; of: (plan: Plan) => Comparison } {
  const counts = new Map<string, { feature: string; count: number }>();
  for (const plan of plans) {
    for (const feature of allOf(plan).filter((named) => !SUPPORT.test(named))) {
      const counted = counts.get(planKeyOf(feature)) ?? { feature, count: 0 };
      counts.set(planKeyOf(feature), { ...counted, count: counted.count + 1 });
    }
  }
  const namesSupport = plans.some(({ features }) => features.some((feature) => SUPPORT.test(feature)));
  const all = plans.map((plan) => rowsOf(plan, namesSupport));
  const isCommon = (row: Row) => plans.length > 1 && all.every((rows) => rows.some((one) => isSame(one, row)));
  const ordered = [...counts.values()].toSorted((one, other) => other.count - one.count);
  const isInAll = ({ count }: { count: number }) => plans.length > 1 && count === plans.length;
  return {
    common: [
      ...(all[0] ?? []).filter(isCommon).map(({ name, value }) => `${name}: ${value}`),
      ...ordered.filter(isInAll).map(({ feature }) => feature),
    ],
    of(plan) {
      const own = new Set(allOf(plan).map(planKeyOf));
      return {
        rows: rowsOf(plan, namesSupport).filter((row) => !isCommon(row)),
        features: ordered
          .filter((one) => !isInAll(one))
          .map(({ feature }) => ({ feature, isIncluded: own.has(planKeyOf(feature)) })),
      };
    },
  };
}

const isSame = (one: Row, other: Row) => one.name === other.name && one.value === other.value;
