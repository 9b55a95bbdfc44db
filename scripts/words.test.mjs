// Checks that the check of words finds each fault that it names, and nothing in plain sentences.
import { expect, test } from 'vitest';
import { faultsOf } from './words.mjs';

test.each([
  ['Run a posture scan.', 'term'],
  ['The scanning engine is starting.', 'term'],
  ['The copy is locked away.', 'term'],
  ['This is only a drill.', 'term'],
  ['Sign-in needs a second step.', 'term'],
  ['Check your mail.', 'term'],
  ['Somebody signed in.', 'term'],
  ['This entry is invalid.', 'term'],
  ['Colour scheme', 'term'],
  ['Enrol this device.', 'term'],
  ['Ask whoever runs the server.', 'clause'],
  ['Nobody can open it.', 'clause'],
  ['Delete what is yours.', 'clause'],
  ['An address is taken for another one.', 'clause'],
  ['This device of yours is offline.', 'clause'],
  ['It goes by itself, as ever.', 'clause'],
  ['If it goes on, reload the page.', 'clause'],
  ['Who has the key can open it.', 'clause'],
  ['What you share is visible to support.', 'clause'],
  [`${'word '.repeat(21).trim()}.`, 'length'],
])('finds the fault in %j', (sentence, rule) => {
  expect(faultsOf(sentence).map((fault) => fault.rule)).toContain(rule);
});

test.each([
  'Enter your email to get a reset token.',
  'Email isn’t set up. Open a message and pass it on.',
  'SMTP_URL is not set. Set it to your mail server.',
  'What they can see',
  'Who is calling?',
  'Read [Someone called me](/help/somebody-called-me).',
  'Invalid action',
  `${'word '.repeat(20).trim()}. ${'word '.repeat(20).trim()}.`,
])('finds nothing in %j', (sentence) => {
  expect(faultsOf(sentence)).toEqual([]);
});
