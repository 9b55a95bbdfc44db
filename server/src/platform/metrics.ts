/** The values of the labels of one series, by the label's name. */
type Labels = Readonly<Record<string, string>>;

/** One value at the time of reading. */
interface Sample {
  labels?: Labels;
  value: number;
}

interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** The current values of the family. If it throws or takes too long, this reading omits it. */
  read(): readonly Line[] | Promise<readonly Line[]>;
}

/** One line of a family; `suffix` is appended to the name in a histogram. */
interface Line extends Sample {
  suffix?: string;
}

/** The server's metrics, in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats). */
export interface Metrics {
  /** A number that only grows. Its name ends in `_total`. */
  counter(name: string, help: string): { add(labels: Labels, by?: number): void };
  /** Counts values up to each of `bounds`, which ascend. */
  histogram(name: string, help: string, bounds: readonly number[]): { observe(labels: Labels, value: number): void };
  /** Values that are read at each request for the metrics. */
  gauge(name: string, help: string, read: () => readonly Sample[] | Promise<readonly Sample[]>): void;
  /** Like `gauge`, for a total that is counted elsewhere. */
  total(name: string, help: string, read: () => readonly Sample[]): void;
  /** The text of all metrics. Never rejects: values that cannot be read now are omitted and counted by `palisade_metrics_unread`. */
  text(): Promise<string>;
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Maximum number of series per family. Further series are counted under labels whose values are all `OTHER`, so that no caller can fill the memory. */
const SERIES_MAXIMUM = 2_000;
const OTHER = 'other';
/** Time limit of one reading, in ms: a slow database does not delay the other families. */
const READ_MS = 2_000;

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function numberOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return Number.isNaN(value) ? 'NaN' : String(value);
}

function lineOf(name: string, { suffix = '', labels = {}, value }: Line): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberOf(value)}\n`;
}

/** Series by their labels, at most `SERIES_MAXIMUM` of them. */
function createSeries<State>(make: () => State): {
  of(labels: Labels): State;
  all(): Iterable<{ labels: Labels; state: State }>;
} {
  const series = new Map<string, { labels: Labels; state: State }>();
  const keyOf = (labels: Labels) => JSON.stringify(Object.entries(labels));
  function find(labels: Labels): State {
    const key = keyOf(labels);
    const known = series.get(key);
    if (known !== undefined) return known.state;
    const state = make();
    series.set(key, { labels, state });
    return state;
  }
  return {
    of(labels) {
      if (series.size < SERIES_MAXIMUM || series.has(keyOf(labels))) return find(labels);
      return find(Object.fromEntries(Object.keys(labels).map((label) => [label, OTHER])));
    },
    all: () => series.values(),
  };
}

async function inTime<T>(work: () => T | Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('This took too long.')), READ_MS);
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function createMetrics(): Metrics {
  const families: Family[] = [];

  async function textOf({ name, help, type, read }: Family): Promise<string | undefined> {
    try {
      const lines = await inTime(read);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map((line) => lineOf(name, line)).join('')}`;
    } catch {
      return undefined;
    }
  }

  return {
    counter(name, help) {
      const series = createSeries(() => ({ value: 0 }));
      const read = () => [...series.all()].map(({ labels, state }) => ({ labels, value: state.value }));
      families.push({ name, help, type: 'counter', read });
      return {
        add(labels, by = 1) {
          series.of(labels).value += by;
        },
      };
    },

    histogram(name, help, bounds) {
      const series = createSeries(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }));
      families.push({
        name,
        help,
        type: 'histogram',
        read: () =>
          [...series.all()].flatMap(({ labels, state }) => [
            ...bounds.map((bound, index) => ({
              suffix: '_bucket',
              labels: { ...labels, le: numberOf(bound) },
              value: state.counts[index] ?? 0,
            })),
            { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: state.count },
            { suffix: '_sum', labels, value: state.sum },
            { suffix: '_count', labels, value: state.count },
          ]),
      });
      return {
        observe(labels, value) {
          const state = series.of(labels);
          // Histogram buckets are cumulative.
          for (const [index, bound] of bounds.entries()) if (value <= bound) state.counts[index] = (state.counts[index] ?? 0) + 1;
          state.count += 1;
          state.sum += value;
        },
      };
    },

    gauge: (name, help, read) => void families.push({ name, help, type: 'gauge', read }),
    total: (name, help, read) => void families.push({ name, help, type: 'counter', read }),

    async text() {
      const texts = await Promise.all(families.map(textOf));
      const unread = texts.filter((text) => text === undefined).length;
      const last: Family = {
        name: 'palisade_metrics_unread',
        help: 'Metrics that couldn’t be read, for example because the database doesn’t answer.',
        type: 'gauge',
        read: () => [{ value: unread }],
      };
      return `${texts.join('')}${await textOf(last)}`;
    },
  };
}
