import type { Report } from '@palisade/contract/desk';
import { describeCalendarDay } from '#ui/moment.tsx';

/** Maximum number of week labels below the bars, on a phone too. */
const NAMED_MAXIMUM = 8;
const LEAST = 4;

/** The next even number, so that the lines have whole values. */
function top(most: number): number {
  const even = Math.max(LEAST, most);
  return even + (even % 2);
}

/**
 * Opened and closed conversations of each week; the table below has the same figures.
 * Drawn without a chart library, which is as large as the whole screen.
 */
export function ReportChart({ weeks }: { weeks: Report['weeks'] }) {
  const most = top(Math.max(0, ...weeks.map(({ opened, closed }) => Math.max(opened, closed))));
  const each = Math.ceil(weeks.length / NAMED_MAXIMUM);
  const height = (count: number) => ({ blockSize: `${(100 * count) / most}%` });
  return (
    <div aria-hidden="true" className="report__chart">
      <p className="report__legend">
        <span data-of="opened">Opened</span>
        <span data-of="closed">Closed</span>
      </p>
      <div className="report__plot num">
        <div className="report__scale">
          {[most, most / 2, 0].map((count) => (
            <span key={count}>{count}</span>
          ))}
        </div>
        <div className="report__weeks" data-many={weeks.length > 2 * NAMED_MAXIMUM}>
          {weeks.map(({ week, opened, closed }, place) => (
            <div
              key={week}
              className="report__week"
              title={`Week of ${describeCalendarDay(week)}: ${opened} opened, ${closed} closed`}
            >
              <div className="report__bars">
                <span data-of="opened" style={height(opened)} />
                <span data-of="closed" style={height(closed)} />
              </div>
              <span className="report__name">{place % each === 0 ? describeCalendarDay(week, 'day') : ''}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
