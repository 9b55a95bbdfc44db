import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** Longest chat message, in characters. */
export const MESSAGE_LENGTH_MAXIMUM = 4_000;

/** How long after a sent message the automatic reply appears, in ms (SPEC section 9). */
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
  keywords: readonly string[];
  reply: string;
}

/** SPEC section 9: the first rule of which a keyword occurs in the message, in whatever case, gives the reply. */
const REPLY_RULES: readonly ReplyRule[] = [
  {
    keywords: ['virus', 'malware'],
    reply:
      'Do not open the file again. Go to Antivirus, press Choose files and pick it: the scan history then says Clean, Infected or Pending, and why. ' +
      'If it says Infected, delete the file, change any password that you typed after opening it, and write its threat name here.',
  },
  {
    keywords: ['firewall', 'network'],
    reply:
      'Go to Firewall and use "Would this pass?": it says whether your rules let a connection through, and which rule decides. ' +
      'A dimmed rule is switched off, and an enabled block wins over every allow. Add Rule makes a new one. ' +
      'If it still does not fit, write here which program it is, and its address, protocol and port.',
  },
  {
    keywords: ['slow', 'performance'],
    reply:
      'Restart the computer first, and close what you do not use. Then go to Antivirus and scan the program that you suspect. ' +
      'If it stays slow, write here since when, which program is open, and whether it is slow without the internet too.',
  },
  {
    keywords: ['billing', 'payment'],
    reply:
      'Your plan, its price and its expiry date stand in the licence panel of the Dashboard. Another plan is asked for on Subscriptions with Request this plan; ' +
      'an administrator assigns it. Write here what is wrong with an amount or a date, and never send a card number in this chat.',
  },
  {
    keywords: ['remote', 'access'],
    reply:
      'Go to Remote Access and press New Session. You get a code that is valid for 30 minutes: read it only to a technician whom you called or who answers you here. ' +
      'The technician joins with it, and Cancel or End session stops it at any time. Nobody from support asks for your password.',
  },
];

const DEFAULT_REPLY =
  'Your message is stored here for the support team. To help them, write what you did, what you expected and what happened, with the exact words of any error. ' +
  'If it is urgent, press Call support above. To check a suspicious file at once, go to Antivirus and press Choose files.';

/** The reply that is added to the chat at once and marked as automatic, until a person reads the message. */
export function automaticReply(message: string): string {
  const text = message.toLowerCase();
  return REPLY_RULES.find(({ keywords }) => keywords.some((keyword) => text.includes(keyword)))?.reply ?? DEFAULT_REPLY;
}
