import type { Template } from '@palisade/contract/phrase';
import { sentencesFrom } from '#platform/sentence.ts';

/** The first step after giving a scammer a card number, or access. */
const BANK = 'If you gave a card number, call your bank now. Use the number on the back of the card.';
const LET_IN = 'If you let someone onto your computer, take it off the internet. Then change your passwords from another device.';

/** Replies to a customer's message, by its topic. */
const REPLIES = {
  'reply.ransom': {
    english:
      'Don’t pay. Unplug the network cable or turn off Wi-Fi now, and leave the computer on. ' +
      'Don’t delete anything. Call support from a phone and read them the words on the screen.',
  },
  'reply.virus_warning': {
    english:
      'Don’t call that number. Real warnings don’t have one. Close the window, or restart the computer if it won’t close. ' +
      'A web page can’t tell whether your computer is infected. To be sure, scan your latest download in Antivirus.',
  },
  'reply.number_to_call': {
    english:
      'Don’t call that number. Real warnings don’t have one. Close the window, or restart the computer if it won’t close. ' +
      'Then scan your latest download in Antivirus.',
  },
  'reply.asked_for_secrets': {
    english:
      'Hang up. We never call first, and support never asks for a card number, a password, or a code. ' +
      `Don’t install anything or call back a number they gave you. ${BANK} ${LET_IN}`,
  },
  'reply.false_caller': {
    english: `Hang up. We never call first. Microsoft, your bank, and the police don’t call to ask for money, passwords, or codes. ${BANK} ${LET_IN}`,
  },
  'reply.scam': {
    english: `Hang up or close the page. We never call first or ask for money, a password, or a code. ${BANK} ${LET_IN}`,
  },
  'reply.phishing': {
    english:
      'Don’t reply, and don’t press anything in it. If you typed a password there, type the real site’s address yourself and change it now. ' +
      `${BANK} To check a file that came with it, go to Antivirus and press Choose files.`,
  },
  'reply.virus': {
    english:
      'Don’t open the file. Go to Antivirus, press Choose files, and select it. You’ll see what it is and what to do. ' +
      'If you already opened it, disconnect that device, change your passwords from another device, and tell support.',
  },
  'reply.infected': {
    english:
      'Don’t open the file. Delete the original on your device, then press “I deleted it” on the Antivirus page. ' +
      'If you already opened it, disconnect that device. Change your passwords from another device. ' +
      'Then write “I opened it” here: a technician can check your computer in a remote session.',
  },
  'reply.none_infected': {
    english:
      'No infected file is open on your account. Harmless test files don’t count. To check a file, go to Antivirus and press Choose files. ' +
      'If you opened one you don’t trust, disconnect that device and change your passwords from another one. ' +
      'Then write “I opened it” here: a technician can check your computer in a remote session.',
  },
  'reply.firewall': {
    english:
      'In Firewall, use “Would this pass?” to test a connection. It shows which rule decides. ' +
      'A dimmed rule is off, and an enabled block wins over every allow. Press Add Rule to create one. ' +
      'Still stuck? Call support with the program’s name, address, protocol, and port.',
  },
  'reply.slow': {
    english:
      'Restart the computer and close programs you don’t use. Then scan any program you suspect in Antivirus. ' +
      'Still slow? Call support. Tell us when it started, in which program, and whether it’s slow offline too.',
  },
  'reply.billing': {
    english:
      'The Dashboard shows your plan, its price, and its end date. To change it, go to Subscriptions and press Request this plan. ' +
      'If a charge, an amount, or a date is wrong, call support. Never write a card number in this chat.',
  },
  'reply.remote': {
    english:
      'Go to Remote Access and press New Session. Your code lasts 30 minutes. Share it only with a technician you contacted yourself. ' +
      'Press Cancel or End session to stop at any time. Support never asks for your password.',
  },
  'reply.sign_in': {
    english:
      'On the sign-in screen, press Forgot Password? or Forgot Username? and follow the email. If your two-factor code fails, use a recovery code. ' +
      'If that doesn’t work, a person here will help.',
  },
  'reply.pending': {
    english:
      'Pending means we haven’t finished checking the file, or couldn’t check all of it. The scan history shows the reason. Don’t open the file until it’s clean.',
  },
  'reply.received': { english: 'Message received. A person will read it. Please include any error text.' },
} as const satisfies Record<string, Template>;

