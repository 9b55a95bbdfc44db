import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import { describePlanEnd } from '#ui/moment.tsx';

/** The end of a subscription: its local date, or that there is none. */
export function describeExpiry(iso: string | null): string {
  return iso === null ? 'Never' : describePlanEnd(iso);
}

/** "$19.99", in whichever currency. */
export function describePrice(price: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(price);
}

/** The stored value in words: "9.99 US dollars". */
export function describeDollars(price: number): string {
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'name',
    maximumFractionDigits: 20,
  }).format(price);
}

export function describeMonths(months: number): string {
  return months === 1 ? '1 month' : `${months} months`;
}

export function describeDevices(devices: number): string {
  if (devices === UNLIMITED_DEVICES) return 'Unlimited devices';
  return devices === 1 ? '1 device' : `${devices} devices`;
}

export function describeType(isPremium: boolean): 'Premium' | 'Standard' {
  return isPremium ? 'Premium' : 'Standard';
}
