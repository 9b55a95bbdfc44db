import type { Action, Direction, Protocol } from '@palisade/contract/firewall';
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
  };
  firewall_rule_counts: { user_id: string; rules: number };
}

export const FIREWALL_PERSONAL: readonly PersonalTable[] = [
  { table: 'firewall_rules' },
  { table: 'firewall_rule_counts', key: 'user_id' },
];
