import { type TimeZone, timeZoneOf } from '@palisade/contract/day';

/** Language and time zone as the browser states them. Both are claims that `Intl` may refuse. */

/**
 * The screens are in English, so dates are too: in the person's own English where the browser has one. Chromium on Linux names the locale of the system, such as `en-US@posix`,
 * of which the part before the mark counts.
 */
export function localeOf(language: unknown): string {
  const tag = typeof language === 'string' ? (language.split(/[.@]/u)[0] ?? '').replaceAll('_', '-') : '';
  try {
    if (/^en(?:-|$)/iu.test(tag) && Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0) return tag;
  } catch {
    // No language tag.
  }
  return 'en-GB';
}

export const LOCALE = localeOf(navigator.language);

/** The time zone of this browser; UTC, in which its dates are then shown, where it names none. */
export const ZONE: TimeZone = timeZoneOf(Intl.DateTimeFormat().resolvedOptions().timeZone);
