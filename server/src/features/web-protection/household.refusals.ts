import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Error codes about the people of a home. A released code never changes its meaning or its parameters. */
export const HOUSEHOLD_REFUSALS = {
  'home.none': { problem: 'not_found', english: 'Add a profile first.' },
  'home.time_zone': { problem: 'invalid_field', english: 'Choose a time zone, like Europe/Paris.' },
  'home.has_profiles': {
    problem: 'conflict',
    english: 'You’re the only guardian. Remove the profiles first, or invite another guardian.',
  },
  'home.own_profiles': {
    problem: 'conflict',
    english: 'You have profiles in a home of your own. Remove them before you join another home.',
  },
  'home.is_guardian': { problem: 'conflict', english: 'This person is a guardian of your home already.' },
  'home.full': {
    problem: 'conflict',
    english: 'A home has at most {maximum} guardians and open invitations.',
    params: { maximum: 'number' },
  },
  'home.invite_email': { problem: 'invalid_field', english: 'Enter an email address, like name@example.com.' },
  'home.invite_over': { problem: 'not_found', english: 'This invitation expired, was used, or is for another email address.' },
  'home.invited_often': {
    problem: 'too_many_requests',
    english: 'You sent many invitations. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'profile.no_plan': { problem: 'conflict', english: 'Your plan has no profiles. Request a plan that has them.' },
  'profile.too_many': {
    problem: 'conflict',
    english: {
      count: 'limit',
      one: 'Your plan has 1 profile. Remove it first, or request a larger plan.',
      other: 'Your plan has {limit} profiles. Remove one first, or request a larger plan.',
    },
    params: { limit: 'grouped' },
  },
  'profile.shared_by': {
    problem: 'invalid_field',
    english: 'Choose people of your home. A shared profile can’t be one of them.',
  },
  'profile.is_shared': { problem: 'conflict', english: 'A shared profile has the strictest rules of its people. Change theirs.' },
  'profile.too_many_names': {
    problem: 'conflict',
    english: 'This profile has {maximum} names, the most. Remove one first.',
    params: { maximum: 'number' },
  },
  'profile.network': {
    problem: 'conflict',
    english: 'A router asks for everyone behind it. Add the device itself to web protection.',
  },
  'profile.unknown': { problem: 'not_found', english: 'This profile was removed.' },
  'ask.unknown_key': { problem: 'not_found', english: 'This address has changed. Ask a guardian for the new one.' },
  'ask.too_many_keys': {
    problem: 'too_many_requests',
    english: 'Too many tries. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'ask.refusal_gone': { problem: 'not_found', english: 'This isn’t on the list any more. Reload the page.' },
  'ask.dangerous': { problem: 'conflict', english: 'This website is dangerous, so no one can allow it.' },
  'ask.of_many': { problem: 'conflict', english: 'Many websites share this name. Ask for one of them.' },
  'ask.too_often': {
    problem: 'too_many_requests',
    english: 'You asked many times. Try again in {wait}.',
    params: { wait: 'wait' },
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField, refuseFor } = refusalsFrom(HOUSEHOLD_REFUSALS);
