import type { DeviceEvent, Found } from '@palisade/contract/agent';
import type { DeviceAlert } from '@palisade/contract/devices';
import { formatNumber, plural } from '@palisade/contract/intl';

/** The part of an alert that a device's news give; the code that raises alerts knows the rest. */
export interface DeviceIncident {
  rule: DeviceAlert;
  key: string;
  user_id: string;
  threat_type: 'brute_force' | 'intrusion_attempt' | 'malware_detected' | 'device_offline';
  severity: 'low' | 'medium' | 'high' | 'critical';
  description: string;
  /** ISO time. */
  at: string;
  outcome: 'blocked' | 'allowed' | 'unknown';
  ip_address: string | null;
  evidence: { threshold: string; events: { at: string; what: string; source: string | null }[] };
}

interface Where {
  id: string;
  user_id: string;
  device_name: string;
}

/** The alert for a device's event; undefined for one that raises none. */
export function incidentOfEvent({ id, user_id, device_name }: Where, event: DeviceEvent, at: string): DeviceIncident | undefined {
  const where = `device:${id}`;
  switch (event.event) {
    case 'ssh_guessing':
      return {
        ...{ rule: 'device_ssh_guessing', key: `${where}:${event.address}`, user_id, at, threat_type: 'brute_force' },
        severity: event.blocked ? 'medium' : 'high',
        description: `Someone at ${event.address} tried to guess passwords on “${device_name}” by SSH.`,
        outcome: event.blocked ? 'blocked' : 'unknown',
        ip_address: event.address,
        evidence: {
          threshold: 'Failed sign-ins by SSH from one address within ten minutes',
          events: [
            {
              at,
              what: plural(event.failures, {
                one: 'Failed to sign in once',
                other: `Failed to sign in ${formatNumber(event.failures)} times`,
              }),
              source: event.address,
            },
          ],
        },
      };
    case 'tampered':
      return {
        ...{ rule: 'device_tampered', key: where, user_id, at, threat_type: 'intrusion_attempt', severity: 'high' },
        description: `Another program removed the firewall rules of “${device_name}”. They ${event.backed_off ? 'will be put back; it happens so often that the agent waits a while' : 'were put back'}.`,
        outcome: event.backed_off ? 'allowed' : 'blocked',
        ip_address: null,
        evidence: {
          threshold: 'One change of the agent’s table by another program is enough',
          events: [{ at, what: 'The table of the agent was changed', source: device_name }],
        },
      };
    case 'new_listening_port': {
      const { protocol, address, port, program } = event.listening;
      return {
        ...{
          rule: 'device_new_listening_port',
          key: `${where}:${protocol}:${port}`,
          user_id,
          at,
          threat_type: 'intrusion_attempt',
        },
        severity: 'low',
        description: `${program === null ? 'A program' : `The program “${program}”`} on “${device_name}” opened a new port: ${port} (${protocol.toUpperCase()}).`,
        outcome: 'unknown',
        ip_address: null,
        evidence: {
          threshold: 'A port that was closed before',
          events: [{ at, what: `Listens on ${address}, port ${port}`, source: device_name }],
        },
      };
    }
    case 'order_done':
    case 'session_changes':
      return undefined;
  }
}

/** The news of an infected file on a device. */
export function incidentOfFile({ id, user_id, device_name }: Where, file: Found): DeviceIncident {
  const kept = file.outcome === 'quarantined';
  return {
    ...{ rule: 'device_infected_file', key: `scan:device:${id}:${file.id}`, user_id, at: file.found_at },
    ...{ threat_type: 'malware_detected', severity: kept ? 'high' : 'critical', ip_address: null },
    description: `${file.threat} was found on “${device_name}” in ${file.path}. ${kept ? 'The file is in quarantine there.' : `The file is still where it was${file.reason === null ? '' : `: ${file.reason}`}.`}`,
    outcome: kept ? 'blocked' : 'allowed',
    evidence: {
      threshold: 'One file is enough.',
      events: [{ at: file.found_at, what: `${file.threat} in ${file.path}`, source: `sha256:${file.file_hash}` }],
    },
  };
}

/** The news that a device has not been heard for long. */
export function incidentOfSilence({ id, user_id, device_name }: Where, last_seen_at: string, at: string): DeviceIncident {
  return {
    ...{ rule: 'device_offline', key: `device:${id}:${last_seen_at}`, user_id, at, threat_type: 'device_offline' },
    severity: 'medium',
    description: `“${device_name}” has been offline for a week. If you no longer use it, revoke it.`,
    outcome: 'unknown',
    ip_address: null,
    evidence: {
      threshold: 'Agent offline for seven days',
      events: [{ at: last_seen_at, what: 'Was heard of for the last time', source: device_name }],
    },
  };
}
