import { existsSync } from 'node:fs';
import { platform } from 'node:os';
import type { Capabilities } from '@palisade/contract/agent';
import { runProgram } from '#firewall/nft.ts';

/** Returns the reason why this computer cannot enforce rules; undefined if it can. */
export async function probeFirewall(): Promise<string | undefined> {
  if (platform() !== 'linux') return 'Rules are enforced on Linux alone; elsewhere they can be exported.';
  const tried = await runProgram(['nft'], ['list', 'tables']).catch(() => undefined);
  if (tried === undefined) return 'The program nft is missing (package nftables).';
  if (tried.code === 0) return undefined;
  return /permitted|denied/iu.test(tried.stderr)
    ? 'The agent may not change the firewall (CAP_NET_ADMIN).'
    : 'This kernel has no nftables.';
}

/** The capabilities that this agent reports to the server. */
export function capabilitiesOf(found: {
  /** The result of `probeFirewall`. */
  firewall_reason: string | undefined;
  has_conntrack: boolean;
  has_signatures: boolean;
}): Capabilities {
  const is_linux = platform() === 'linux';
  const scanner_reason = found.has_signatures ? null : 'This agent came without signatures.';
  return {
    firewall: found.firewall_reason === undefined ? 'nftables' : 'unavailable',
    firewall_reason: found.firewall_reason ?? null,
    conntrack: found.has_conntrack,
    scanner: found.has_signatures,
    scanner_reason,
    watch: is_linux && found.has_signatures,
    control: is_linux,
    control_reason: is_linux ? null : 'The screen of this computer cannot be shown: that works on Linux alone.',
    second_look: found.has_signatures,
    second_look_reason: scanner_reason,
    parsed_rules: true,
    containers: existsSync('/var/run/docker.sock') || existsSync('/run/podman/podman.sock'),
  };
}
