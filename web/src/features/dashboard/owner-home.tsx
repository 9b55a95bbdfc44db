import { HOME_DAYS, type Home, LATELY_DAYS } from '@palisade/contract/home';
import { formatNumber, formatPrice, plural } from '@palisade/contract/intl';
import { PLANS_END_WITHIN_DAYS } from '@palisade/contract/overview';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { Link } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { homeQuery } from '#domain/overview/home.ts';
import { overviewQuery } from '#domain/overview/overview.ts';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeCalendarDay } from '#ui/moment.tsx';
import { Sparkline } from '#ui/sparkline.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { Waiting } from './waiting.tsx';

const PLANS = '/subscription-manager?tab=manage';
const REPORT = `/support/reports?about=`;

/** An overview of the installation with its first steps, above an administrator's own dashboard. Each figure links to its list. */
export function OwnerHome({ firstSteps }: { firstSteps?: ReactNode }) {
  const { data: home, error, refetch } = useQuery(homeQuery);
  return (
    <>
      <Waiting home={home} />
      {firstSteps}
      <div className="card" aria-busy={!home && !error}>
        {error && (
          <ErrorNotice title="We couldn’t load your figures" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
        )}
        {home && (
          <Grid columns="fit-s" gap="5" rowGap="0">
            <People people={home.people} />
            <Devices devices={home.devices} />
            <Income income={home.income} />
            {!hasCharts(home.trend) && <Sums days={home.trend} />}
          </Grid>
        )}
      </div>
      {home && hasCharts(home.trend) && <Trend days={home.trend} />}
    </>
  );
}

interface FigureProps {
  title: string;
  /** The large figure or figures. */
  children?: ReactNode;
  /** Parts of the figure, each with a link to its list. */
  parts: readonly { words: string; count: number; to: string; isWarning?: boolean }[];
}

/** A large figure with its parts, each a link to its list. A warning with a count of 0 is omitted. */
function Figure({ title, children, parts }: FigureProps) {
  const id = useId();
  return (
    <Stack as="section" gap="1" className="pad-row top" aria-labelledby={id}>
      <h2 className="small medium muted" id={id}>
        {title}
      </h2>
      <Row gap="3" rowGap="0" className="title num off-empty">
        {children}
      </Row>
      <Stack as="ul" gap="1" className="small">
        {parts
          .filter(({ count, isWarning }) => !isWarning || count > 0)
          .map(({ words, count, to, isWarning = false }) => (
            <li key={words}>
              <Link to={to} className={`unlined hover-accent ${isWarning ? 'amber' : 'muted'}`}>
                <b className="num">{formatNumber(count)}</b> {words}
              </Link>
            </li>
          ))}
      </Stack>
    </Stack>
  );
}

function People({ people }: Pick<Home, 'people'>) {
  return (
    <Figure
      title="People"
      parts={[
        { words: `new in ${LATELY_DAYS} days`, count: people.new, to: '/admin/users?state=new' },
        { words: 'active', count: people.active, to: '/admin/users?state=active' },
        { words: 'in danger', count: people.at_risk, to: '/admin/users?state=at_risk', isWarning: true },
        ...(people.unchecked > 0 ? [{ words: 'not checked', count: people.unchecked, to: '/admin/users?state=unchecked' }] : []),
      ]}
    >
      <Link to="/admin/users" className="ink unlined">
        {formatNumber(people.all)}
      </Link>
    </Figure>
  );
}

function Income({ income }: Pick<Home, 'income'>) {
  const { data: overview } = useQuery(overviewQuery);
  const plans = income.reduce((sum, { plans: some }) => sum + some, 0);
  const ending = overview?.waiting.plans_ending ?? 0;
  return (
    <Figure
      title="Income a month"
      parts={[
        {
          words: plural(plans, { one: 'plan of a customer', other: 'plans of customers' }),
          count: plans,
          to: `${PLANS}&status=active`,
        },
        {
          words: plural(ending, {
            one: `ends within ${PLANS_END_WITHIN_DAYS} days`,
            other: `end within ${PLANS_END_WITHIN_DAYS} days`,
          }),
          count: ending,
          to: `${PLANS}&status=ending`,
          isWarning: true,
        },
      ]}
    >
      {income.length === 0 && <span className="faint">None yet</span>}
      {income.map(({ currency, monthly }) => (
        <Link key={currency} to={`${PLANS}&status=active`} className="ink unlined">
          {formatPrice(monthly, currency)}
        </Link>
      ))}
    </Figure>
  );
}

function Devices({ devices }: Pick<Home, 'devices'>) {
  return (
    <Figure
      title="Devices"
      parts={[{ words: 'silent for a week', count: devices.silent, to: '/admin/users?state=silent_device', isWarning: true }]}
    >
      {formatNumber(devices.all)}
    </Figure>
  );
}

type Day = Home['trend'][number];

/** Figures of the trend: the words after the total, and the report that the figure links to. */
const TRENDS = [
  { of: 'people', tone: 'accent', about: 'people', what: { one: 'new person', other: 'new people' } },
  { of: 'infected', tone: 'red', about: 'security', what: { one: 'infected file', other: 'infected files' } },
  { of: 'alerts', tone: 'amber', about: 'security', what: { one: 'alert', other: 'alerts' } },
] as const satisfies readonly { of: Exclude<keyof Day, 'day'>; [key: string]: unknown }[];

const WEEK = 7;
/** Minimum number of days with figures for a chart. */
const CHARTED_DAYS = 14;

const sumOf = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

/** Totals of periods of seven days, the last of which ends today, because single days are mostly 0. */
function weeksOf(days: readonly Day[], of: (typeof TRENDS)[number]['of']): number[] {
  const weeks: number[] = [];
  for (let end = days.length; end > 0; end -= WEEK)
    weeks.unshift(sumOf(days.slice(Math.max(0, end - WEEK), end).map((day) => day[of])));
  return weeks;
}

/** True if there are enough days since the first figure for a chart. */
function hasCharts(days: readonly Day[]): boolean {
  const begin = days.findIndex(({ people, infected, alerts }) => people + infected + alerts > 0);
  return begin >= 0 && days.length - begin >= CHARTED_DAYS;
}

const TREND_TITLE = `Last ${HOME_DAYS} days`;

function Sums({ days }: { days: readonly Day[] }) {
  const parts = TRENDS.map(({ of, about, what }) => {
    const count = sumOf(days.map((day) => day[of]));
    return { words: plural(count, what), count, to: `${REPORT}${about}` };
  });
  return <Figure title={TREND_TITLE} parts={parts} />;
}

function Trend({ days }: { days: readonly Day[] }) {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  return (
    <Card title={TREND_TITLE}>
      <Grid columns="3" gap="5">
        {TRENDS.map(({ of, tone, about, what }) => {
          const weeks = weeksOf(days, of);
          const sum = sumOf(weeks);
          return (
            <Stack key={of} gap="2">
              <Link to={`${REPORT}${about}`} className="hover-accent small muted unlined">
                <b className="num large bold ink">{formatNumber(sum)}</b> {plural(sum, what)}
              </Link>
              <Sparkline values={weeks} tone={tone} label={`At most ${formatNumber(Math.max(...weeks))} in a week`} />
              <Row gap="1" rowGap="0" justify="between" className="tiny faint num">
                <span>{first !== undefined && describeCalendarDay(first, 'day')}</span>
                <span>{last !== undefined && describeCalendarDay(last, 'day')}</span>
              </Row>
            </Stack>
          );
        })}
      </Grid>
    </Card>
  );
}
