import { expect, it } from 'vitest';
import { comparePlans, distinctFeatures } from './plan-comparison.ts';

const LIMITS = { max_devices: 5, max_web_devices: 10, max_profiles: 3 };
const SOLO = { ...LIMITS, is_premium: false, features: ['Family view', 'One device'], max_devices: 1 };
const FAMILY = { ...LIMITS, is_premium: true, features: ['Five devices', 'family view', 'Remote support', 'Mobile devices'] };

it('shows of each plan only the parts in which it differs, and the others once', () => {
  const { common, of } = comparePlans([SOLO, FAMILY]);
  const line = (feature: string, isIncluded: boolean) => ({ feature, isIncluded });
  expect(common).toEqual(['Devices with web protection: 10', 'Profiles at home: 3 people', 'Family view']);
  expect(of(SOLO)).toEqual({
    rows: [
      { name: 'Computers with our program', value: '1' },
      { name: 'Support', value: 'None named' },
    ],
    features: [line('Anti-Hacking Tools', false), line('Mobile devices', false)],
  });
  expect(of(FAMILY).rows.map(({ value }) => value)).toEqual(['5', 'Remote support']);
  expect(of(FAMILY).features.map(({ isIncluded }) => isIncluded)).toEqual([true, true]);
});

it('has all parts of a single plan, and what premium is once', () => {
  const plan = { ...LIMITS, is_premium: true, features: ['Anti-hacking monitor'] };
  const { common, of } = comparePlans([plan]);
  expect(common).toEqual([]);
  expect(of(plan).features).toEqual([{ feature: 'Anti-hacking monitor', isIncluded: true }]);
  expect(of(plan).rows).toHaveLength(3);
});

it.each([
  [['Anti-Hacking Tools', 'Anti-hacking monitor'], ['Anti-hacking monitor']],
  [['Anti-Hacking Tools'], ['Anti-Hacking Tools']],
  [['Five devices', '24/7 chat'], ['24/7 chat']],
  [
    ['Mobile devices', 'Five devices and more'],
    ['Mobile devices', 'Five devices and more'],
  ],
])('says nothing twice of %j', (features, distinct) => {
  expect(distinctFeatures(features)).toEqual(distinct);
});
