import { z } from 'zod';
import { chatStateSchema } from './chat-read.ts';
import { attachmentSchema, chatMessageSchema, placeOf, sharedKindSchema } from './chat-record.ts';
import { endpoint, HEADER_FIELDS } from './endpoint.ts';
import { idSchema, NUMBER_MAXIMUM } from './fields.ts';
import { specified } from './reader.ts';

/** Maximum length of a chat message, in characters. */
export const MESSAGE_LENGTH_MAXIMUM = 4_000;

/** Delay of the automatic reply after a message, in ms. */
export const AUTOMATIC_REPLY_DELAY = 1_500;

/** Length of a message in code points: most emoji count as one character. */
export function messageLength(message: string): number {
  return [...message].length;
}

const LONGEST_MESSAGE = `A message can have at most ${MESSAGE_LENGTH_MAXIMUM} characters. Send the rest in another message.`;
/** A character has at most two UTF-16 units. */
const boundedMessage = z
  .string({ error: 'Write a message.' })
  .max(2 * MESSAGE_LENGTH_MAXIMUM, { error: LONGEST_MESSAGE, abort: true });

/** Stored and shown verbatim. Spaces at its ends count towards the maximum length, but a message of spaces alone is refused. */
export const messageSchema = boundedMessage
  .refine((message) => message.trim() !== '', 'Write a message.')
  .refine((message) => messageLength(message) <= MESSAGE_LENGTH_MAXIMUM, LONGEST_MESSAGE)
  // Databases cannot store these characters unchanged.
  .refine(
    (message) => message.isWellFormed() && !message.includes('\0'),
    'Remove the characters that aren’t text from the message.',
  );

/** Maximum number of files in one message, and the size of one file in bytes. */
export const ATTACHMENTS_MAXIMUM = 10;
export const ATTACHMENT_BYTES_MAXIMUM = 25 * 1024 * 1024;
/** Maximum number of a person's uploaded files that are not sent yet. */
export const UNSENT_ATTACHMENTS_MAXIMUM = 20;
/** Minimum interval between typing notices, and the time after which one expires, in ms. */
export const TYPING_EVERY = 3_000;
export const TYPING_HOLDS = 6_000;
/** A message within this time reopens a closed conversation, in ms; a later one starts a new matter. */
export const REOPENED_WITHIN = 24 * 3_600_000;
const RATING_COMMENT_LENGTH_MAXIMUM = 1_000;

/** The client's id of a message. A repeated id is answered with the message that was stored first. */
export const clientMessageIdSchema = z.uuid('This isn’t a message name.');

/** A message and its files. The text may be empty if there are files (see `requireWords`). */
export const writtenFields = {
  message: boundedMessage,
  client_message_id: clientMessageIdSchema.optional(),
  attachment_ids: z
    .array(idSchema, { error: 'Choose a list of files.' })
    .max(ATTACHMENTS_MAXIMUM, `A message can have at most ${ATTACHMENTS_MAXIMUM} files.`)
    .refine((ids) => new Set(ids).size === ids.length, 'Attach each file only once.')
    .default([]),
};

/** Requires text if there are no files, and validates any text as a message. */
export function requireWords(
  { message, attachment_ids }: { message: string; attachment_ids: readonly string[] },
  context: z.core.$RefinementCtx,
): void {
  if (message === '' && attachment_ids.length > 0) return;
  for (const { message: sentence } of messageSchema.safeParse(message).error?.issues ?? [])
    context.addIssue({ code: 'custom', path: ['message'], message: sentence });
}

/** `automatic_reply` is the automatic answer to the message, null if a staff member has the conversation open; pages also receive it as `chat_message`. */
export const sentMessageSchema = specified(
  ['id', 'message', 'sender', 'timestamp'],
  chatMessageSchema.extend({ automatic_reply: chatMessageSchema.nullable() }),
  placeOf,
);
export type SentMessage = z.infer<typeof sentMessageSchema>;

/** Topics that a person can choose for a message. The topic becomes a tag of the conversation. */
export const CHAT_TOPICS = ['performance', 'firewall', 'remote'] as const;
export type ChatTopic = (typeof CHAT_TOPICS)[number];

/** Has no `changes`: each page receives the message itself (`chat_message`). */
export const sendMessage = endpoint({
  method: 'POST',
  path: '/chat/messages',
  summary: 'Write a message to support.',
  access: 'customer',
  body: z
    .object({
      ...writtenFields,
      sender: z.literal('user', { error: 'Your messages need the sender "user".' }),
      topic: z.enum(CHAT_TOPICS, { error: `Choose one of the topics: ${CHAT_TOPICS.join(', ')}.` }).optional(),
    })
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
  reply: chatStateSchema,
});

export const askPerson = endpoint({
  method: 'POST',
  path: '/chat/person',
  summary:
    'Ask for a person: the conversation stands before the others of the inbox. The automatic reply ends once a person has it open.',
  access: 'customer',
  changes: 'messages',
  reply: chatStateSchema,
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
  reply: attachmentSchema,
});

export const deleteAttachment = endpoint({
  method: 'DELETE',
  path: '/chat/attachments/{id}',
  summary: 'Take back a file that was not sent yet.',
  access: 'customer',
  problems: ['conflict'],
});

export const downloadAttachment = endpoint({
  method: 'GET',
  path: '/chat/attachments/{id}/file',
  summary:
    'A file of the chat: of one’s own conversation, or as staff of one that one may read. Pictures may be shown; everything else is an attachment.',
  access: 'customer',
  download: true,
  problems: ['conflict'],
});

export const downloadTranscript = endpoint({
  method: 'GET',
  path: '/chat/transcript',
  summary: 'All of one’s own conversation as a text file.',
  access: 'customer',
  download: true,
});

export const mailTranscript = endpoint({
  method: 'POST',
  path: '/chat/transcript',
  summary: 'Have the newest part of one’s own conversation sent to one’s own address.',
  access: 'customer',
  needs_proven_email: true,
  expensive: true,
  reply: z.object({ success: z.literal(true) }),
  problems: ['conflict'],
});
