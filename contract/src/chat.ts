import { z } from 'zod';
import { chatStateSchema } from './chat-read.ts';
import { attachmentSchema, chatMessageSchema, placeOf, sharedKindSchema } from './chat-record.ts';
import { endpoint, HEADER_FIELDS } from './endpoint.ts';
import { idParamsSchema, idSchema, NUMBER_MAXIMUM } from './fields.ts';
import { specified } from './reader.ts';

/** Longest chat message, in characters. */
export const MESSAGE_LENGTH_MAXIMUM = 4_000;

/** Delay of the automatic reply after a message, in ms. */
export const AUTOMATIC_REPLY_DELAY = 1_500;

/** Length of a message as a person counts it: an emoji is one character. */
export function messageLength(message: string): number {
  return [...message].length;
}

const LONGEST_MESSAGE = `A message can have at most ${MESSAGE_LENGTH_MAXIMUM} characters. Send the rest in another message.`;
/** A character has at most two units of UTF-16. */
const boundedMessage = z
  .string({ error: 'Write a message.' })
  .max(2 * MESSAGE_LENGTH_MAXIMUM, { error: LONGEST_MESSAGE, abort: true });

/** Stored and shown verbatim: the blanks at its ends count towards its length, and only towards that. */
export const messageSchema = boundedMessage
  .refine((message) => message.trim() !== '', 'Write a message.')
  .refine((message) => messageLength(message) <= MESSAGE_LENGTH_MAXIMUM, LONGEST_MESSAGE)
  // No database stores these unchanged, and what is not stored verbatim is not taken.
  .refine(
    (message) => message.isWellFormed() && !message.includes('\0'),
    'Remove the characters that aren’t text from the message.',
  );

/** Files of one message, and the bytes of one of them. */
export const ATTACHMENTS_MAXIMUM = 10;
export const ATTACHMENT_BYTES_MAXIMUM = 25 * 1024 * 1024;
/** Files of a person that were uploaded and not sent yet. */
export const UNSENT_ATTACHMENTS_MAXIMUM = 20;
/** Shortest interval of typing notices, and the time after which one ends, in ms. */
export const TYPING_EVERY = 3_000;
export const TYPING_HOLDS = 6_000;
/** A message within this time reopens a closed conversation, in ms; later a new matter begins. */
export const REOPENED_WITHIN = 24 * 3_600_000;
const RATING_COMMENT_LENGTH_MAXIMUM = 1_000;

/** The id of a message before it is sent: the same one again is the same message, and is answered with what was stored the first time. */
export const clientMessageIdSchema = z.uuid('This isn’t a message name.');

/** A message and the files in it. Where there are files, the words may be left out (see `requireWords`). */
export const writtenFields = {
  message: boundedMessage,
  client_message_id: clientMessageIdSchema.optional(),
  attachment_ids: z
    .array(idSchema, { error: 'Choose a list of files.' })
    .max(ATTACHMENTS_MAXIMUM, `A message can have at most ${ATTACHMENTS_MAXIMUM} files.`)
    .refine((ids) => new Set(ids).size === ids.length, 'Attach each file only once.')
    .default([]),
};

/** Words are asked for where there are no files; where there are words, they are a message. */
export function requireWords(
  { message, attachment_ids }: { message: string; attachment_ids: readonly string[] },
  context: z.core.$RefinementCtx,
): void {
  if (message === '' && attachment_ids.length > 0) return;
  for (const { message: sentence } of messageSchema.safeParse(message).error?.issues ?? [])
    context.addIssue({ code: 'custom', path: ['message'], message: sentence });
}

/** `automatic_reply` is the automatic answer after the message, null where a person has the conversation open; pages receive it like every message (`chat_message`). */
export const sentMessageSchema = specified(
  ['id', 'message', 'sender', 'timestamp'],
  chatMessageSchema.extend({ automatic_reply: chatMessageSchema.nullable() }),
  placeOf,
);
export type SentMessage = z.infer<typeof sentMessageSchema>;

