import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** Longest chat message, in characters. */
export const MESSAGE_LENGTH_MAXIMUM = 4_000;

/** How long after a sent message the automatic reply appears, in ms. */
export const AUTOMATIC_REPLY_DELAY = 1_500;

/** Length of a message as a person counts it: an emoji is one character. */
export function messageLength(message: string): number {
  return [...message].length;
}

/** Stored and shown verbatim: the blanks at its ends count towards its length, and only towards that. */
export const messageSchema = z
  .string({ error: 'Write a message.' })
  .refine((message) => message.trim() !== '', 'Write a message.')
  .refine(
    (message) => messageLength(message) <= MESSAGE_LENGTH_MAXIMUM,
    `A message has at most ${MESSAGE_LENGTH_MAXIMUM} characters. Send the rest as another one.`,
  )
  // No database stores these unchanged, and what is not stored verbatim is not taken.
  .refine((message) => message.isWellFormed() && !message.includes('\0'), 'The message holds characters that are not text.');

/** One message of a person's conversation with support. `user_id` is whose conversation it is, whoever wrote it. */
export const chatMessageSchema = z.object({
  id: idSchema,
  user_id: idSchema,
  message: z.string(),
  sender: z.enum(['user', 'support']),
  timestamp: timeSchema,
  /** Whether the other side has read it. */
  is_read: z.boolean(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

export const listMessages = endpoint({
  method: 'GET',
  path: '/chat/messages',
  summary: 'The conversation of the signed-in person with support, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  status: 200,
  reply: z.array(chatMessageSchema),
  problems: [],
});

export const sendMessage = endpoint({
  method: 'POST',
  path: '/chat/messages',
  summary: 'Write a message to support.',
  access: 'customer',
  body: z.object({
    message: messageSchema,
    sender: z.literal('user', { error: 'A message of yours has the sender "user".' }),
  }),
  changes: 'messages',
  status: 201,
  reply: chatMessageSchema,
  problems: [],
});

interface ReplyRule {
  /** What the message is about. */
  about: RegExp;
  reply: string;
}

interface ScamRule {
  /** What must all occur, in any order. Each is searched in one pass. */
  all: readonly RegExp[];
  reply: string;
}

/** Somebody who calls or writes. */
const SOMEBODY =
  /\b(?:phone|call(?:s|ed|er|ing)?|rang|rings|voice|man|woman|lady|guy|someone|somebody|he|she|they|sms|whatsapp|technician)\b/u;
/** What only deceivers ask for. */
const LOOT =
  /\b(?:card (?:number|details)|credit card|debit card|cvv|pin|tan|password|codes?|gift ?cards?|vouchers?|bitcoin|crypto|wire|transfer|bank (?:account|details|login)|online banking|anydesk|team ?viewer|quick ?assist|remote control)\b/u;
const ASKING = /\b(?:wants?|wanted|asks?|asked|asking|needs|says|said|told|tells|demands?|claims?|gave|given|installed|paid)\b/u;

const BANK = 'If you gave a card number, call your bank now, with the number on the back of the card.';
const LET_IN = 'If you let somebody onto your computer, take it off the internet, and change your passwords from another device.';

/** What somebody writes who is being deceived. Looked for before everything else: it cannot wait. */
const SCAM_RULES: readonly ScamRule[] = [
  {
    all: [/\b(?:encrypted|locked|ransom(?:ware)?)\b/u, /\b(?:pay|paid|money|bitcoin|ransom(?:ware)?)\b/u],
    reply:
      'Do not pay. Take the computer off the internet now: pull the cable or switch Wi-Fi off, and leave it on. ' +
      'Do not delete anything. Call support from a phone, and read them the words on the screen.',
  },
  {
    all: [
      /\b(?:pop-?up|window|page|screen|warning)\b/u,
      /\b(?:virus(?:es)?|infected|locked|hacked)\b/u,
      /\b(?:call|ring|number)\b/u,
    ],
    reply:
      'Do not call that number: a real warning has none. Close the window; if it does not close, restart the computer. ' +
      'Nothing is infected because a page says so. To be sure, go to Antivirus and scan what you downloaded last.',
  },
  {
    all: [SOMEBODY, LOOT, ASKING],
    reply:
      'Hang up. We never call first, and nobody from support asks for a card number, a password or a code. ' +
      `Give nothing, install nothing, and do not call back a number that they gave you. ${BANK} ${LET_IN}`,
  },
  {
    all: [/\b(?:microsoft|windows|apple|amazon|police|bank)\b/u, /\b(?:called|calls|calling|on the phone|rang)\b/u],
    reply: `Hang up. We never call first, and neither does Microsoft, your bank or the police to ask for money, a password or a code. ${BANK} ${LET_IN}`,
  },
  {
    all: [/\b(?:scam(?:s|med|mer|mers)?|fraud|con ?man|tricked|ripped off|fake (?:support|microsoft|police|bank))\b/u],
    reply: `Hang up, or close the page. We never call first, and never ask for money, a password or a code. ${BANK} ${LET_IN}`,
  },
  {
    all: [
      /\bphishing\b|\b(?:strange|suspicious|odd|weird|fake) (?:e-?mail|mail|link|text|sms|message)\b|\bclicked (?:on )?(?:a|the|this) link\b/u,
    ],
    reply:
      'Do not press anything in it, and do not answer. If you typed a password after pressing its link, change that password now, by typing the address of the site yourself. ' +
      `${BANK} A file that came with it can be checked: go to Antivirus and press Choose files.`,
  },
];

/** The first rule of which a keyword occurs in the message, in whatever case, gives the reply. */
const REPLY_RULES: readonly ReplyRule[] = [
  {
    about: /virus|malware/u,
    reply:
      'Do not open the file. Go to Antivirus, press Choose files and pick it: the scan history then says Clean, Infected or Pending, and why. ' +
      'If it says Infected, delete the file, change any password that you typed after opening it, and tell support what was found.',
  },
  {
    about: /firewall|network/u,
    reply:
      'Go to Firewall and use "Would this pass?": it says whether your rules let a connection through, and which rule decides. ' +
      'A dimmed rule is switched off, and an enabled block wins over every allow. Add Rule makes a new one. ' +
      'If it still does not fit, call support with the name of the program, and its address, protocol and port.',
  },
  {
    about: /slow|performance/u,
    reply:
      'Restart the computer first, and close what you do not use. Then go to Antivirus and scan the program that you suspect. ' +
      'If it stays slow, call support: say since when, which program is open, and whether it is slow without the internet too.',
  },
  {
    about: /billing|payment/u,
    reply:
      'You see your plan, its price and its end on the Dashboard. To change it, go to Subscriptions and press Request this plan; ' +
      'an administrator answers. If an amount or a date is wrong, call support. Never write a card number in this chat.',
  },
  {
    about: /remote|access/u,
    reply:
      'Go to Remote Access and press New Session. You get a code that is valid for 30 minutes: read it only to a technician whom you called yourself. ' +
      'The technician joins with it, and Cancel or End session stops it at any time. Nobody from support asks for your password.',
  },
];

const DEFAULT_REPLY =
  'Your message is kept, and this answer came by itself. To reach a person, call support: say what you did and what happened, with the exact words of any error. ' +
  'To check a suspicious file at once, go to Antivirus and press Choose files.';

/** A message is searched up to here, in characters: a deceiver's call is told in a few sentences, and the time that the search takes stays small. */
const SEARCHED = 2_000;

/** The reply that is added to the chat at once and marked as automatic, until a person reads the message. */
export function automaticReply(message: string): string {
  const text = message.toLowerCase();
  const start = text.slice(0, SEARCHED).replace(/\s+/gu, ' ');
  return (
    SCAM_RULES.find(({ all }) => all.every((sign) => sign.test(start)))?.reply ??
    REPLY_RULES.find(({ about }) => about.test(text))?.reply ??
    DEFAULT_REPLY
  );
}
