import type { Check } from './check.ts';
import { namedDevices } from './named.ts';
import { sentence } from './posture.phrases.ts';

const HOUSEHOLD = { fix_route: '/household', action: sentence('action.household') } as const;

/** Checks of the people of a home: of each of its guardians. */
export const HOUSEHOLD_CHECKS: readonly Check[] = [
  {
    id: 'ask_waiting',
    group: 'devices',
    severity: 'low',
    ...HOUSEHOLD,
    advice: sentence('ask_waiting.advice'),
    deduction: 0,
    run: ({ home }) =>
      home && {
        times: home.asks > 0 ? 1 : 0,
        evidence: home.asks > 0 ? sentence('ask_waiting.count', { count: home.asks }) : sentence('ask_waiting.none'),
      },
  },
  {
    id: 'profile_device_silent',
    group: 'devices',
    severity: 'low',
    ...HOUSEHOLD,
    advice: sentence('profile_device_silent.advice'),
    deduction: 0,
    run: ({ home }) =>
      home && {
        times: home.silent.length > 0 ? 1 : 0,
        evidence: home.silent.length > 0 ? namedDevices(home.silent) : sentence('profile_device_silent.none'),
      },
  },
  {
    id: 'profile_no_plan',
    group: 'devices',
    severity: 'low',
    ...HOUSEHOLD,
    advice: sentence('profile_no_plan.advice'),
    deduction: 0,
    run: ({ home }) =>
      home && {
        times: home.without_plan.length > 0 ? 1 : 0,
        evidence:
          home.without_plan.length > 0
            ? sentence('profile_no_plan.count', { count: home.without_plan.length })
            : sentence('profile_no_plan.none'),
      },
  },
];
