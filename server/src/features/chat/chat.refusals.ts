import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about conversations, and those of the support desk. A landed code never changes its meaning or its parameters. */
export const CHAT_REFUSALS = {
  'attachment.too_many_unsent': { problem: 'conflict', english: 'You have too many unsent files. Send or remove some.' },
  'attachment.not_clean': { problem: 'conflict', english: 'This file isn’t clean, so you can’t open it.' },
  'attachment.sent': { problem: 'conflict', english: 'You can’t remove this file because you already sent it.' },
  'message.file_gone': { problem: 'not_found', english: 'One of the files is missing. Attach it again.' },
  'message.file_not_clean': {
    problem: 'conflict',
    english: 'One of the files is still being checked or can’t be sent. Wait, or remove it.',
  },
  'message.other_conversation': { problem: 'conflict', english: 'This message was sent in another conversation. Send it again.' },
  'message.gone': { problem: 'invalid_field', english: 'This message no longer exists. Reload the conversation.' },
  'saved_reply.shortcut_taken': {
    problem: 'conflict',
    english: 'Another saved reply uses the shortcut /{shortcut}. Choose a different one.',
    params: { shortcut: 'text' },
  },
  'saved_reply.too_many': {
    problem: 'conflict',
    english: 'You’ve reached the limit of {maximum} saved replies. Remove one first.',
    params: { maximum: 'number' },
  },
  'conversation.closed': { problem: 'conflict', english: 'This conversation is closed. Reopen it first.' },
  'conversation.already_closed': { problem: 'conflict', english: 'This conversation is already closed.' },
  'conversation.already_open': { problem: 'conflict', english: 'This conversation is already open.' },
  'conversation.not_rated_yet': { problem: 'conflict', english: 'You can rate the conversation after support closes it.' },
  'conversation.changed': { problem: 'conflict', english: 'This conversation has changed. Reload it.' },
  'conversation.gone': { problem: 'invalid_field', english: 'This conversation no longer exists. Reload the list.' },
  'conversation.already_yours': { problem: 'conflict', english: 'This conversation is already assigned to you.' },
  'conversation.assigned': {
    problem: 'conflict',
    english: 'This conversation is assigned to {assignee}.',
    params: { assignee: 'text' },
  },
  'conversation.now_assigned': {
    problem: 'conflict',
    english: 'This conversation is now assigned to {assignee}.',
    params: { assignee: 'text' },
  },
  'conversation.assignee_refused': { problem: 'invalid_field', english: 'You can’t assign this conversation to this person.' },
  'conversation.not_transferred': { problem: 'forbidden', english: 'Only the assignee or an administrator can transfer this.' },
  'conversation.without_messages': { problem: 'conflict', english: 'Your conversation has no messages yet.' },
  'snooze.time_passed': { problem: 'invalid_field', english: 'This time has passed. Choose a later one.' },
  'snooze.too_long': { problem: 'invalid_field', english: 'Choose a time within the next 90 days.' },
  'shared.deleted': { problem: 'not_found', english: 'The customer has deleted it.' },
  'arrived_email.already_there': { problem: 'conflict', english: 'This email is already in the conversation.' },
  'arrived_email.own_text': { problem: 'conflict', english: 'This email has only our own text.' },
  'report.last_before_first': { problem: 'invalid_field', english: 'Choose a last day after the first day.' },
  'report.too_long': { problem: 'invalid_field', english: 'Choose at most two years.' },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(CHAT_REFUSALS);
