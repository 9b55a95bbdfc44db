import type { HistoryDay } from '@palisade/contract/anti-hacking';
import { IconChartLine, IconTable } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { historyQuery, isPremiumRequired } from './anti-hacking.queries.ts';
import { FIGURES, isDrawable, longDay, summaryOf } from './history-day.ts';
import './history-card.css';
import '#ui/segments.css';

/** The chart code is larger than the rest of the screen, so it is loaded when the person scrolls near it. If it fails to load, the table replaces it. */
const HistoryChart = lazyPart(async () => {
  try {
    return (await import('./history-chart.tsx')).HistoryChart;
  } catch (error) {
    console.error(error);
    return HistoryTable;
  }
});

const RANGES = [7, 30, 90] as const;

/** Distance below the window at which the chart is loaded. */
const NEAR = '120px';

/** Whether an element has ever come near the window. Attach the returned ref to the element. */
function useSeen() {
  const [isSeen, setIsSeen] = useState(false);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
      },
      { rootMargin: NEAR },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, isSeen };
}

/** Score and threats by day, as a chart or a table. */
export function HistoryCard() {
  const [range, setRange] = useState<number>(30);
  const [isTable, setIsTable] = useState(false);
  const { data: days, error, refetch } = useQuery(historyQuery(range));
  const isShown = days !== undefined && !error;
  const other = (
    <Button variant="quiet" size="s" icon={isTable ? IconChartLine : IconTable} onClick={() => setIsTable(!isTable)}>
      {isTable ? 'Show as chart' : 'Show as table'}
    </Button>
  );
  return (
    <Card
      title="Score and threats"
      action={
        isShown &&
        (isDrawable(days) ? (
          <fieldset className="segments" aria-label="Days shown">
            {RANGES.map((count) => (
              <button
                className="nowrap"
                key={count}
                type="button"
                aria-pressed={range === count}
                onClick={() => setRange(count)}
              >{`${count} days`}</button>
            ))}
          </fieldset>
        ) : (
          other
        ))
      }
    >
      {error && !isPremiumRequired(error) && (
        <ErrorNotice title="The history could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {!days && !error && <LoadingRows label="Loading the history" />}
      {isShown && (
        <>
          <p className="sub">
            {summaryOf(days)}
            {!isDrawable(days) && ' After three days with data, you’ll see charts.'}
          </p>
          {isTable && <HistoryTable days={days} />}
          {!isTable && isDrawable(days) && <Drawing days={days} />}
          {isDrawable(days) && (
            <Grid columns="tail" phone="stack" gap="4" rowGap="2" align="center" justify="between" className="above-3">
              <p className="small faint">A gap in the line is a day without a score. Simulated alerts don’t count as threats.</p>
              {other}
            </Grid>
          )}
        </>
      )}
    </Card>
  );
}

function Drawing({ days }: { days: readonly HistoryDay[] }) {
  const { ref, isSeen } = useSeen();
  return (
    <div ref={ref}>
      <Row as="ul" gap="4" rowGap="1" align="stretch" className="small muted above-3 below-2" aria-label="What the colors mean">
        {Object.entries(FIGURES).map(([name, { label, color }]) => (
          <Row as="li" wrap={false} gap="2" key={name}>
            <span className="history__swatch" style={{ background: color }} aria-hidden="true" />
            {label}
          </Row>
        ))}
      </Row>
      <div className="history__plots">
        {isSeen && <HistoryChart days={days} meanwhile={<p className="visually-hidden">Drawing the chart</p>} />}
      </div>
    </div>
  );
}

/** The data of the chart as a table, latest day first. */
function HistoryTable({ days }: { days: readonly HistoryDay[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section className="history__table surface-plain pad-s above-3" aria-label="Score and threats by day" tabIndex={0}>
      <table className="records num">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Score</th>
            <th scope="col">Threats</th>
            <th scope="col">Blocked</th>
            <th scope="col">Simulated</th>
          </tr>
        </thead>
        <tbody>
          {[...days].reverse().map(({ day, score, threats, blocked, simulated }) => (
            <tr key={day}>
              <th scope="row">{longDay(day)}</th>
              <td>{score ?? <Unknown />}</td>
              <td>{threats}</td>
              <td>{blocked}</td>
              <td>{simulated}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Unknown() {
  return (
    <>
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">not known</span>
    </>
  );
}
