import type { Alert, HistoryDay } from '@palisade/contract/anti-hacking';
import type { Day } from '@palisade/contract/day';
import type { ScoreRun } from './score-history.ts';

/** Alerts first seen in one minute, given as the prefix of an ISO time in UTC. */
export interface AlertMinute {
  minute: string;
  outcome: Alert['outcome'];
  /** 0 or 1. */
  simulated: number;
  count: number;
}

/** Each day with its last score and its alerts. All three lists are oldest first, with nothing before the first day. */
export function historyOf(days: readonly Day[], runs: readonly ScoreRun[], minutes: readonly AlertMinute[]): HistoryDay[] {
  const rest = [...minutes].reverse();
  return days.map(({ day, start }, index) => {
    const end = days[index + 1]?.start;
    const isBefore = (time: string) => end === undefined || time < end;
    const counts = { threats: 0, blocked: 0, simulated: 0 };
    for (let row = rest.at(-1); row !== undefined && isBefore(`${row.minute}:00.000Z`); row = rest.at(-1)) {
      rest.pop();
      if (row.simulated === 1) counts.simulated += row.count;
      else counts.threats += row.count;
      if (row.simulated === 0 && row.outcome === 'blocked') counts.blocked += row.count;
    }
    const score = runs.findLast(({ since, until }) => until >= start && isBefore(since))?.score ?? null;
    return { day, score, ...counts };
  });
}