/** Names no topic that it changes: the message itself is told to each page (`chat_message`). */
export const sendMessage = endpoint({
  method: 'POST',
  path: '/chat/messages',
  summary: 'Write a message to support.',
  access: 'customer',
  body: z
    .object({ ...writtenFields, sender: z.literal('user', { error: 'Your messages need the sender "user".' }) })
    .superRefine(requireWords),
  header_fields: { client_message_id: HEADER_FIELDS.message },
  status: 201,
  reply: sentMessageSchema,
  problems: ['not_found', 'conflict'],
});

const PLACE = 'Enter a message’s position.';
export const seqSchema = z.int({ error: 'Enter a whole number.' }).min(0, PLACE).max(NUMBER_MAXIMUM, PLACE);

export const markRead = endpoint({
  method: 'POST',
  path: '/chat/read',
  summary: 'Say up to which message one has read.',
  access: 'customer',
  body: z.object({ seq: seqSchema }),
  status: 200,
  reply: chatStateSchema,
  problems: [],
});

export const askPerson = endpoint({
  method: 'POST',
  path: '/chat/person',
  summary:
    'Ask for a person: the conversation stands before the others of the inbox. The automatic reply ends once a person has it open.',
  access: 'customer',
  changes: 'messages',
  status: 200,
  reply: chatStateSchema,
  problems: [],
});

export const rateChat = endpoint({
  method: 'POST',
  path: '/chat/rating',
  summary: 'Rate the help that one got, once the conversation is closed. Another rating replaces it.',
  access: 'customer',
  body: z.object({
    rating: z.int({ error: 'Choose 1 to 5.' }).min(1, 'Choose 1 to 5.').max(5, 'Choose 1 to 5.'),
    comment: z
      .string()
      .trim()
      .max(RATING_COMMENT_LENGTH_MAXIMUM, `Use at most ${RATING_COMMENT_LENGTH_MAXIMUM} characters for the comment.`)
      .default(''),
  }),
  changes: 'messages',
  status: 200,
  reply: chatStateSchema,
  problems: ['conflict'],
});

export const shareThing = endpoint({
  method: 'POST',
  path: '/chat/share',
  summary:
    'Put a card of one alert, scan, rule, device or kept scam check of one’s own into the chat. Staff may open that one thing from then on.',
  access: 'customer',
  body: z.object({ thing: sharedKindSchema, subject_id: idSchema, client_message_id: clientMessageIdSchema.optional() }),
  header_fields: { client_message_id: HEADER_FIELDS.message },
  changes: 'messages',
  status: 201,
  reply: chatMessageSchema,
  problems: ['not_found'],
});

export const uploadAttachment = endpoint({
  method: 'POST',
  path: '/chat/attachments',
  summary:
    'Upload a file for a message. It is scanned first: `chat_attachment` tells how that ended, and only a clean one can be sent.',
  access: 'customer',
  upload: 'file',
  status: 201,
  reply: attachmentSchema,
  problems: ['too_large', 'malformed', 'upload_stalled', 'unsupported_media_type', 'conflict'],
});

export const readAttachment = endpoint({
  method: 'GET',
  path: '/chat/attachments/{id}',
  summary: 'How the scan of a file of the chat stands.',
  access: 'customer',
  params: idParamsSchema,
  status: 200,
  reply: attachmentSchema,
  problems: [],
});

export const deleteAttachment = endpoint({
  method: 'DELETE',
  path: '/chat/attachments/{id}',
  summary: 'Take back a file that was not sent yet.',
  access: 'customer',
  params: idParamsSchema,
  status: 204,
  problems: ['conflict'],
});

export const downloadAttachment = endpoint({
  method: 'GET',
  path: '/chat/attachments/{id}/file',
  summary:
    'A file of the chat: of one’s own conversation, or as staff of one that one may read. Pictures may be shown; everything else is an attachment.',
  access: 'customer',
  params: idParamsSchema,
  status: 200,
  download: true,
  problems: ['conflict'],
});

export const downloadTranscript = endpoint({
  method: 'GET',
  path: '/chat/transcript',
  summary: 'All of one’s own conversation as a text file.',
  access: 'customer',
  status: 200,
  download: true,
  problems: [],
});

export const mailTranscript = endpoint({
  method: 'POST',
  path: '/chat/transcript',
  summary: 'Have the newest part of one’s own conversation sent to one’s own address.',
  access: 'customer',
  needs_proven_email: true,
  expensive: true,
  status: 200,
  reply: z.object({ success: z.literal(true) }),
  problems: ['conflict'],
});

