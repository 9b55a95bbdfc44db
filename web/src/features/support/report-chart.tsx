import { BarChart } from '@mantine/charts';
import '@mantine/charts/styles.layer.css';
import type { Report } from '@palisade/contract/desk';

/** What was opened and closed in each week. The same figures are in the table below it. */
export function ReportChart({ weeks }: { weeks: Report['weeks'] }) {
  const most = Math.max(4, ...weeks.map(({ opened, closed }) => Math.max(opened, closed)));
  return (
    <div aria-hidden="true" className="report__chart">
      <p className="report__legend">
        <span data-of="opened">Opened</span>
        <span data-of="closed">Closed</span>
      </p>
      <BarChart
        h={220}
        data={weeks}
        dataKey="week"
        series={[
          { name: 'opened', label: 'Opened', color: 'var(--blue)' },
          { name: 'closed', label: 'Closed', color: 'var(--accent)' },
        ]}
        accessibilityLayer={false}
        strokeDasharray="0"
        textColor="var(--faint)"
        gridColor="var(--line)"
        tickLine="none"
        maxBarWidth={22}
        xAxisProps={{ tickFormatter: (week: string) => week.slice(5), minTickGap: 24 }}
        yAxisProps={{ domain: [0, most], allowDecimals: false, tickCount: 3, width: 40 }}
        barProps={{ isAnimationActive: false }}
        tooltipProps={{ isAnimationActive: false }}
      />
    </div>
  );
}