/** Notes for the staff about an assignee. */
const ASSIGNMENTS = {
  'assignment.removed': { english: '{by} returned this to Unassigned.', params: { by: 'text' } },
  'assignment.transferred': { english: '{by} transferred this to {to}.', params: { by: 'text', to: 'text' } },
  'assignment.no_reply': {
    english: {
      count: 'minutes',
      one: 'Returned to Unassigned: no reply for 1 minute.',
      other: 'Returned to Unassigned: no reply for {minutes} minutes.',
    },
    params: { minutes: 'grouped' },
  },
  'assignment.offline': { english: 'Returned to Unassigned: the assignee is offline.' },
  'snooze.ended': { english: 'This conversation was snoozed until now.' },
} as const satisfies Record<string, Template>;

/** Reasons why an email is not accepted as its customer's words. */
const UNVERIFIED = {
  other_address: 'it came from another address',
  no_author: 'it has no author',
  several_authors: 'it has more than one author',
  other_sender: 'its sender and author differ',
  not_aligned: 'the author’s domain didn’t sign it',
  unsure: 'we couldn’t check the domain’s signature',
} as const;
export type UnverifiedReason = keyof typeof UNVERIFIED;

/** Messages about an email, and notes for the staff. */
const EMAILS = {
  /** In messages from before the files were named. */
  'email.infected_files': {
    english: { count: 'count', one: 'We left out 1 infected file.', other: 'We left out {count} infected files.' },
    params: { count: 'grouped' },
  },
  'email.infected_named': {
    english: {
      count: 'count',
      one: 'We left out 1 infected file: {files}.',
      other: 'We left out {count} infected files: {files}.',
    },
    params: { count: 'grouped', files: 'names' },
  },
  'email.unread_files': {
    english: {
      count: 'count',
      one: 'We left out 1 file that we couldn’t fully check.',
      other: 'We left out {count} files that we couldn’t fully check.',
    },
    params: { count: 'grouped' },
  },
  'email.more_files': {
    english: {
      count: 'count',
      one: 'We left out 1 file: the email had too many files, or it was larger than 25 MB.',
      other: 'We left out {count} files: the email had too many files, or they were larger than 25 MB.',
    },
    params: { count: 'grouped' },
  },
  'email.cut': { english: 'This email was larger than 40 MB, so we kept only its text. Attach files here.' },
  'email.empty': { english: 'This email had no content we could keep.' },
  'email.unverified': {
    english: 'Sender not verified: an email came from {from}, and {reason}.',
    params: { from: 'text', reason: UNVERIFIED },
  },
  'email.unverified.unnamed': {
    english: 'Sender not verified: an email came from an unknown person, and {reason}.',
    params: { reason: UNVERIFIED },
  },
  'email.files': {
    english: { count: 'count', one: 'It has 1 file.', other: 'It has {count} files.' },
    params: { count: 'grouped' },
  },
  'email.text': { english: 'It says: {text}', params: { text: 'text' } },
  'email.lost_letters': { english: 'We couldn’t read some characters in this email. We keep the original for 30 days.' },
  'email.accepted': { english: 'Accepted the email from {from} as the customer’s message.', params: { from: 'text' } },
  'email.accepted.unnamed': { english: 'Accepted the email from an unknown sender as the customer’s message.' },
  'email.too_many': {
    english: 'More than {maximum} emails arrived here in an hour. The others are in the mailbox.',
    params: { maximum: 'number' },
  },
  'email.flagged': { english: 'We couldn’t add an email to this conversation. It’s flagged in the mailbox.' },
} as const satisfies Record<string, Template>;

/** Placeholders in lists for a message without text. */
const PREVIEWS = {
  'preview.remote_session': { english: 'A remote session' },
  'preview.files': { english: { count: 'count', one: '1 file', other: '{count} files' }, params: { count: 'grouped' } },
} as const satisfies Record<string, Template>;

/** All sentences that the server writes into conversations. A released code never changes its meaning or its parameters. */
export const CHAT_PHRASES = { ...REPLIES, ...ASSIGNMENTS, ...EMAILS, ...PREVIEWS } as const;

export const sentence = sentencesFrom(CHAT_PHRASES);
