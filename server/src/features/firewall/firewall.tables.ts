import type { Action, Direction, Protocol, RevisionKind } from '@palisade/contract/firewall';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface FirewallTables {
  firewall_rules: {
    id: string;
    user_id: string;
    rule_name: string;
    direction: Direction;
    action: Action;
    protocol: Protocol;
    source_ip: string;
    destination_ip: string;
    port: string;
    /** 0 or 1. */
    enabled: number;
    created_at: string;
    /** When a temporary rule switches itself off; null for one that lasts. */
    expires_at: string | null;
    /** JSON: the ids of the devices that it is for; empty for all of them. */
    device_ids: string;
  };
  /** One row for each person; a change of rules locks it until the change is stored. */
  firewall_rule_counts: { user_id: string; rules: number; rev: number };
  firewall_revisions: {
    id: string;
    user_id: string;
    rev: number;
    kind: RevisionKind;
    created_at: string;
    rule_name: string | null;
    added: number;
    changed: number;
    removed: number;
    /** JSON: each rule as it was before and is after, null where it was not or is not there. */
    changes: string;
  };
}

export const FIREWALL_PERSONAL: readonly PersonalTable[] = [
  { table: 'firewall_rules', json: ['device_ids'] },
  { table: 'firewall_rule_counts', key: 'user_id' },
  { table: 'firewall_revisions', json: ['changes'] },
];

declare module '#platform/tables.ts' {
  interface Tables extends FirewallTables {}
}
