import type { Hello } from '@palisade/contract/agent';

/** The first words of an agent that can nothing but what every agent can. */
export const helloOf = (device_id: string, token: string): Hello => ({
  kind: 'hello',
  device_id,
  token,
  instance: 'b'.repeat(32),
  agent_version: '1',
  applied_rev: 0,
  ruleset_hash: null,
  at: new Date().toISOString(),
  capabilities: {
    firewall: 'unavailable',
    firewall_reason: null,
    conntrack: false,
    scanner: false,
    scanner_reason: null,
    watch: false,
    control: false,
    control_reason: null,
    second_look: false,
    second_look_reason: null,
    containers: false,
    parsed_rules: true,
  },
});
