// Plurals, numbers, sizes, lists, spans and dates of every sentence, for server and pages. `scripts/intl.test.mjs` holds that no other file writes them.

/** The language of the sentences. Plurals, numbers, lists and spans follow it. */
export const LANGUAGE = 'en';

/** The form of dates for a reader whose own form of English is unknown, as in emails. */
export const DATE_LOCALE = 'en-GB';

/** Prices have the form of the currency that they are stored in. */
const PRICE_LOCALE = 'en-US';

/** Keeps a formatter from its first use: making one costs more than its use, and most programs need few of them. */
function kept<Made>(make: () => Made): () => Made {
  let made: { value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Dates are kept for each form, locale and time zone. Zones come from outside, and there are some 600. */
const KEPT_MAXIMUM = 1_000;

function keptBy<Made>(make: () => Made, key: string, made: Map<string, Made>): Made {
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  if (made.size >= KEPT_MAXIMUM) made.clear();
  made.set(key, value);
  return value;
}

/**
 * The locale for dates that a program names, such as `navigator.language`. It counts where it is a form of the sentences' language, so that a sentence has no word of another.
 * Chromium on Linux names the locale of the system, such as `en-US@posix`, of which the part before the mark counts.
 */
export function localeOf(claim: unknown): string {
  const tag = typeof claim === 'string' ? (claim.split(/[.@]/u)[0] ?? '').replaceAll('_', '-') : '';
  const isOfLanguage = tag.toLowerCase() === LANGUAGE || tag.toLowerCase().startsWith(`${LANGUAGE}-`);
  try {
    if (isOfLanguage && Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0) return tag;
  } catch {
    // No language tag.
  }
  return DATE_LOCALE;
}

const cardinals = kept(() => new Intl.PluralRules(LANGUAGE));
const ordinals = kept(() => new Intl.PluralRules(LANGUAGE, { type: 'ordinal' }));

/** A text for each plural category of the language. `other` stands for categories without a text. */
type Forms<Text, Named extends Intl.LDMLPluralRule> = Record<Named | 'other', Text> & Partial<Record<Intl.LDMLPluralRule, Text>>;

/** The form of a count: a whole sentence for each, such as `{ one: '1 file is infected.', other: '3 files are infected.' }`. */
export function plural<Text>(count: number, forms: Forms<Text, 'one'>): Text {
  return forms[cardinals().select(count)] ?? forms.other;
}

/** The form of a place in an order: 1st, 2nd, 3rd, 4th. */
export function ordinal<Text>(place: number, forms: Forms<Text, 'one' | 'two' | 'few'>): Text {
  return forms[ordinals().select(place)] ?? forms.other;
}

const numbers = kept(() => new Intl.NumberFormat(LANGUAGE));
const digits = kept(() => new Intl.NumberFormat(LANGUAGE, { useGrouping: false, maximumFractionDigits: 0 }));
const tenths = kept(() => new Intl.NumberFormat(LANGUAGE, { useGrouping: false, maximumFractionDigits: 1 }));
const percents = kept(() => new Intl.NumberFormat(LANGUAGE, { style: 'percent' }));

/** "1,234" */
export function formatNumber(value: number): string {
  return numbers().format(value);
}

const decimals = new Map<string, Intl.NumberFormat>();

/** A value with so many digits behind the point: "4.5", "19.90". */
export function formatDecimals(value: number, places: number): string {
  const make = () =>
    new Intl.NumberFormat(LANGUAGE, { useGrouping: false, minimumFractionDigits: places, maximumFractionDigits: places });
  return keptBy(make, String(places), decimals).format(value);
}

/** A share from 0 to 1 in whole percent: "42%". */
export function formatPercent(share: number): string {
  return percents().format(share);
}

/** Progress from 0 to 1 in whole percent, rounded down: only all of it is "100%". */
export function formatProgress(share: number): string {
  return formatPercent(Math.floor(share * 100) / 100);
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];
const SIZE_STEP = 1024;

/** A size for a person: "68 B", "1.2 GB". */
export function describeBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1023.95 would round to "1024.0".
  while (value >= SIZE_STEP - 0.05 && unit < SIZE_UNITS.length - 1) {
    value /= SIZE_STEP;
    unit += 1;
  }
  const format = unit === 0 || value >= 100 ? digits() : tenths();
  return `${format.format(value)} ${SIZE_UNITS[unit]}`;
}

const prices = new Map<string, Intl.NumberFormat>();

/** "$19.99", in the named currency (ISO 4217). */
export function formatPrice(price: number, currency: string): string {
  return keptBy(() => new Intl.NumberFormat(PRICE_LOCALE, { style: 'currency', currency }), currency, prices).format(price);
}

const dollars = kept(
  () =>
    new Intl.NumberFormat(PRICE_LOCALE, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'name',
      maximumFractionDigits: 20,
    }),
);

