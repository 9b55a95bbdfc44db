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
    /** When a temporary rule turns itself off; null for a permanent one. */
    expires_at: string | null;
    /** JSON: ids of the devices that it applies to; empty for all. */
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
    /** JSON: each rule before and after the change, null if it did not or does not exist. */
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
