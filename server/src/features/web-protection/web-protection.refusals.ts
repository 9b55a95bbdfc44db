import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Error codes of web protection. A released code never changes its meaning or its parameters. */
export const WEB_PROTECTION_REFUSALS = {
  'web_device.too_many': {
    problem: 'conflict',
    english: {
      count: 'limit',
      one: 'Your plan has web protection for 1 device. Remove it first, or request a larger plan.',
      other: 'Your plan has web protection for {limit} devices. Remove one first, or request a larger plan.',
    },
    params: { limit: 'grouped' },
  },
  'web_device.address_taken': { problem: 'conflict', english: 'Another device has this address already.' },
  'web_device.address_of_network': {
    problem: 'forbidden',
    english: 'Only administrators can protect the network of this server.',
  },
  'web_device.is_network': {
    problem: 'conflict',
    english: 'Names of a whole network can’t be shown: they belong to several people.',
  },
  'web_device.has_profile': {
    problem: 'conflict',
    english: 'Names of a device with a profile can’t be shown. You see what was refused on it.',
  },
  'web_name.form': { problem: 'invalid_field', english: 'Enter a domain, like example.com.' },
  'web_name.shared': {
    problem: 'invalid_field',
    english: 'Many websites share {name}. Enter one domain below it.',
    params: { name: 'text' },
  },
  'web_name.too_many': {
    problem: 'conflict',
    english: 'You have {maximum} names of your own, the most. Remove one first.',
    params: { maximum: 'number' },
  },
  'domain_list.not_waiting': { problem: 'not_found', english: 'This list doesn’t wait for a decision any more.' },
  'web_key.unknown': { problem: 'not_found', english: 'No device has this address. Copy it again from Palisade.' },
  'web_key.too_many': {
    problem: 'too_many_requests',
    english: 'Too many questions. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'web_question.form': { problem: 'malformed', english: 'This isn’t a DNS message.' },
  'web_profile.needs_https': {
    problem: 'conflict',
    english: 'A profile needs an https address. Ask the administrator to set PUBLIC_URL.',
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField, refuseFor } = refusalsFrom(WEB_PROTECTION_REFUSALS);
