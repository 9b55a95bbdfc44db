import type { WebDeviceKind, WebName } from '@palisade/contract/web-protection';
import type { Generated } from 'kysely';
import type { PersonalTable } from '#platform/personal-data.ts';
import type { HouseholdTables } from './household.tables.ts';

export interface WebProtectionTables extends HouseholdTables {
  web_devices: {
    id: string;
    user_id: string;
    name: string;
    kind: WebDeviceKind;
    key: string;
    /** Source address of its plain DNS queries, or `network` for all addresses. */
    address: string | null;
    /** Id of the agent's device, if the agent sends the queries. */
    device_id: Generated<string | null>;
    created_at: string;
    last_question_at: string | null;
    /** All names that it queries are recorded until this time. */
    names_until: Generated<string | null>;
    /** Value of `last_question_at` at the latest reported silence. */
    silence_told: Generated<string | null>;
    /** The profile whose rules apply; null for the rules of its owner. */
    profile_id: Generated<string | null>;
  };
  web_policies: {
    user_id: string;
    /** JSON array. */
    categories: string;
    services: string;
    safe_search: string;
    /** End of a pause, during which dangerous names are not refused. */
    paused_until: string | null;
  };
  /** Names that a person blocks or allows. */
  web_names: { id: string; user_id: string; name: string; verdict: WebName['verdict']; created_at: string };
  /** Numbers of queries by hour (first 13 characters of an ISO time in UTC). `category` is `answered`, or the category of the refusal. Kept for 90 days. */
  web_counts: {
    id: string;
    device_id: string;
    user_id: string;
    /** The device's profile at the time of the queries. */
    profile_id: Generated<string | null>;
    hour: string;
    category: string;
    count: number;
  };
  /** Refused names. Kept for 7 days. */
  web_refusals: {
    id: string;
    user_id: string;
    device_id: string;
    name: string;
    rule: string;
    category: string;
    count: number;
    last_at: string;
    /** 1: only the person of the profile may see it. */
    is_private: Generated<number>;
  };
  /** Answered names that were recorded at the person's request. Kept for a day. */
  web_shown_names: { id: string; user_id: string; device_id: string; name: string; count: number; last_at: string };
}

export const WEB_PROTECTION_PERSONAL: readonly PersonalTable[] = [
  { table: 'web_devices', withheld: ['key', 'silence_told'] },
  { table: 'web_policies', key: 'user_id', json: ['categories', 'services'] },
  { table: 'web_names' },
  // Counts under a profile belong to its person. The export of guardians contains what they see of the profile.
  { table: 'web_counts', where: { column: 'profile_id', is: null } },
  { table: 'web_shown_names' },
  { table: 'guardians', key: 'user_id' },
  { table: 'household_invites', withheld: ['token_hash'] },
];

declare module '#platform/tables.ts' {
  interface Tables extends WebProtectionTables {}
}
