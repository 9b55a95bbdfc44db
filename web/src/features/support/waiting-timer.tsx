import { IconClock } from '@tabler/icons-react';
import { Row } from '#ui/layout.tsx';
import { describeAge, describeSince, useMinute } from '#ui/moment.tsx';

/** Waiting time from which it is shown as too long, in ms. */
const LONG_WAIT = 5 * 60_000;

interface TimerProps {
  /** Time of the first unanswered message. */
  since: string;
  /** Time of the customer's last message. */
  last: string | null;
}

/** Time that the customer has waited, and the time of their last message. */
export function WaitingTimer({ since, last }: TimerProps) {
  const now = useMinute();
  const waits = `Waits ${describeSince(since, now)}`;
  return (
    <Row
      as="span"
      inline
      gap="1"
      className={`num ${now - Date.parse(since) > LONG_WAIT ? 'amber medium' : ''}`}
      title="Since the customer’s first message that waits for an answer"
    >
      <IconClock size={14} stroke={1.7} aria-hidden="true" />
      {last !== null && describeAge(last, now) !== describeAge(since, now)
        ? `${waits}, wrote last ${describeAge(last, now)}`
        : waits}
    </Row>
  );
}