/** "9.99 US dollars" */
export function formatDollars(price: number): string {
  return dollars().format(price);
}

const lists = {
  and: kept(() => new Intl.ListFormat(LANGUAGE, { type: 'conjunction' })),
  or: kept(() => new Intl.ListFormat(LANGUAGE, { type: 'disjunction' })),
  plain: kept(() => new Intl.ListFormat(LANGUAGE, { type: 'conjunction', style: 'narrow' })),
};

/** "Laptop, Tower, and Phone"; with "or"; or `plain`, without a word before the last. */
export function formatList(items: Iterable<string>, kind: keyof typeof lists = 'and'): string {
  return lists[kind]().format(items);
}

/** Names in a sentence, the first of many: "Laptop, Tower, and 2 more". One more than `most` is named in place of "1 more". */
export function listFirst(names: readonly string[], most = 3): string {
  if (names.length <= most + 1) return formatList(names);
  return formatList([...names.slice(0, most), `${formatNumber(names.length - most)} more`]);
}

/** Units of spans. */
type SpanUnit = 'second' | 'minute' | 'hour' | 'day' | 'month';
const spans = new Map<string, Intl.NumberFormat>();

/** "1 minute", "40 seconds" */
export function formatSpan(count: number, unit: SpanUnit): string {
  return keptBy(() => new Intl.NumberFormat(LANGUAGE, { style: 'unit', unit, unitDisplay: 'long' }), unit, spans).format(count);
}

/** A span in the unit that suits its length: "40 seconds", "6 minutes", "3 days". */
export function describeSpan(seconds: number): string {
  if (seconds < 90) return formatSpan(Math.max(1, Math.round(seconds)), 'second');
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return formatSpan(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? formatSpan(hours, 'hour') : formatSpan(Math.round(hours / 24), 'day');
}

const relativeTimes = kept(() => new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' }));

/** "12 minutes ago", "yesterday", "in 3 days" */
export function formatRelative(count: number, unit: SpanUnit): string {
  return relativeTimes().format(count, unit);
}

/** The forms that a date or a time has on screens and in emails. */
const DATE_FORMS = {
  /** 10:24:07 */
  clock: { timeStyle: 'medium' },
  /** 10:24 */
  time: { timeStyle: 'short' },
  /** 20 Nov */
  day: { day: 'numeric', month: 'short' },
  /** Fri 20 Nov */
  weekday: { weekday: 'short', day: 'numeric', month: 'short' },
  /** Friday 20 November */
  long_weekday: { weekday: 'long', day: 'numeric', month: 'long' },
  /** 20 Nov 2026 */
  day_and_year: { day: 'numeric', month: 'short', year: 'numeric' },
  /** 20 November 2026 */
  long: { dateStyle: 'long' },
  /** 20 November 2026 at 10:24 */
  long_with_time: { dateStyle: 'long', timeStyle: 'short' },
  /** Friday 20 November 2026 at 10:24:07 */
  full: { dateStyle: 'full', timeStyle: 'medium' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
export type DateForm = keyof typeof DATE_FORMS;

const dates = new Map<string, Intl.DateTimeFormat>();

/** A moment as the clocks of a place show it. `time_zone` is one that `timeZoneOf` knows. */
export function formatDate(form: DateForm, at: Date | number, place: { time_zone: string; locale?: string }): string {
  const { time_zone, locale = DATE_LOCALE } = place;
  const make = () => new Intl.DateTimeFormat(locale, { ...DATE_FORMS[form], timeZone: time_zone });
  return keptBy(make, `${form} ${locale} ${time_zone}`, dates).format(at);
}

const segmenters = kept(() => new Intl.Segmenter(LANGUAGE, { granularity: 'grapheme' }));

/** The characters of a text as a person counts them. */
export function* graphemes(text: string): Generator<string> {
  for (const { segment } of segmenters().segment(text)) yield segment;
}

/** A text that begins a sentence. */
export function capitalize(text: string): string {
  const [first = ''] = graphemes(text);
  return first.toLocaleUpperCase(LANGUAGE) + text.slice(first.length);
}

const collators = kept(() => new Intl.Collator(LANGUAGE, { numeric: true, sensitivity: 'base' }));

/** The order of two names for a person: "Plan 2" before "Plan 10", without regard to case and accents. */
export function compareNames(one: string, other: string): number {
  return collators().compare(one, other);
}
