import type { StatusState } from '@palisade/contract/status';
import { Badge, type Tone } from '#ui/badge.tsx';

const STATES: Record<StatusState, { label: string; tone: Tone }> = {
  good: { label: 'Good', tone: 'safe' },
  attention: { label: 'Needs attention', tone: 'attention' },
  danger: { label: 'In danger', tone: 'danger' },
  unknown: { label: 'Not checked', tone: 'plain' },
};

/** The state of a person's one status. */
export function StatusBadge({ state }: { state: StatusState }) {
  const { label, tone } = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
