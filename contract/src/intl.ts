// Formats plurals, numbers, sizes, lists, durations and dates for server and pages. `scripts/intl.test.mjs` checks that no other file formats them.

/** The language of the sentences, for plurals, numbers, lists and durations. */
export const LANGUAGE = 'en';

/** The date format for readers whose regional English is unknown, as in emails. */
export const DATE_LOCALE = 'en-GB';

/** Prices are formatted by their stored currency. */
const PRICE_LOCALE = 'en-US';

/** Maximum size of each cache. Zones and locales are external input, and there are about 600 zones. */
const KEPT_MAXIMUM = 1_000;

/** Returns the formatter of a key and creates it at its first use, because creation costs more than use. */
export function kept<Made>(made: Map<string, Made>, key: string, make: () => Made): Made {
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  if (made.size >= KEPT_MAXIMUM) made.clear();
  made.set(key, value);
  return value;
}

/**
 * The locale for dates from a tag such as `navigator.language`. It is used only if it is a variant of the sentences' language, so that sentences do not mix languages.
 * Chromium on Linux reports the system's locale, such as `en-US@posix`; only the part before the `@` is used.
 */
export function localeOf(claim: unknown): string {
  const tag = typeof claim === 'string' ? (claim.split(/[.@]/u)[0] ?? '').replaceAll('_', '-') : '';
  const isOfLanguage = tag.toLowerCase() === LANGUAGE || tag.toLowerCase().startsWith(`${LANGUAGE}-`);
  try {
    if (isOfLanguage && Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0) return tag;
  } catch {
    // Not a valid language tag.
  }
  return DATE_LOCALE;
}

const pluralRules = new Map<string, Intl.PluralRules>();

function categoryOf(count: number, type: Intl.PluralRuleType): Intl.LDMLPluralRule {
  return kept(pluralRules, type, () => new Intl.PluralRules(LANGUAGE, { type })).select(count);
}

/** A text for each plural category of the language. `other` is used for categories without a text. */
type Forms<Text, Named extends Intl.LDMLPluralRule> = Record<Named | 'other', Text> & Partial<Record<Intl.LDMLPluralRule, Text>>;

/** Selects the text for a count, a whole sentence each: `{ one: '1 file is infected.', other: '3 files are infected.' }`. */
export function plural<const Text>(count: number, forms: Forms<Text, 'one'>): Text {
  return forms[categoryOf(count, 'cardinal')] ?? forms.other;
}

/** Formats an ordinal: 1st, 2nd, 3rd, 4th. */
export function ordinal<Text>(place: number, forms: Forms<Text, 'one' | 'two' | 'few'>): Text {
  return forms[categoryOf(place, 'ordinal')] ?? forms.other;
}

const numbers = new Map<string, Intl.NumberFormat>();

function write(value: number, options: Intl.NumberFormatOptions, locale = LANGUAGE): string {
  const make = () => new Intl.NumberFormat(locale, options);
  return kept(numbers, locale + JSON.stringify(options), make).format(value);
}

/** "1,234" */
export function formatNumber(value: number): string {
  return write(value, {});
}

/** Formats a number with a fixed number of decimals: "4.5", "19.90". */
export function formatDecimals(value: number, places: number): string {
  return write(value, { useGrouping: false, minimumFractionDigits: places, maximumFractionDigits: places });
}

/** Formats a share from 0 to 1 as whole percent: "42%". */
export function formatPercent(share: number): string {
  return write(share, { style: 'percent' });
}

/** Formats progress from 0 to 1 as whole percent, rounded down, so that only completion is "100%". */
export function formatProgress(share: number): string {
  return formatPercent(Math.floor(share * 100) / 100);
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];
const SIZE_STEP = 1024;

