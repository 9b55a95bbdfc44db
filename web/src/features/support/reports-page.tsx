import { TextInput } from '@mantine/core';
import { dayAfter, dayOf } from '@palisade/contract/day';
import { type DeskFigures, exportReport, type Report, readReport } from '@palisade/contract/desk';
import { describeSpan, formatDecimals, formatNumber, plural } from '@palisade/contract/intl';
import { IconChecklist, IconClockHour4, IconDownload, IconHourglass, IconStar } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, download, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card, StatCard } from '#ui/card.tsx';
import { describeCalendarDay, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { ZONE } from '#ui/place.ts';
import { Refusal } from '#ui/refusal.tsx';
import { saveFile } from '#ui/save-file.ts';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { ReportChart } from './report-chart.tsx';
import '#ui/records.css';
import './reports-page.css';

export function ReportsPage() {
  return (
    <Page
      title="Support reports"
      sentence="How much was asked, how fast it was answered, and how customers rated it."
      aside={
        <ScreenLink to="/support" variant="quiet" size="s">
          To the desk
        </ScreenLink>
      }
    >
      <Reports />
    </Page>
  );
}

interface Range {
  from: string;
  to: string;
}

/** Omits an empty day from the query. */
function queryOf({ from, to }: Range) {
  return { ...(from !== '' && { from }), ...(to !== '' && { to }) };
}

/** Common ranges, in days up to today. Without a range the server returns the last 12 weeks. */
const PRESETS = [
  { label: '7 days', days: 7 },
  { label: '30 days', days: 30 },
  { label: '12 weeks', days: undefined },
  { label: 'This year', days: 'year' },
] as const;

type Preset = (typeof PRESETS)[number];

/** `today` is a date in the desk's time zone. */
function rangeOf({ days }: Preset, today: string): Range {
  if (days === undefined) return { from: '', to: '' };
  if (days === 'year') return { from: `${today.slice(0, 4)}-01-01`, to: today };
  return { from: dayAfter(today, 1 - days), to: today };
}

interface PresetsProps {
  range: Range;
  time_zone: string | undefined;
  onChoose: (range: Range) => void;
}

function Presets({ range, time_zone, onChoose }: PresetsProps) {
  const today = dayOf(time_zone || ZONE.name, useMinute());
  const isChosen = (preset: Preset) => {
    const { from, to } = rangeOf(preset, today);
    return from === range.from && to === range.to;
  };
  return (
    <fieldset className="report__presets" aria-label="Time">
      {PRESETS.map((preset) => (
        <Button
          key={preset.label}
          variant="quiet"
          aria-pressed={isChosen(preset)}
          onClick={() => onChoose(rangeOf(preset, today))}
        >
          {preset.label}
        </Button>
      ))}
    </fieldset>
  );
}

function Reports() {
  const [range, setRange] = useState<Range>({ from: '', to: '' });
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
      <div className="report__range">
        <Presets range={range} time_zone={report?.time_zone} onChoose={setRange} />
        <TextInput
          type="date"
          size="md"
          label="From"
          value={range.from || (report?.from.slice(0, 10) ?? '')}
          onChange={(event) => setRange({ ...range, from: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          size="md"
          label="To"
          value={range.to || (report?.to.slice(0, 10) ?? '')}
          onChange={(event) => setRange({ ...range, to: event.currentTarget.value })}
        />
        <Button variant="quiet" icon={IconDownload} iconSize={16} loading={save.isPending} onClick={() => save.mutate()}>
          Download as CSV
        </Button>
      </div>
      {report && report.time_zone !== '' && <p className="sub">{zoneSentence(report)}</p>}
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

/** The time zone of the days of the report. */
function zoneSentence({ time_zone, unknown_time_zone }: Report): string {
  return unknown_time_zone === undefined
    ? `Days are in ${time_zone}.`
    : `This server doesn’t know the time zone ${unknown_time_zone}. Days are in UTC.`;
}

function spanOf(seconds: number | null): string {
  return seconds === null ? 'None yet' : describeSpan(seconds);
}

/** Text below a median. */
function shareOf({ p90 }: DeskFigures['first_answer_s'], nothing: string): string {
  return p90 === null ? nothing : `median; 90th percentile ${describeSpan(p90)}`;
}

function Figures({ report }: { report: Report }) {
  const { total, weeks, people } = report;
  // Only the table omits empty weeks; the chart needs them for a regular time axis.
  const busy = weeks.filter(({ opened, closed }) => opened + closed > 0);
  const quiet = weeks.length - busy.length;
  return (
    <>
      <div className="page__stats" data-columns="4">
        <StatCard
          label="Conversations"
          icon={IconChecklist}
          value={formatNumber(total.opened)}
        >{`${formatNumber(total.answered)} answered, ${formatNumber(total.closed)} closed`}</StatCard>
        <StatCard label="First answer" icon={IconClockHour4} value={spanOf(total.first_answer_s.median)}>
          {shareOf(total.first_answer_s, 'nothing was answered in this time')}
        </StatCard>
        <StatCard label="Solved after" icon={IconHourglass} value={spanOf(total.resolution_s.median)}>
          {shareOf(total.resolution_s, 'nothing was closed in this time')}
        </StatCard>
        <StatCard
          label="Rating"
          icon={IconStar}
          value={total.ratings.average === null ? 'None yet' : `${formatDecimals(total.ratings.average, 1)} of 5`}
        >
          {plural(total.ratings.count, { one: '1 rating', other: `${formatNumber(total.ratings.count)} ratings` })}
        </StatCard>
      </div>
      <Card title="Week by week">
        {total.opened + total.closed === 0 ? (
          <p className="sub">Nothing was asked or closed in this time.</p>
        ) : (
          <>
            <ReportChart weeks={weeks} />
            <FigureTable
              label="Weeks"
              first="Week of"
              rows={busy.toReversed().map((week) => ({ ...week, key: week.week, name: describeCalendarDay(week.week) }))}
            />
            {quiet > 0 && (
              <p className="sub report__quiet">
                {plural(quiet, {
                  one: '1 week without a conversation is not listed.',
                  other: `${formatNumber(quiet)} weeks without a conversation are not listed.`,
                })}
              </p>
            )}
          </>
        )}
      </Card>
      <Card title="By person">
        {people.length === 0 ? (
          <p className="sub">No one answered in this time.</p>
        ) : (
          <FigureTable
            label="People"
            first="Person"
            rows={people.map((person) => ({ ...person, key: person.user_id ?? person.username, name: person.username }))}
          />
        )}
      </Card>
    </>
  );
}

interface FigureTableProps {
  label: string;
  /** Heading of the first column. */
  first: string;
  rows: readonly (DeskFigures & { key: string; name: string })[];
}

function FigureTable({ label, first, rows }: FigureTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section className="report__scroll" tabIndex={0} aria-label={label}>
      <table className="records report__table num" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">Opened</th>
            <th scope="col">Closed</th>
            <th scope="col">First answer</th>
            <th scope="col">90th percentile</th>
            <th scope="col">Solved after</th>
            <th scope="col">Rating</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, opened, closed, first_answer_s, resolution_s, ratings }) => (
            <tr key={key} data-quiet={opened + closed === 0}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td data-label="Opened">{formatNumber(opened)}</td>
              <td data-label="Closed">{formatNumber(closed)}</td>
              <td data-label="First answer">{first_answer_s.median === null ? '–' : describeSpan(first_answer_s.median)}</td>
              <td data-label="90th percentile">{first_answer_s.p90 === null ? '–' : describeSpan(first_answer_s.p90)}</td>
              <td data-label="Solved after">{resolution_s.median === null ? '–' : describeSpan(resolution_s.median)}</td>
              <td data-label="Rating">
                {ratings.average === null ? '–' : `${formatDecimals(ratings.average, 1)} (${formatNumber(ratings.count)})`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
