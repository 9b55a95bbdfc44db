import { describeSpan } from '@palisade/contract/intl';
import type { LiveSession } from '@palisade/contract/remote-record';

const SECOND = 1_000;

/** Duration of a technician's access, in words; null without access. */
export function lastedOf({ approved_at, ended_at }: Pick<LiveSession, 'approved_at' | 'ended_at'>, now: number): string | null {
  if (approved_at === null) return null;
  const end = ended_at === null ? now : Date.parse(ended_at);
  return describeSpan((end - Date.parse(approved_at)) / SECOND);
}
