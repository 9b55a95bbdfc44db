import { dayAfter, dayOf, startOfDate } from '@palisade/contract/day';
import type { DeskFigures, ReadSettings, Report, ReportQuery } from '@palisade/contract/desk';
import type { Kysely, Selectable } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { BYTE_ORDER_MARK, csvLine } from '#platform/csv.ts';
import { refuseField } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import type { People } from './records.ts';

type Matter = Selectable<ChatTables['conversation_matters']>;

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const USUAL_WEEKS = 12;
const LONGEST_MS = 732 * DAY_MS;
const READ_AT_ONCE = 1_000;
const RESPONSES_LEAST = 5;
const RESPONSES_MOST = 2_000;
const KEPT_MS = 60_000;
const FORMER = 'No one';

/** The nearest-rank quantile; null for no values. */
function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return value === undefined ? null : Math.round(value);
}

const seconds = (from: string, to: string | null) =>
  to === null ? [] : [Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000];

function figuresOf(matters: readonly Matter[]): DeskFigures {
  const answers = matters.flatMap(({ opened_at, first_answered_at }) => seconds(opened_at, first_answered_at));
  const solutions = matters.flatMap(({ opened_at, closed_at }) => seconds(opened_at, closed_at));
  const ratings = matters.flatMap(({ rating }) => rating ?? []);
  const sum = ratings.reduce((all, rating) => all + rating, 0);
  return {
    opened: matters.length,
    closed: solutions.length,
    answered: answers.length,
    first_answer_s: { median: quantile(answers, 0.5), p90: quantile(answers, 0.9) },
    resolution_s: { median: quantile(solutions, 0.5), p90: quantile(solutions, 0.9) },
    ratings: { count: ratings.length, average: ratings.length === 0 ? null : Math.round((100 * sum) / ratings.length) / 100 },
  };
}

/**
 * The days of a report in the desk's time zone, with the first time and the first time after them (ISO). `now` is in ms. @throws Problem `invalid_field` if the days form no
 * range, or too long a one.
 */
export function reportTime({ from, to }: ReportQuery, { time_zone, unknown_time_zone }: ReadSettings, now: number) {
  const last = to ?? dayOf(time_zone, now);
  const first = from ?? mondayOf(dayAfter(last, -7 * (USUAL_WEEKS - 1)));
  const begin = startOfDate(time_zone, first);
  const end = startOfDate(time_zone, dayAfter(last, 1));
  if (end <= begin) throw refuseField('to', 'report.last_before_first');
  if (end - begin > LONGEST_MS) throw refuseField('from', 'report.too_long');
  const zone = { time_zone, ...(unknown_time_zone === undefined ? {} : { unknown_time_zone }) };
  return { zone, first, last, begin: new Date(begin).toISOString(), end: new Date(end).toISOString() };
}

