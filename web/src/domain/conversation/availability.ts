import type { ChatState } from '@palisade/contract/chat-read';
import type { ChatMessage } from '@palisade/contract/chat-record';
import { describeSpan } from '@palisade/contract/intl';
import { describeNext } from '#ui/moment.tsx';

export interface Availability {
  tone: 'here' | 'away' | 'offline';
  sentence: string;
}

/** Time of the first message of the person after the last one that a person of support wrote; undefined once it is answered. `messages`: oldest first. */
export function waitingSince(
  messages: readonly Pick<ChatMessage, 'sender' | 'is_automatic' | 'timestamp'>[],
  { status }: Pick<ChatState, 'status'>,
): string | undefined {
  if (status !== 'open') return undefined;
  const answered = messages.findLastIndex(({ sender, is_automatic }) => sender === 'support' && !is_automatic);
  return messages.slice(answered + 1).find(({ sender }) => sender === 'user')?.timestamp;
}

/** The one statement of whether support answers now, and when it does otherwise. */
export function describeAvailability(
  { staff, agent, response_s, status }: Pick<ChatState, 'staff' | 'agent' | 'response_s' | 'status'>,
  now: number,
  isConnected: boolean,
): Availability {
  if (!isConnected) return { tone: 'offline', sentence: 'You’re offline. We’ll send your messages when you’re back.' };
  if (staff.is_here) {
    if (agent !== null && status === 'open') return { tone: 'here', sentence: `${agent} answers you.` };
    const usual = response_s === null ? '' : ` First answers took ${describeSpan(response_s)} in the last 7 days.`;
    return { tone: 'here', sentence: `Support is here.${usual}` };
  }
  if (!staff.is_open && staff.opens_at !== null)
    return {
      tone: 'away',
      sentence: `Support is back ${describeNext(staff.opens_at, now)}. Leave a message; we’ll email you when we answer.`,
    };
  return { tone: 'away', sentence: 'We’re away. We’ll answer within a day.' };
}