interface ReplyRule {
  /** The topic of the message. */
  about: RegExp;
  reply: string;
  /** The help page that says more. */
  article: string;
}

interface ScamRule {
  /** Words that must all occur, in any order. Each is searched in one pass. */
  all: readonly RegExp[];
  reply: string;
  article: string;
}

/** Somebody who calls or writes. */
const SOMEBODY =
  /\b(?:phone|call(?:s|ed|er|ing)?|rang|rings|voice|man|woman|lady|guy|someone|somebody|he|she|they|sms|whatsapp|technician)\b/u;
/** Requests that only deceivers make. */
const LOOT =
  /\b(?:card (?:number|details)|credit card|debit card|cvv|pin|tan|password|codes?|gift ?cards?|vouchers?|bitcoin|crypto|wire|transfer|bank (?:account|details|login)|online banking|anydesk|team ?viewer|quick ?assist|remote control)\b/u;
const ASKING = /\b(?:wants?|wanted|asks?|asked|asking|needs|says|said|told|tells|demands?|claims?|gave|given|installed|paid)\b/u;

const BANK = 'If you gave a card number, call your bank now. Use the number on the back of the card.';
const LET_IN = 'If you let someone onto your computer, take it off the internet. Then change your passwords from another device.';

/** Messages of a person who is being deceived. Looked for before everything else: it cannot wait. */
const SCAM_RULES: readonly ScamRule[] = [
  {
    all: [/\b(?:encrypted|locked|ransom(?:ware)?)\b/u, /\b(?:pay|paid|money|bitcoin|ransom(?:ware)?)\b/u],
    reply:
      'Don’t pay. Unplug the network cable or turn off Wi-Fi now, and leave the computer on. ' +
      'Don’t delete anything. Call support from a phone and read them the words on the screen.',
    article: 'ransom-note',
  },
  {
    all: [
      /\b(?:pop-?up|window|page|screen|warning)\b/u,
      /\b(?:virus(?:es)?|infected|locked|hacked)\b/u,
      /\b(?:call|ring|number)\b/u,
    ],
    reply:
      'Don’t call that number. Real warnings don’t have one. Close the window, or restart the computer if it won’t close. ' +
      'A web page can’t tell whether your computer is infected. To be sure, scan your latest download in Antivirus.',
    article: 'warning-with-a-number',
  },
  {
    all: [
      /\b(?:pop-?up|window|page|screen|warning|message)\b/u,
      /\b(?:says?|said|tells?|told|wants?|asks?)\b/u,
      /\b(?:call|ring|dial)\b/u,
      /\bnumber\b/u,
    ],
    reply:
      'Don’t call that number. Real warnings don’t have one. Close the window, or restart the computer if it won’t close. ' +
      'Then scan your latest download in Antivirus.',
    article: 'warning-with-a-number',
  },
  {
    all: [SOMEBODY, LOOT, ASKING],
    reply:
      'Hang up. We never call first, and support never asks for a card number, a password, or a code. ' +
      `Don’t install anything or call back a number they gave you. ${BANK} ${LET_IN}`,
    article: 'somebody-called-me',
  },
  {
    all: [/\b(?:microsoft|windows|apple|amazon|police|bank)\b/u, /\b(?:called|calls|calling|on the phone|rang)\b/u],
    reply: `Hang up. We never call first. Microsoft, your bank, and the police don’t call to ask for money, passwords, or codes. ${BANK} ${LET_IN}`,
    article: 'somebody-called-me',
  },
  {
    all: [/\b(?:scam(?:s|med|mer|mers)?|fraud|con ?man|tricked|ripped off|fake (?:support|microsoft|police|bank))\b/u],
    reply: `Hang up or close the page. We never call first or ask for money, a password, or a code. ${BANK} ${LET_IN}`,
    article: 'somebody-called-me',
  },
  {
    all: [
      /\bphishing\b|\b(?:strange|suspicious|odd|weird|fake) (?:e-?mail|mail|link|text|sms|message)\b|\bclicked (?:on )?(?:a|the|this) link\b/u,
    ],
    reply:
      'Don’t reply, and don’t press anything in it. If you typed a password there, type the real site’s address yourself and change it now. ' +
      `${BANK} To check a file that came with it, go to Antivirus and press Choose files.`,
    article: 'strange-mail-or-link',
  },
];

