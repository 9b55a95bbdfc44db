import { ownTimeZone, type TimeZone } from '@palisade/contract/day';
import { localeOf } from '@palisade/contract/intl';

/** The locale of dates: the browser's variant of English, if it has one. */
export const LOCALE = localeOf(navigator.language);

/** The time zone of this browser; UTC if unknown. */
export const ZONE: TimeZone = ownTimeZone();
