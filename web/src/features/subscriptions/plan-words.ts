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

export function describeLimit(devices: number): string {
  return devices === UNLIMITED_DEVICES ? 'Unlimited' : formatNumber(devices);
}

export function describeDevices(devices: number): string {
  if (devices === UNLIMITED_DEVICES) return 'Unlimited devices';
  return plural(devices, { one: '1 device', other: `${formatNumber(devices)} devices` });
}

/** "5 computers with our program". */
export function describeComputers(computers: number): string {
  if (computers === UNLIMITED_DEVICES) return 'Unlimited computers with our program';
  return plural(computers, {
    one: '1 computer with our program',
    other: `${formatNumber(computers)} computers with our program`,
  });
}

/** Time before its end in which extending a plan is the main action, in ms. */
const SOON = 60 * 86_400_000;

/** True if a plan has an end, and it is near. */
export const endsSoon = (expires_at: string | null, now: number): boolean =>
  expires_at !== null && Date.parse(expires_at) - now < SOON;

/** "Web protection for 10 devices". */
export function describeWebDevices(devices: number): string {
  if (devices === UNLIMITED_DEVICES) return 'Web protection for unlimited devices';
  return plural(devices, {
    one: 'Web protection for 1 device',
    other: `Web protection for ${formatNumber(devices)} devices`,
  });
}

/** "5 people". */
export function describePeople(people: number): string {
  if (people === UNLIMITED_DEVICES) return 'Unlimited people';
  return plural(people, { one: '1 person', other: `${formatNumber(people)} people` });
}

/** "Profiles for 5 people at home". */
export function describeProfiles(people: number): string {
  if (people === UNLIMITED_DEVICES) return 'Profiles for unlimited people at home';
  return plural(people, {
    one: 'Profile for 1 person at home',
    other: `Profiles for ${formatNumber(people)} people at home`,
  });
}

export function describeType(isPremium: boolean): 'Premium' | 'Standard' {
  return isPremium ? 'Premium' : 'Standard';
}
