import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about plans and their requests. A landed code never changes its meaning or its parameters. */
export const SUBSCRIPTION_REFUSALS = {
  'plan.not_available': { problem: 'not_found', english: 'This plan is no longer available.' },
  'plan.choose_another': {
    problem: 'not_found',
    english: 'This plan is no longer available. Reload the page and choose another one.',
  },
  'plan.not_on_offer': { problem: 'not_found', english: 'This plan is no longer on offer.' },
  'plan.already_requested': { problem: 'conflict', english: 'You’ve already requested this plan. An administrator will answer.' },
  'plan.request_answered': { problem: 'not_found', english: 'This request was already answered.' },
  'plan.name_taken': {
    problem: 'conflict',
    english: 'A template named “{template_name}” already exists. Choose another name.',
    params: { template_name: 'text' },
  },
  'plan.has_request': {
    problem: 'conflict',
    english: '“{template_name}” has an open request. Answer it first in Manage Subscriptions.',
    params: { template_name: 'text' },
  },
  'subscription.unknown_email': {
    problem: 'not_found',
    english: 'No account uses the email {email}. Check it, or ask the person to register first.',
    params: { email: 'text' },
  },
  'subscription.ended': { problem: 'not_found', english: 'This subscription has already ended.' },
} as const satisfies Record<string, Refusal>;

export const { refuse } = refusalsFrom(SUBSCRIPTION_REFUSALS);
