import { formatDollars, formatNumber, formatPrice, formatSpan, plural } from '@palisade/contract/intl';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import { describePlanEnd } from '#ui/moment.tsx';

/** The end of a subscription: its local date, or "Never". */
export function describeExpiry(iso: string | null): string {
  return iso === null ? 'Never' : describePlanEnd(iso);
}

/** "$19.99", in any currency. */
export function describePrice(price: number, currency: string): string {
  return formatPrice(price, currency);
}

/** The parsed value in words: "9.99 US dollars". */
export function describeDollars(price: number): string {
  return formatDollars(price);
}

export function describeMonths(months: number): string {
  return formatSpan(months, 'month');
}

export function describeDevices(devices: number): string {
  if (devices === UNLIMITED_DEVICES) return 'Unlimited devices';
  return plural(devices, { one: '1 device', other: `${formatNumber(devices)} devices` });
}

export function describeType(isPremium: boolean): 'Premium' | 'Standard' {
  return isPremium ? 'Premium' : 'Standard';
}
