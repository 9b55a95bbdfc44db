import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals of the scam check and its lists. A landed code never changes its meaning or its parameters. */
export const SCAM_CHECK_REFUSALS = {
  'scam_check.too_many_files': { problem: 'unavailable', english: 'Too many files are being checked. Try again in a moment.' },
  'scam_check.too_many': {
    problem: 'too_many_requests',
    english: 'You can check {count} messages a minute. Try again in {wait}.',
    params: { count: 'number', wait: 'wait' },
  },
  'scam_check.still_running': {
    problem: 'too_many_requests',
    english: '{count} of your checks are still running. Try again in {wait}.',
    params: { count: 'number', wait: 'wait' },
  },
  'scam_check.busy': { problem: 'unavailable', english: 'Too many checks are running. Try again in a moment.' },
  'scam_check.failed': { problem: 'unavailable', english: 'The check failed. Try again.' },
  'scam_check.too_long': {
    problem: 'unavailable',
    english: 'The check took too long, so it was stopped. Try a shorter text or a smaller picture.',
  },
  'domain.form': { problem: 'invalid_field', english: 'Enter a domain, like example.com.' },
  'domain.shared': {
    problem: 'invalid_field',
    english: 'Many people share {domain}. Enter one domain below it.',
    params: { domain: 'text' },
  },
  'domain.too_many_trusted': {
    problem: 'conflict',
    english: 'You trust {maximum} domains, the most. Remove one first.',
    params: { maximum: 'number' },
  },
  'domain.already_trusted': { problem: 'conflict', english: 'You trust {domain} already.', params: { domain: 'text' } },
  'domain.too_many_listed': {
    problem: 'conflict',
    english: 'The lists hold {maximum} domains, the most. Use a feed.',
    params: { maximum: 'number' },
  },
  'domain.already_listed': {
    problem: 'conflict',
    english: '{domain} is on a list already. Remove it there first.',
    params: { domain: 'text' },
  },
  'domain.not_listed': { problem: 'not_found', english: 'This domain is on no list any more.' },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField, refuseFor } = refusalsFrom(SCAM_CHECK_REFUSALS);
