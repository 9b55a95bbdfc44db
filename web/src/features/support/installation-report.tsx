import { formatList, formatNumber, formatPrice, plural } from '@palisade/contract/intl';
import { type InstallationReport as Report, type ReportSpan, readInstallationReport } from '@palisade/contract/report';
import {
  IconAlertTriangle,
  IconBan,
  IconCash,
  IconChartBar,
  IconCreditCard,
  IconFile,
  IconUserPlus,
  IconUserX,
  IconVirus,
  type TablerIcon,
} from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call, sentenceOf } from '#api/call.ts';
import { BarChart } from '#ui/bar-chart.tsx';
import { Card, StatCard } from '#ui/card.tsx';
import { csvTable, downloadCsv } from '#ui/csv.ts';
import type { Days } from '#ui/days-filter.tsx';
import { describeCalendarDay } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { queryOf, ReportRange } from './report-range.tsx';
import { ReportTable } from './report-table.tsx';

interface Figure {
  label: string;
  icon: TablerIcon;
  /** The words after the number in a tooltip. */
  what: { one: string; other: string };
  count: (span: ReportSpan) => number;
  /** Color in the chart; absent for a figure that is not drawn. */
  tone?: 'blue' | 'accent' | 'red' | 'amber';
}

interface Kind {
  about: 'security' | 'people' | 'income';
  title: string;
  sentence: string;
  figures: readonly Figure[];
  /** Shown in place of a report without figures. */
  empty: { title: string; sentence: string };
}

/** The reports besides that of the desk. */
export const INSTALLATION_REPORTS: readonly Kind[] = [
  {
    about: 'security',
    title: 'Security',
    sentence: 'How many files were read, what was found in them, and how many alerts were raised.',
    figures: [
      {
        label: 'Files read',
        icon: IconFile,
        what: { one: 'file read', other: 'files read' },
        count: ({ security }) => security.files,
      },
      {
        label: 'Infected files',
        icon: IconVirus,
        what: { one: 'infected file', other: 'infected files' },
        count: ({ security }) => security.infected,
        tone: 'red',
      },
      {
        label: 'Alerts',
        icon: IconAlertTriangle,
        what: { one: 'alert', other: 'alerts' },
        count: ({ security }) => security.alerts,
        tone: 'amber',
      },
    ],
    empty: {
      title: 'No files and no alerts in this time',
      sentence: 'Scanned files, the threats found in them, and alerts will be counted here. Test files are not.',
    },
  },
  {
    about: 'people',
    title: 'People',
    sentence: 'How many people came, and how many accounts were deleted.',
    figures: [
      {
        label: 'New people',
        icon: IconUserPlus,
        what: { one: 'new person', other: 'new people' },
        count: ({ people }) => people.joined,
        tone: 'accent',
      },
      {
        label: 'Deleted accounts',
        icon: IconUserX,
        what: { one: 'deleted account', other: 'deleted accounts' },
        count: ({ people }) => people.deleted,
        tone: 'amber',
      },
    ],
    empty: { title: 'No one came in this time', sentence: 'New and deleted accounts will be counted here.' },
  },
  {
    about: 'income',
    title: 'Income',
    sentence: 'How many plans were assigned and ended, and what they cost.',
    figures: [
      {
        label: 'Plans assigned',
        icon: IconCreditCard,
        what: { one: 'plan assigned', other: 'plans assigned' },
        count: ({ income }) => income.assigned,
        tone: 'accent',
      },
      {
        label: 'Plans ended',
        icon: IconBan,
        what: { one: 'plan ended', other: 'plans ended' },
        count: ({ income }) => income.ended,
        tone: 'amber',
      },
    ],
    empty: {
      title: 'No plans in this time',
      sentence: 'Assigned plans with their prices, and plans that ended, will be counted here.',
    },
  },
];

interface InstallationReportProps {
  kind: Kind;
  range: Days;
  onChoose: (range: Days) => void;
}

