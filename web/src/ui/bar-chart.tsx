import './bar-chart.css';

/** Maximum number of names below the bars, so that they fit on a phone. */
const NAMED_MAXIMUM = 8;
const LEAST = 4;

/** The next even number, so that the middle line has a whole value. */
function top(most: number): number {
  const even = Math.max(LEAST, most);
  return even + (even % 2);
}

interface BarChartProps {
  /** Names of the figures, in the order of each span's values. */
  series: readonly { name: string; tone: 'blue' | 'accent' | 'red' | 'amber' }[];
  /** Spans of time, oldest first. `title` is a tooltip. */
  spans: readonly { key: string; name: string; title: string; values: readonly number[] }[];
}

/** Figures over time. Hidden from screen readers, so a text or table beside it must give the same figures. Drawn without a chart library, which would be as large as a whole screen. */
export function BarChart({ series, spans }: BarChartProps) {
  const most = top(Math.max(0, ...spans.flatMap(({ values }) => values)));
  const each = Math.ceil(spans.length / NAMED_MAXIMUM);
  const isNamed = (place: number) => place % each === 0;
  return (
    <div aria-hidden="true" className="bar-chart">
      {series.length > 1 && (
        <p className="bar-chart__legend small muted">
          {series.map(({ name, tone }) => (
            <span key={name} data-tone={tone}>
              {name}
            </span>
          ))}
        </p>
      )}
      <div className="bar-chart__plot num small faint">
        <div className="bar-chart__scale">
          {[most, most / 2, 0].map((count) => (
            <span key={count}>{count}</span>
          ))}
        </div>
        <div className="bar-chart__spans shrink" data-many={spans.length > 2 * NAMED_MAXIMUM}>
          {spans.map(({ key, name, title, values }, place) => (
            <div key={key} className="bar-chart__span shrink" title={title}>
              <div className="bar-chart__bars">
                {series.map(({ name: figure, tone }, index) => (
                  <span key={figure} data-tone={tone} style={{ blockSize: `${(100 * (values[index] ?? 0)) / most}%` }} />
                ))}
              </div>
              <span className="bar-chart__name nowrap">{isNamed(place) ? name : ''}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
