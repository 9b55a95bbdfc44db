import type { Conversation, Priority } from '@palisade/contract/desk-record';
import { StatusBadge } from '#domain/status/state-badge.tsx';
import { Badge, type Tone } from '#ui/badge.tsx';
import { describeSince } from '#ui/moment.tsx';

export const PRIORITY_LABELS: Record<Priority, string> = { low: 'Low', normal: 'Normal', high: 'High', urgent: 'Urgent' };
const PRIORITY_TONES: Record<Priority, Tone> = { low: 'plain', normal: 'plain', high: 'attention', urgent: 'danger' };

/** Badges of an urgent conversation: its customer is in danger, wants a person, waits, or has a priority. */
export function UrgencyBadges({ conversation, now }: { conversation: Conversation; now: number }) {
  const { is_in_danger, wants_person, waiting_since, priority } = conversation;
  return (
    <>
      {is_in_danger && <StatusBadge state="danger" />}
      {wants_person && <Badge tone="attention">Wants a person</Badge>}
      {waiting_since !== null && <Badge tone="attention">{`Waits ${describeSince(waiting_since, now)}`}</Badge>}
      <PriorityBadge priority={priority} />
    </>
  );
}

export function PriorityBadge({ priority }: { priority: Priority }) {
  if (priority === 'normal') return null;
  return <Badge tone={PRIORITY_TONES[priority]}>{PRIORITY_LABELS[priority]}</Badge>;
}

/** The words of the last message in a list. */
export function describeLastMessage({ last_message }: Conversation): string {
  return last_message?.text || 'A file or a card';
}
