import { expect, it } from 'vitest';
import { comparedFeatures } from './plan-comparison.ts';

const SOLO = { is_premium: false, features: ['Family view', 'One device'] };
const FAMILY = { is_premium: true, features: ['Five devices', 'family view', 'Remote support', 'Mobile devices'] };

it('lists the features of all plans in one order, and support and devices as values', () => {
  const of = comparedFeatures([SOLO, FAMILY]);
  const line = (feature: string, isIncluded: boolean) => ({ feature, isIncluded });
  expect(of(SOLO)).toEqual({
    features: [line('Family view', true), line('Anti-Hacking Tools', false), line('Mobile devices', false)],
    support: [],
  });
  expect(of(FAMILY).features.map(({ isIncluded }) => isIncluded)).toEqual([true, true, true]);
  expect(of(FAMILY).support).toEqual(['Remote support']);
});

it('names what premium is once', () => {
  const plan = { is_premium: true, features: ['anti-hacking tools'] };
  expect(comparedFeatures([plan])(plan)).toEqual({
    features: [{ feature: 'anti-hacking tools', isIncluded: true }],
    support: undefined,
  });
});
