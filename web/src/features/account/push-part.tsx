import { useQuery } from '@tanstack/react-query';
import { CallError } from '#api/call.ts';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { canPush, NotAllowed, pushQuery, useSetPush } from './push.queries.ts';

function reasonOf(error: Error): string {
  if (error instanceof CallError) return error.sentence;
  return error instanceof NotAllowed
    ? 'Your browser blocks notifications. Allow them in its settings for this site.'
    : 'Your browser couldn’t turn notifications on. Try again later.';
}

/** Notices to this browser while the application is closed. Off until the person turns them on. */
export function PushPart() {
  const { data: isOn = false } = useQuery(pushQuery);
  const set = useSetPush();
  return (
    <DialogPart title="Notifications on this device">
      {canPush() ? (
        <>
          <Toggle
            label="Support answers and serious alerts"
            isOn={set.isPending ? set.variables : isOn}
            onChange={(next) => set.mutate(next)}
          />
          <p className="sub">You get them even while Palisade is closed. They never show the content.</p>
          <Refusal error={set.error}>{set.error && reasonOf(set.error)}</Refusal>
        </>
      ) : (
        <p className="sub">This browser can’t show notifications at this address.</p>
      )}
    </DialogPart>
  );
}
