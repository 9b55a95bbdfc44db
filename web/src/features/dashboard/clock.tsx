import { describeClock, describeDay, useMinute, useSecond } from '#ui/moment.tsx';

/** A ticking clock, hidden from screen readers, which would announce each second. */
export function Clock() {
  const now = useSecond();
  return (
    <div className="nowrap" role="timer" aria-live="off" aria-label="Time">
      <b className="num large bold">{describeClock(now)}</b>
    </div>
  );
}

export function Today() {
  return describeDay(useMinute());
}
