import { IconClock } from '@tabler/icons-react';
import { describeSpan, useSecond } from '#ui/moment.tsx';

/** From here on somebody waits too long, in ms. */
const LONG_WAIT = 5 * 60_000;

/** For how long the customer has waited. It ticks for the eye alone. */
export function WaitingTimer({ since }: { since: string }) {
  const now = useSecond();
  const waited = Math.max(0, now - Date.parse(since));
  return (
    <span
      className="talk-head__timer num"
      data-tone={waited > LONG_WAIT ? 'attention' : undefined}
      title="Since the customer’s last message that waits for an answer"
    >
      <IconClock size={14} stroke={1.7} aria-hidden="true" />
      Waits {describeSpan(waited / 1_000)}
    </span>
  );
}