const BILLING_REPLY =
  'The Dashboard shows your plan, its price, and its end date. To change it, go to Subscriptions and press Request this plan. ' +
  'If a charge, an amount, or a date is wrong, call support. Never write a card number in this chat.';

/** The specification's rules in its order: the first of which a keyword occurs in the message, in whatever case, gives the reply. */
const REPLY_RULES: readonly ReplyRule[] = [
  {
    about: /virus|malware/u,
    reply:
      'Don’t open the file. Go to Antivirus, press Choose files, and select it. You’ll see Clean, Infected, or Pending, and the reason. ' +
      'If it’s infected, delete it. If you opened it, change the passwords you typed since then and tell support.',
    article: 'a-file-is-infected',
  },
  {
    about: /firewall|network/u,
    reply:
      'In Firewall, use "Would this pass?" to test a connection. It shows which rule decides. ' +
      'A dimmed rule is off, and an enabled block wins over every allow. Press Add Rule to create one. ' +
      'Still stuck? Call support with the program’s name, address, protocol, and port.',
    article: 'firewall-rules',
  },
  {
    about: /slow|performance/u,
    reply:
      'Restart the computer and close programs you don’t use. Then scan any program you suspect in Antivirus. ' +
      'Still slow? Call support. Tell us when it started, in which program, and whether it’s slow offline too.',
    article: 'slow-computer',
  },
  {
    about: /billing|payment/u,
    reply: BILLING_REPLY,
    article: 'plan-and-payment',
  },
  {
    about: /remote|access/u,
    reply:
      'Go to Remote Access and press New Session. Your code lasts 30 minutes. Share it only with a technician you called yourself. ' +
      'Press Cancel or End session to stop at any time. Support never asks for your password.',
    article: 'remote-support-safely',
  },
];

/** Messages of a person who was charged wrongly, cannot sign in, or asks for the meaning of a word of the product; looked for where no keyword of the specification occurs. */
const QUESTION_RULES: readonly ReplyRule[] = [
  {
    about:
      /\b(?:(?:over)?charged|double charges?|charges? (?:on|to|from)|billed|debited|refund(?:ed|s)?|invoices?|receipts?|money back|(?:paid|pay) (?:twice|double|two times))\b/u,
    reply: BILLING_REPLY,
    article: 'plan-and-payment',
  },
  {
    about: /\b(?:cannot|can't|cant|can not|unable to) (?:sign|log) ?in\b|\bforgot(?:ten)? my (?:password|username)\b/u,
    reply:
      'On the sign-in screen, press Forgot Password? or Forgot Username? and follow the email. If your two-factor code fails, use a recovery code. ' +
      'If that doesn’t work, a person here will help.',
    article: 'i-cannot-sign-in',
  },
  {
    about: /\bpending\b/u,
    reply:
      'Pending means we haven’t finished checking the file, or couldn’t check all of it. The scan history shows the reason. Don’t open the file until it’s clean.',
    article: 'what-pending-means',
  },
];

const DEFAULT_REPLY = 'Message received. A person will read it. Please include any error text.';

/** A message is searched up to here, in characters: a deceiver's call is told in a few sentences, and the time that the search takes stays small. */
const SEARCHED = 2_000;

/** The immediate answer, and the help page with more; `article` is null where none fits. */
export interface AutomaticAnswer {
  reply: string;
  article: string | null;
}

/** The answer that is added to the chat at once and marked as automatic, unless a person has the conversation open. First what cannot wait, then the keywords of the specification. */
export function automaticAnswer(message: string): AutomaticAnswer {
  const text = message.toLowerCase();
  const start = text.slice(0, SEARCHED).replace(/\s+/gu, ' ');
  const scam = SCAM_RULES.find(({ all }) => all.every((sign) => sign.test(start)));
  const rule = scam ?? REPLY_RULES.find(({ about }) => about.test(text)) ?? QUESTION_RULES.find(({ about }) => about.test(start));
  const { reply, article } = rule ?? { reply: DEFAULT_REPLY, article: null };
  return { reply, article };
}

export function automaticReply(message: string): string {
  return automaticAnswer(message).reply;
}
