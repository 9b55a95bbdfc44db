import type { Subscription } from '@palisade/contract/subscription';
import { csvTable } from '#ui/csv.ts';
import { describeType } from './plan-words.ts';
import { STATUS_LABELS } from './subscription-view.ts';

const HEADER = [
  'User email',
  'Username',
  'Plan',
  'Price',
  'Currency',
  'Duration (months)',
  'Max devices',
  'Type',
  'Status',
  'Starts (UTC)',
  'Expires (UTC)',
  'Features',
  'Max devices with web protection',
  'Max profiles',
];

/** A file for spreadsheets: RFC 4180 with CRLF, in UTF-8 with a byte order mark. */
export function csvOf(subscriptions: readonly Subscription[]): string {
  const rows = subscriptions.map((row) => [
    row.user_email,
    row.user_username,
    row.plan_name,
    row.price.toFixed(2),
    row.currency,
    String(row.duration_months),
    String(row.max_devices),
    describeType(row.is_premium),
    STATUS_LABELS[row.status],
    row.starts_at,
    row.expires_at ?? 'Never',
    row.features.join('; '),
    String(row.max_web_devices),
    String(row.max_profiles),
  ]);
  return csvTable([HEADER, ...rows]);
}
