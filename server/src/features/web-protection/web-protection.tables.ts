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
    /** Where it asks plain DNS from: an address, or `network` for all of them. */
    address: string | null;
    /** The device of the agent that asks. */
    device_id: Generated<string | null>;
    created_at: string;
    last_question_at: string | null;
    /** Until when all names that it asks for are kept. */
    names_until: Generated<string | null>;
    /** The last question before the newest reported silence. */
    silence_told: Generated<string | null>;
    /** The profile whose rules it has, in place of those of its person. */
    profile_id: Generated<string | null>;
  };
  web_policies: {
    user_id: string;
    /** JSON. */
    categories: string;
    services: string;
    safe_search: string;
    /** Until when dangerous names are answered. */
    paused_until: string | null;
  };
  /** Names that a person blocks or allows. */
  web_names: { id: string; user_id: string; name: string; verdict: WebName['verdict']; created_at: string };
  /** Questions by hour (the beginning of a time in UTC); `answered`, or the category that they were refused for. Kept for 90 days. */
  web_counts: {
    id: string;
    device_id: string;
    user_id: string;
    /** The profile that the device had then. */
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
    /** 1: shown to the person of its profile alone. */
    is_private: Generated<number>;
  };
  /** Names that were answered while their person wanted to see them. Kept for a day. */
  web_shown_names: { id: string; user_id: string; device_id: string; name: string; count: number; last_at: string };
}

export const WEB_PROTECTION_PERSONAL: readonly PersonalTable[] = [
  { table: 'web_devices', withheld: ['key', 'silence_told'] },
  { table: 'web_policies', key: 'user_id', json: ['categories', 'services'] },
  { table: 'web_names' },
  // Counts of a profile are its person’s: guardians get what they see of it.
  { table: 'web_counts', where: { column: 'profile_id', is: null } },
  { table: 'web_shown_names' },
  { table: 'guardians', key: 'user_id' },
  { table: 'household_invites', withheld: ['token_hash'] },
];

declare module '#platform/tables.ts' {
  interface Tables extends WebProtectionTables {}
}