/** A report about the installation in a period. */
export function InstallationReport({ kind, range, onChoose }: InstallationReportProps) {
  const {
    data: report,
    error,
    refetch,
  } = useQuery({
    queryKey: ['report', range],
    queryFn: ({ signal }) => call(readInstallationReport, { query: queryOf(range), signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <ReportRange
        range={range}
        onChoose={onChoose}
        report={report}
        onSave={() => report && downloadCsv(`${kind.about}-report.csv`, csvOf(report, kind))}
      />
      {error && <ErrorNotice title="The report could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!report && !error && (
        <section className="card">
          <LoadingRows label="Loading the report" />
        </section>
      )}
      {report && <Shown report={report} kind={kind} />}
    </>
  );
}

/** Prices as text, by currency. */
function soldIn(spans: readonly ReportSpan[]): string {
  const all = Map.groupBy(
    spans.flatMap(({ income }) => income.sold),
    ({ currency }) => currency,
  );
  const sums = [...all].map(([currency, some]) =>
    formatPrice(
      some.reduce((sum, { price }) => sum + price, 0),
      currency,
    ),
  );
  return sums.length === 0 ? '–' : formatList(sums, 'plain');
}

/** The columns of a report, for its table and its exported file. */
function columnsOf({ about, figures }: Kind) {
  const sold = { label: 'Sold for', value: (span: ReportSpan) => soldIn([span]) };
  return [
    ...figures.map(({ label, count }) => ({ label, value: (span: ReportSpan) => formatNumber(count(span)) })),
    ...(about === 'income' ? [sold] : []),
  ];
}

function csvOf({ spans, unit }: Report, kind: Kind): string {
  const columns = columnsOf(kind);
  return csvTable([
    [unit === 'day' ? 'Day' : 'Week from', ...columns.map(({ label }) => label)],
    ...spans.map((span) => [span.day, ...columns.map(({ value }) => value(span))]),
  ]);
}

function Shown({ report: { spans, unit }, kind }: { report: Report; kind: Kind }) {
  const { figures, empty, about } = kind;
  const sumOf = ({ count }: Figure) => spans.reduce((sum, span) => sum + count(span), 0);
  const busy = spans.filter((span) => figures.some(({ count }) => count(span) > 0));
  if (busy.length === 0)
    return (
      <section className="card">
        <EmptyState icon={IconChartBar} {...empty} />
      </section>
    );
  const drawn = figures.flatMap(({ tone, ...figure }) => (tone ? [{ ...figure, tone }] : []));
  const spanName = (day: string) => (unit === 'day' ? describeCalendarDay(day) : `Week from ${describeCalendarDay(day)}`);
  const told = (span: ReportSpan) =>
    figures.map(({ count, what }) => `${formatNumber(count(span))} ${plural(count(span), what)}`);
  return (
    <>
      <div className="page__stats">
        {figures.map((figure) => (
          <StatCard key={figure.label} label={figure.label} icon={figure.icon} value={formatNumber(sumOf(figure))}>
            {null}
          </StatCard>
        ))}
        {about === 'income' && (
          <StatCard label="Sold for" icon={IconCash} value={soldIn(spans)}>
            the whole prices of the assigned plans
          </StatCard>
        )}
      </div>
      <Card title={unit === 'day' ? 'Day by day' : 'Week by week'}>
        {drawn.some((figure) => sumOf(figure) > 0) && (
          <BarChart
            series={drawn.map(({ label, tone }) => ({ name: label, tone }))}
            spans={spans.map((span) => ({
              key: span.day,
              name: describeCalendarDay(span.day, 'day'),
              title: `${spanName(span.day)}: ${formatList(told(span), 'plain')}`,
              values: drawn.map(({ count }) => count(span)),
            }))}
          />
        )}
        <ReportTable
          label={kind.title}
          first={unit === 'day' ? 'Day' : 'Week from'}
          columns={columnsOf(kind)}
          rows={busy.toReversed().map((span) => ({ key: span.day, name: describeCalendarDay(span.day), figures: span }))}
        />
      </Card>
    </>
  );
}