/** The Monday of a day's week. */
export function mondayOf(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  return new Date(at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

interface ReportsOptions {
  database: Kysely<ChatTables>;
  people: People;
  settings: () => Promise<ReadSettings>;
  now: () => number;
}

async function* matters(database: Kysely<ChatTables>, begin: string, end: string): AsyncGenerator<Matter> {
  const pages = inPages(READ_AT_ONCE, async (last?: Matter) => {
    const query = database
      .selectFrom('conversation_matters')
      .selectAll()
      .where('opened_at', '>=', begin)
      .where('opened_at', '<', end);
    const further = query.where(({ or, and, eb, val }) =>
      or([
        eb('opened_at', '>', val(last?.opened_at ?? '')),
        and([eb('opened_at', '=', val(last?.opened_at ?? '')), eb('id', '>', val(last?.id ?? ''))]),
      ]),
    );
    return await further.orderBy('opened_at').orderBy('id').limit(READ_AT_ONCE).execute();
  });
  for await (const rows of pages) yield* rows;
}

async function median(database: Kysely<ChatTables>, now: () => number): Promise<number | null> {
  const rows = await database
    .selectFrom('conversation_matters')
    .select(['opened_at', 'first_answered_at'])
    .where('opened_at', '>=', new Date(now() - WEEK_MS).toISOString())
    .where('first_answered_at', 'is not', null)
    .orderBy('opened_at', 'desc')
    .limit(RESPONSES_MOST)
    .execute();
  if (rows.length < RESPONSES_LEAST) return null;
  return quantile(
    rows.flatMap(({ opened_at, first_answered_at }) => seconds(opened_at, first_answered_at)),
    0.5,
  );
}

const whoOf = ({ first_answered_by, closed_by }: Matter) => first_answered_by ?? closed_by;

/** Reports on the desk's work. A matter counts on the day on which it was opened. */
export class Reports {
  private readonly database: Kysely<ChatTables>;
  private readonly people: People;
  private readonly settings: () => Promise<ReadSettings>;
  private readonly now: () => number;
  private known: { value: Promise<number | null>; until: number } | undefined;

  constructor(options: ReportsOptions) {
    this.database = options.database;
    this.people = options.people;
    this.settings = options.settings;
    this.now = options.now;
  }

  /** The median time of a first answer in the last 7 days, in seconds; null where there were few. Asked often, and up to a minute old. */
  response(): Promise<number | null> {
    // Measured by the monotonic clock of the machine.
    if (this.known === undefined || performance.now() >= this.known.until) {
      const value = median(this.database, this.now);
      value.catch(() => {
        this.known = undefined;
      });
      this.known = { value, until: performance.now() + KEPT_MS };
    }
    return this.known.value;
  }

  /** @throws Problem `invalid_field` if the days form no range, or too long a one. */
  async read(query: ReportQuery): Promise<Report> {
    const { zone, first, last, begin, end } = reportTime(query, await this.settings(), this.now());
    const all: Matter[] = [];
    for await (const matter of matters(this.database, begin, end)) all.push(matter);
    const byWeek = Map.groupBy(all, ({ opened_at }) => mondayOf(dayOf(zone.time_zone, Date.parse(opened_at))));
    const byPerson = Map.groupBy(
      all.filter((matter) => matter.first_answered_at !== null || matter.closed_at !== null),
      whoOf,
    );
    const names = new Map(
      (await this.people.findUsers([...byPerson.keys()].flatMap((id) => id ?? []))).map(({ id, username }) => [id, username]),
    );
    const weeks: string[] = [];
    const last_week = Date.parse(mondayOf(last));
    for (let week = Date.parse(mondayOf(first)); week <= last_week; week += WEEK_MS)
      weeks.push(new Date(week).toISOString().slice(0, 10));
    return {
      from: first,
      to: last,
      ...zone,
      total: figuresOf(all),
      weeks: weeks.map((week) => ({ week, ...figuresOf(byWeek.get(week) ?? []) })),
      people: [...byPerson]
        .map(([user_id, some]) => ({ user_id, username: names.get(user_id ?? '') ?? FORMER, ...figuresOf(some) }))
        .toSorted((one, other) => other.answered - one.answered),
      response_s: await median(this.database, this.now),
    };
  }

  /** One line per matter. */
  async *csv(query: ReportQuery): AsyncIterable<string> {
    const { begin, end } = reportTime(query, await this.settings(), this.now());
    yield BYTE_ORDER_MARK +
      csvLine([
        'Opened (UTC)',
        'First answer (UTC)',
        'Seconds to it',
        'By',
        'Closed (UTC)',
        'Seconds to it',
        'By',
        'Rating',
        'Comment',
      ]);
    const names = new Map<string, string>();
    const nameOf = async (id: string | null) => {
      if (id === null) return '';
      if (!names.has(id)) names.set(id, (await this.people.findUsers([id]))[0]?.username ?? '');
      return names.get(id) ?? '';
    };
    for await (const matter of matters(this.database, begin, end)) {
      const { opened_at, first_answered_at, first_answered_by, closed_at, closed_by, rating, rating_comment } = matter;
      yield csvLine([
        opened_at,
        first_answered_at ?? '',
        seconds(opened_at, first_answered_at).map(Math.round).join(''),
        await nameOf(first_answered_by),
        closed_at ?? '',
        seconds(opened_at, closed_at).map(Math.round).join(''),
        await nameOf(closed_by),
        rating === null ? '' : String(rating),
        rating_comment ?? '',
      ]);
    }
  }
}

export function createReports(options: ReportsOptions): Reports {
  return new Reports(options);
}
