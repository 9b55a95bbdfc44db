import { formatSpan } from '@palisade/contract/intl';
import type { RemoteSession } from '@palisade/contract/remote';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { useSecond } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useReaffirm } from './joined.queries.ts';

const MINUTE = 60_000;
/** Time before the end at which the question appears, in ms. */
const ASKED_BEFORE = 5 * MINUTE;

/** Asks each half hour whether to continue; without an answer the session ends. */
export function GoOn({ session: { id, reaffirm_by } }: { session: Pick<RemoteSession, 'id' | 'reaffirm_by'> }) {
  const reaffirm = useReaffirm(id);
  const now = useSecond();
  const left = reaffirm_by === null ? Number.POSITIVE_INFINITY : Date.parse(reaffirm_by) - now;
  if (left > ASKED_BEFORE) return null;
  const minutes = Math.max(1, Math.ceil(left / MINUTE));
  return (
    <Row gap="3" rowGap="1" className="above-1 amber medium">
      <p role="alert">{`The session ends in ${formatSpan(minutes, 'minute')} unless you continue it.`}</p>
      <Button size="s" loading={reaffirm.isPending} onClick={() => reaffirm.mutate()}>
        Continue session
      </Button>
      <Refusal error={reaffirm.error} />
    </Row>
  );
}
