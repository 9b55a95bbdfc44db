import { describeSpan } from '@palisade/contract/intl';
import { IconClock } from '@tabler/icons-react';
import { describeAge, useSecond } from '#ui/moment.tsx';

/** Waiting time that counts as too long, in ms. */
const LONG_WAIT = 5 * 60_000;

interface TimerProps {
  /** Time of the first unanswered message. */
  since: string;
  /** Time of the customer's last message. */
  last: string | null;
}

/** Time that the customer has waited, and the time of their last message. Screen readers do not announce each second. */
export function WaitingTimer({ since, last }: TimerProps) {
  const now = useSecond();
  const waited = Math.max(0, now - Date.parse(since));
  return (
    <span
      className="talk-head__timer num"
      data-tone={waited > LONG_WAIT ? 'attention' : undefined}
      title="Since the customer’s first message that waits for an answer"
    >
      <IconClock size={14} stroke={1.7} aria-hidden="true" />
      {last !== null && last > since
        ? `Waits ${describeSpan(waited / 1_000)}, wrote last ${describeAge(last, now)}`
        : `Waits ${describeSpan(waited / 1_000)}`}
    </span>
  );
}