/** Formats a size in bytes: "68 B", "1.2 GB". */
export function describeBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1023.95 would round to "1024.0".
  while (value >= SIZE_STEP - 0.05 && unit < SIZE_UNITS.length - 1) {
    value /= SIZE_STEP;
    unit += 1;
  }
  const maximumFractionDigits = value >= 100 ? 0 : 1;
  return `${write(value, { useGrouping: false, maximumFractionDigits })} ${SIZE_UNITS[unit]}`;
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** A size in a sentence: in whole or half gigabytes, whole megabytes, or bytes below one megabyte. `bytes` is a whole number. */
export function describeSize(bytes: number): string {
  if (bytes >= GIB) return `${Math.round((bytes / GIB) * 10) / 10} GB`;
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MB` : `${bytes} bytes`;
}

/** Formats a price with its currency (ISO 4217), because several currencies use "$": "$19.99 USD". */
export function formatPrice(price: number, currency: string): string {
  return `${write(price, { style: 'currency', currency }, PRICE_LOCALE)} ${currency}`;
}

/** "9.99 US dollars" */
export function formatDollars(price: number): string {
  const options = { style: 'currency', currency: 'USD', currencyDisplay: 'name', maximumFractionDigits: 20 } as const;
  return write(price, options, PRICE_LOCALE);
}

const LISTS = {
  and: {},
  or: { type: 'disjunction' },
  plain: { style: 'narrow' },
} as const satisfies Record<string, Intl.ListFormatOptions>;
const lists = new Map<string, Intl.ListFormat>();

/** "Laptop, Tower, and Phone"; `or` uses "or"; `plain` has no word before the last item. */
export function formatList(items: Iterable<string>, kind: keyof typeof LISTS = 'and'): string {
  return kept(lists, kind, () => new Intl.ListFormat(LANGUAGE, LISTS[kind])).format(items);
}

/** Lists the first of many names: "Laptop, Tower, and 2 more". Lists one name more than `most` instead of "1 more". */
export function listFirst(names: readonly string[], most = 3): string {
  if (names.length <= most + 1) return formatList(names);
  return formatList([...names.slice(0, most), `${formatNumber(names.length - most)} more`]);
}

/** Units of durations. */
type SpanUnit = 'second' | 'minute' | 'hour' | 'day' | 'month';

/** "1 minute", "40 seconds" */
export function formatSpan(count: number, unit: SpanUnit): string {
  return write(count, { style: 'unit', unit, unitDisplay: 'long' });
}

/** A duration in a suitable unit: "40 seconds", "6 minutes", "3 days". */
export function describeSpan(seconds: number): string {
  if (seconds < 90) return formatSpan(Math.max(1, Math.round(seconds)), 'second');
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return formatSpan(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? formatSpan(hours, 'hour') : formatSpan(Math.round(hours / 24), 'day');
}

/** Minimum length in seconds (`from`) for each unit of a wait, so that the number has at most two digits. */
const WAITS = [
  { unit: 'day', seconds: 86_400, from: 172_800 },
  { unit: 'hour', seconds: 3_600, from: 7_200 },
  { unit: 'minute', seconds: 60, from: 60 },
] as const;
const SHORT_WAIT = { unit: 'second', seconds: 1 } as const;

/** A wait, rounded up: "45 seconds", "10 minutes", "3 hours". */
export function describeWait(seconds: number): string {
  const { unit, seconds: length } = WAITS.find(({ from }) => seconds >= from) ?? SHORT_WAIT;
  return formatSpan(Math.ceil(seconds / length), unit);
}

const relativeTimes = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' });

/** "12 minutes ago", "yesterday", "in 3 days" */
export function formatRelative(count: number, unit: SpanUnit): string {
  return relativeTimes.format(count, unit);
}

/** Formats of dates and times on screens and in emails. */
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
  /** Friday 20 November 2026 at 10:24:07 */
  full: { dateStyle: 'full', timeStyle: 'medium' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
export type DateForm = keyof typeof DATE_FORMS;

const dates = new Map<string, Intl.DateTimeFormat>();

/** Formats a time in a time zone. `time_zone` must be known to `timeZoneOf`. */
export function formatDate(form: DateForm, at: Date | number, place: { time_zone: string; locale?: string }): string {
  const { time_zone, locale = DATE_LOCALE } = place;
  const make = () => new Intl.DateTimeFormat(locale, { ...DATE_FORMS[form], timeZone: time_zone });
  return kept(dates, `${form} ${locale} ${time_zone}`, make).format(at);
}

const segmenter = new Intl.Segmenter(LANGUAGE, { granularity: 'grapheme' });

/** The characters of a text as a person counts them (grapheme clusters). */
export function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Capitalizes a text for the beginning of a sentence. */
export function capitalize(text: string): string {
  return text.charAt(0).toLocaleUpperCase(LANGUAGE) + text.slice(1);
}

const collator = new Intl.Collator(LANGUAGE, { numeric: true, sensitivity: 'base' });

/** Compares two names for sorting: "Plan 2" before "Plan 10", ignoring case and accents. */
export function compareNames(one: string, other: string): number {
  return collator.compare(one, other);
}
