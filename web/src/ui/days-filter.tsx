import { dayAfter, dayOf } from '@palisade/contract/day';
import { useState } from 'react';
import { ChoiceFilter } from './list-filters.tsx';
import { describeCalendarDay, useMinute } from './moment.tsx';

/** Two dates such as `2026-11-20`, both included. An empty one means no limit. */
export interface Days {
  from: string;
  to: string;
}

const PERIODS = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['year', 'This year'],
  ['own', 'Choose dates'],
] as const;
type Period = (typeof PERIODS)[number][0];

function daysOf(period: Period, today: string): Days {
  if (period === 'year') return { from: `${today.slice(0, 4)}-01-01`, to: today };
  return { from: dayAfter(today, 1 - Number(period === 'own' ? '30' : period)), to: today };
}

const isUnlimited = ({ from, to }: Days) => from === '' && to === '';

/** "1 Nov 2026 to 20 Nov 2026" */
function describeDays({ from, to }: Days): string {
  if (to === '') return `Since ${describeCalendarDay(from)}`;
  if (from === '') return `Until ${describeCalendarDay(to)}`;
  return from === to ? describeCalendarDay(from) : `${describeCalendarDay(from)} to ${describeCalendarDay(to)}`;
}

interface DaysFilterProps {
  days: Days;
  /** Label of the choice without limits. */
  none: string;
  /** The shown period, if the server sets the limits. */
  shown?: Days | undefined;
  time_zone: string;
  onChange: (days: Days) => void;
}

/** Filter by a common period, or by two dates. */
export function DaysFilter({ days, none, shown = days, time_zone, onChange }: DaysFilterProps) {
  const today = dayOf(time_zone, useMinute());
  const [isOwn, setIsOwn] = useState(false);
  const [known] = PERIODS.find(([period]) => {
    const { from, to } = daysOf(period, today);
    return period === 'own' || (from === days.from && to === days.to);
  }) ?? ['own'];
  const period = isOwn ? 'own' : isUnlimited(days) ? undefined : known;
  const choose = (chosen: Period | undefined) => {
    setIsOwn(chosen === 'own');
    if (chosen === undefined) onChange({ from: '', to: '' });
    else if (chosen !== 'own') onChange(daysOf(chosen, today));
    else if (isUnlimited(days)) onChange(isUnlimited(shown) ? daysOf('own', today) : shown);
  };
  return (
    <>
      <ChoiceFilter label="Time" none={none} value={period} options={PERIODS} onChoose={choose} />
      {period === 'own' && (
        <fieldset className="list-filters__days shrink" aria-label="Days">
          {(['from', 'to'] as const).map((end) => (
            <label key={end}>
              {end === 'from' ? 'From' : 'To'}
              <input
                type="date"
                value={days[end]}
                {...(end === 'from' ? { max: days.to } : { min: days.from })}
                onChange={(event) => onChange({ ...days, [end]: event.currentTarget.value })}
              />
            </label>
          ))}
        </fieldset>
      )}
      {!isUnlimited(shown) && <span className="small muted num nowrap">{describeDays(shown)}</span>}
    </>
  );
}
