import { SIMULATED_COUNTERS } from '@palisade/contract/dashboard';
import { useEffect, useRef, useState } from 'react';

export interface SimulatedCounters {
  threats: number;
  rules: number;
}

/** A whole number from `least` to `most`. `random` returns a number from 0 (inclusive) to 1 (exclusive). */
function within({ least, most }: { least: number; most: number }, random: () => number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** The simulated counters of the specification: while `isOn` they rise after 10 s and then every 120 s. */
export function useSimulatedCounters(isOn: boolean, random: () => number): SimulatedCounters {
  const [counters, setCounters] = useState<SimulatedCounters>({
    threats: SIMULATED_COUNTERS.threats_start,
    rules: SIMULATED_COUNTERS.rules_start,
  });
  const wasBumped = useRef(false);

  useEffect(() => {
    if (!isOn) return;
    const rise = () => {
      const threats = within(SIMULATED_COUNTERS.threats_step, random);
      const rules = within(SIMULATED_COUNTERS.rules_step, random);
      setCounters((before) => ({ threats: before.threats + threats, rules: before.rules + rules }));
    };
    const bump = wasBumped.current
      ? undefined
      : setTimeout(() => {
          wasBumped.current = true;
          rise();
        }, SIMULATED_COUNTERS.bump_after_ms);
    const interval = setInterval(rise, SIMULATED_COUNTERS.interval_ms);
    return () => {
      clearTimeout(bump);
      clearInterval(interval);
    };
  }, [isOn, random]);

  return counters;
}
