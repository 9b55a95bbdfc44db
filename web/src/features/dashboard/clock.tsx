import { describeClock, describeDay, useMinute, useSecond } from '#ui/moment.tsx';

/** The time, ticking. Not read out: a screen reader would never come to an end. */
export function Clock() {
  const now = useSecond();
  return (
    <div className="dashboard__clock" role="timer" aria-live="off" aria-label="Time">
      <b className="num">{describeClock(now)}</b>
    </div>
  );
}

export function Today() {
  return describeDay(useMinute());
}
