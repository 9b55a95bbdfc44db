import { BarChart, LineChart } from '@mantine/charts';
import type { HistoryDay } from '@palisade/contract/anti-hacking';
import { Grid } from '#ui/layout.tsx';
import '@mantine/charts/styles.layer.css';
import { FIGURES, longDay, shortDay } from './history-day.ts';

const SCORES = [0, 25, 50, 75, 100];
/** Width of the vertical axes in px. Equal in both charts, to align their days. */
const AXIS_WIDTH = 40;
const TICK_GAP = 28;
const SYNC = 'history';
/** Room for half an axis label at both ends, in px. */
const MARGIN = { top: 10, right: 0, bottom: 10, left: 0 };
const LINE_CHART = { syncId: SYNC, margin: MARGIN, 'aria-label': 'Score and threats by day. The arrow keys go from day to day.' };

/** Hides the tooltip, because the readout of the line and the table have its figures. */
const BAR_CHART = { syncId: SYNC, margin: { ...MARGIN, bottom: 0 }, 'aria-hidden': true };

/** The line of the score above the bars of threats on the same days. One tab stop; arrow keys move between days. */
export function HistoryChart({ days }: { days: readonly HistoryDay[] }) {
  const points = days.map((day, index) => ({
    ...day,
    open: day.threats - day.blocked,
    // A line needs two points; a single one is drawn as a dot.
    isAlone: (days[index - 1]?.score ?? null) === null && (days[index + 1]?.score ?? null) === null,
  }));
  const most = Math.max(...days.map(({ threats }) => threats), 2);
  return (
    <>
      <LineChart
        className="history__scores"
        data={points}
        dataKey="day"
        series={[{ name: 'score', ...FIGURES.score }]}
        connectNulls={false}
        curveType="linear"
        strokeWidth={2.5}
        strokeDasharray="0"
        withXAxis={false}
        xAxisProps={{ scale: 'band' }}
        textColor="var(--faint)"
        gridColor="var(--line)"
        tickLine="none"
        yAxisProps={{ domain: [0, 100], ticks: SCORES, width: AXIS_WIDTH }}
        lineProps={{ isAnimationActive: false, dot: LonePoint }}
        lineChartProps={LINE_CHART}
        // The readout also opens on days without a score.
        tooltipProps={{ content: Readout, isAnimationActive: false, filterNull: false }}
      />
      <BarChart
        className="history__threats above-2"
        data={points}
        dataKey="day"
        type="stacked"
        series={[
          { name: 'blocked', ...FIGURES.blocked },
          { name: 'open', ...FIGURES.open },
        ]}
        accessibilityLayer={false}
        strokeDasharray="0"
        textColor="var(--faint)"
        gridColor="var(--line)"
        tickLine="none"
        maxBarWidth={26}
        xAxisProps={{ tickFormatter: shortDay, minTickGap: TICK_GAP, interval: 'equidistantPreserveStart' }}
        yAxisProps={{ domain: [0, most], allowDecimals: false, tickCount: 3, width: AXIS_WIDTH }}
        barProps={{ isAnimationActive: false }}
        barChartProps={BAR_CHART}
        // The readout of the line covers both charts.
        tooltipProps={{ content: () => null }}
      />
    </>
  );
}

interface Point extends HistoryDay {
  open: number;
  isAlone: boolean;
}

function LonePoint({ cx, cy, payload }: { cx?: number; cy?: number; payload?: Point }) {
  if (!payload?.isAlone || payload.score === null || cx === undefined || cy === undefined) return null;
  return <circle cx={cx} cy={cy} r={3.5} fill={FIGURES.score.color} />;
}

/** Figures of the selected day. */
function Readout({ active, payload }: { active?: boolean; payload?: readonly { payload?: Point }[] }) {
  const point = payload?.[0]?.payload;
  if (!active || point === undefined) return null;
  const { day, score, blocked, open, simulated } = point;
  return (
    <div className="surface-raised pad-s small">
      <p className="bold below-1">{longDay(day)}</p>
      <Grid as="dl" columns="lead" gap="4" rowGap="0">
        <dt className="muted">{FIGURES.score.label}</dt>
        <dd className="num end">{score ?? 'not known'}</dd>
        <dt className="muted">{FIGURES.blocked.label}</dt>
        <dd className="num end">{blocked}</dd>
        <dt className="muted">{FIGURES.open.label}</dt>
        <dd className="num end">{open}</dd>
        {simulated > 0 && (
          <>
            <dt className="muted">Simulated</dt>
            <dd className="num end">{simulated}</dd>
          </>
        )}
      </Grid>
    </div>
  );
}
