import { useEffect, useState } from 'react';

const SECOND = 1_000;

/** The remaining time as a clock: "4:32", "1:04:32". More than a day in words. */
export function describeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  const hours = Math.floor(seconds / 3_600);
  if (hours >= 48) return `${Math.ceil(hours / 24)} days`;
  const clock = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':');
  return hours > 0 ? `${hours}:${clock}` : clock.replace(/^0/u, '');
}

interface CountdownProps {
  /** The end, in ms since 1970. */
  until: number;
  onEnd?: () => void;
}

/** The remaining time until `until`, ticking visually only. Screen readers get the time once, in the surrounding sentence. */
export function Countdown({ until, onEnd }: CountdownProps) {
  const [{ now, seen_until }, setSeen] = useState(() => ({ now: Date.now(), seen_until: until }));
  // A stale `now` of up to a second would show too much time after `until` changes.
  if (seen_until !== until) setSeen(() => ({ now: Date.now(), seen_until: until }));
  useEffect(() => {
    const timer = setInterval(() => setSeen({ now: Date.now(), seen_until: until }), SECOND);
    return () => clearInterval(timer);
  }, [until]);
  const isOver = now >= until;
  useEffect(() => {
    if (isOver) onEnd?.();
  }, [isOver, onEnd]);
  return <span className="num">{describeLeft(until - now)}</span>;
}
