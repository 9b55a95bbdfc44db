import { ownTimeZone, type TimeZone } from '@palisade/contract/day';
import { localeOf } from '@palisade/contract/intl';

/** The form of dates: the person's own English where the browser has one. */
export const LOCALE = localeOf(navigator.language);

/** The time zone of this browser; UTC, in which its dates are then shown, where it names none. */
export const ZONE: TimeZone = ownTimeZone();
