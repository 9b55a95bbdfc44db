import { dayAfter, dayOf, momentOf } from '@palisade/contract/day';
import type { View } from '@palisade/contract/desk-list';
import type { ConversationStatus, Presence, Priority } from '@palisade/contract/desk-record';
import { PRIORITY_LABELS } from '#domain/conversation/conversation-badges.tsx';
import { ZONE } from '#ui/place.ts';

export const VIEW_LABELS: Record<View, string> = {
  mine: 'Mine',
  unassigned: 'Unassigned',
  all: 'All',
  snoozed: 'Snoozed',
  closed: 'Closed',
};

export const PRIORITIES = [
  ['urgent', PRIORITY_LABELS.urgent],
  ['high', PRIORITY_LABELS.high],
  ['normal', PRIORITY_LABELS.normal],
  ['low', PRIORITY_LABELS.low],
] as const satisfies readonly (readonly [Priority, string])[];

export const STATUS_LABELS: Record<ConversationStatus, string> = { open: 'Open', snoozed: 'Snoozed', closed: 'Closed' };

export const PRESENCE_LABELS: Record<Presence, string> = { here: 'Available', away: 'Away', offline: 'Offline' };

const MINUTE = 60_000;

/** Choices for the end of a snooze. */
export const SNOOZES = [
  { key: 'hour', label: 'In an hour', until: (now: number) => now + 60 * MINUTE },
  { key: 'afternoon', label: 'In 4 hours', until: (now: number) => now + 240 * MINUTE },
  { key: 'tomorrow', label: 'Tomorrow at 9', until: (now: number) => morningAfter(now, 1) },
  { key: 'week', label: 'In a week at 9', until: (now: number) => morningAfter(now, 7) },
] as const;

function morningAfter(now: number, days: number): number {
  return momentOf(ZONE.name, Date.parse(`${dayAfter(dayOf(ZONE.name, now), days)}T09:00:00Z`));
}
