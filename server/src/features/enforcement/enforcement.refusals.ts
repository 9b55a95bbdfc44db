import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals of too many attempts. A landed code never changes its meaning or its parameters. */
export const ENFORCEMENT_REFUSALS = {
  'password.too_many_wrong': {
    problem: 'too_many_requests',
    english: 'Too many wrong passwords. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'password.too_often': {
    problem: 'too_many_requests',
    english: 'You entered your password too often. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'recovery.too_many': {
    problem: 'too_many_requests',
    english: 'Too many requests for this. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'registration.too_many': {
    problem: 'too_many_requests',
    english: 'Too many accounts were created from your network. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'sign_in.too_many_for_email': {
    problem: 'too_many_requests',
    english: 'Too many wrong passwords for this email. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'sign_in.too_many_from_network': {
    problem: 'too_many_requests',
    english: 'Too many failed sign-ins from your network. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'sign_in.busy': {
    problem: 'too_many_requests',
    english: 'Too many people are signing in right now. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'block.ended': { problem: 'not_found', english: 'This block has already ended.' },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseFor } = refusalsFrom(ENFORCEMENT_REFUSALS);
