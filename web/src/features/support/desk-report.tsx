import { type DeskFigures, exportReport, type Report, readReport } from '@palisade/contract/desk';
import { describeSpan, formatDecimals, formatNumber, plural } from '@palisade/contract/intl';
import { IconChecklist, IconClockHour4, IconHourglass, IconStar } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call, download, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { BarChart } from '#ui/bar-chart.tsx';
import { Card, StatCard } from '#ui/card.tsx';
import type { Days } from '#ui/days-filter.tsx';
import { describeCalendarDay } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { saveFile } from '#ui/save-file.ts';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { queryOf, ReportRange } from './report-range.tsx';
import { type ReportColumn, ReportTable } from './report-table.tsx';

/** The work of the support desk in a period. */
export function DeskReport({ range, onChoose }: { range: Days; onChoose: (range: Days) => void }) {
  const {
    data: report,
    error,
    refetch,
  } = useQuery({
    queryKey: ['desk-report', range],
    queryFn: ({ signal }) => call(readReport, { query: queryOf(range), signal }),
    placeholderData: keepPreviousData,
  });
  const save = useChange({
    mutationFn: async () => saveFile('support-report.csv', await download(exportReport, { query: queryOf(range) })),
  });
  return (
    <>
      <ReportRange range={range} onChoose={onChoose} report={report} isSaving={save.isPending} onSave={() => save.mutate()} />
      <Refusal error={save.error} />
      {error && <ErrorNotice title="The report could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!report && !error && (
        <section className="card">
          <LoadingRows label="Loading the report" />
        </section>
      )}
      {report && <Figures report={report} />}
    </>
  );
}

const COLUMNS: readonly ReportColumn<DeskFigures>[] = [
  { label: 'Opened', value: ({ opened }) => formatNumber(opened) },
  { label: 'Closed', value: ({ closed }) => formatNumber(closed) },
  { label: 'First answer', value: ({ first_answer_s: { median } }) => (median === null ? '–' : describeSpan(median)) },
  { label: '9 in 10 answered within', value: ({ first_answer_s: { p90 } }) => (p90 === null ? '–' : describeSpan(p90)) },
  { label: 'Solved after', value: ({ resolution_s: { median } }) => (median === null ? '–' : describeSpan(median)) },
  {
    label: 'Rating',
    value: ({ ratings: { average, count } }) =>
      average === null ? '–' : `${formatDecimals(average, 1)} (${formatNumber(count)})`,
  },
];

const rowOf = (key: string, name: string, figures: DeskFigures) => ({
  ...{ key, name, figures },
  isQuiet: figures.opened + figures.closed === 0,
});

function spanOf(seconds: number | null): string {
  return seconds === null ? '–' : describeSpan(seconds);
}

/** Text below a median. */
function shareOf({ p90 }: DeskFigures['first_answer_s'], done: 'answered' | 'closed'): string {
  return p90 === null ? `nothing was ${done} in this time` : `median; 9 in 10 ${done} within ${describeSpan(p90)}`;
}

function Figures({ report }: { report: Report }) {
  const { total, weeks, people } = report;
  // Only the table omits empty weeks; the chart needs them for a regular time axis.
  const busy = weeks.filter(({ opened, closed }) => opened + closed > 0);
  const quiet = weeks.length - busy.length;
  if (total.opened + total.closed === 0 && people.length === 0)
    return (
      <Card title="Support">
        <p className="sub">Nothing was asked or closed in this time.</p>
      </Card>
    );
  return (
    <>
      <div className="page__stats" data-columns="4">
        <StatCard
          label="Conversations"
          icon={IconChecklist}
          value={formatNumber(total.opened)}
        >{`${formatNumber(total.answered)} answered, ${formatNumber(total.closed)} closed`}</StatCard>
        <StatCard label="First answer" icon={IconClockHour4} value={spanOf(total.first_answer_s.median)}>
          {shareOf(total.first_answer_s, 'answered')}
        </StatCard>
        <StatCard label="Solved after" icon={IconHourglass} value={spanOf(total.resolution_s.median)}>
          {shareOf(total.resolution_s, 'closed')}
        </StatCard>
        <StatCard
          label="Rating"
          icon={IconStar}
          value={total.ratings.average === null ? '–' : `${formatDecimals(total.ratings.average, 1)} of 5`}
        >
          {plural(total.ratings.count, { one: '1 rating', other: `${formatNumber(total.ratings.count)} ratings` })}
        </StatCard>
      </div>
      <Card title="Week by week">
        {busy.length > 1 && (
          <BarChart
            series={[
              { name: 'Opened', tone: 'blue' },
              { name: 'Closed', tone: 'accent' },
            ]}
            spans={weeks.map(({ week, opened, closed }) => ({
              key: week,
              name: describeCalendarDay(week, 'day'),
              title: `Week of ${describeCalendarDay(week)}: ${opened} opened, ${closed} closed`,
              values: [opened, closed],
            }))}
          />
        )}
        <ReportTable
          label="Weeks"
          first="Week of"
          columns={COLUMNS}
          rows={busy.toReversed().map((week) => rowOf(week.week, describeCalendarDay(week.week), week))}
        />
        {quiet > 0 && (
          <p className="sub above-3">
            {plural(quiet, {
              one: '1 week without a conversation is not listed.',
              other: `${formatNumber(quiet)} weeks without a conversation are not listed.`,
            })}
          </p>
        )}
      </Card>
      {people.length > 0 && (
        <Card title="By person">
          <ReportTable
            label="People"
            first="Person"
            columns={COLUMNS}
            rows={people.map((person) => rowOf(person.user_id ?? person.username, person.username, person))}
          />
        </Card>
      )}
    </>
  );
}
