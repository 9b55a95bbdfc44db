import type { DeviceEvent, Found } from '@palisade/contract/agent';
import { type AlertPhrase, alertPhrase } from '@palisade/contract/alert-phrases';
import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import type { DeviceAlert } from '@palisade/contract/devices';

/** The part of an alert that comes from a device's report; the code that raises alerts adds the rest. */
export interface DeviceIncident {
  rule: DeviceAlert;
  key: string;
  user_id: string;
  threat_type: 'brute_force' | 'intrusion_attempt' | 'malware_detected' | 'device_offline';
  severity: 'low' | 'medium' | 'high' | 'critical';
  phrase: AlertPhrase;
  /** ISO time. */
  at: string;
  outcome: 'blocked' | 'allowed' | 'unknown';
  ip_address: string | null;
  evidence: { threshold: AlertPhrase; events: { at: string; what: AlertPhrase; source: string | null }[] };
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
        phrase: alertPhrase('device.ssh_guessing', { address: event.address, device: device_name }),
        outcome: event.blocked ? 'blocked' : 'unknown',
        ip_address: event.address,
        evidence: {
          threshold: alertPhrase('threshold.device.ssh_guessing', {}),
          events: [{ at, what: alertPhrase('event.device.failed_sign_ins', { count: event.failures }), source: event.address }],
        },
      };
    case 'tampered':
      return {
        ...{ rule: 'device_tampered', key: where, user_id, at, threat_type: 'intrusion_attempt', severity: 'high' },
        phrase: alertPhrase(event.backed_off ? 'device.tampered.often' : 'device.tampered', { device: device_name }),
        outcome: event.backed_off ? 'allowed' : 'blocked',
        ip_address: null,
        evidence: {
          threshold: alertPhrase('threshold.device.tampered', {}),
          events: [{ at, what: alertPhrase('event.device.tampered', {}), source: device_name }],
        },
      };
    case 'new_listening_port': {
      const { protocol, address, port, program } = event.listening;
      const opened = { device: device_name, port, protocol: protocol.toUpperCase() };
      return {
        ...{
          rule: 'device_new_listening_port',
          key: `${where}:${protocol}:${port}`,
          user_id,
          at,
          threat_type: 'intrusion_attempt',
        },
        severity: 'low',
        phrase:
          program === null
            ? alertPhrase('device.new_port', opened)
            : alertPhrase('device.new_port.program', { ...opened, program }),
        outcome: 'unknown',
        ip_address: null,
        evidence: {
          threshold: alertPhrase('threshold.device.new_port', {}),
          events: [{ at, what: alertPhrase('event.device.listens', { address, port }), source: device_name }],
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
  const { threat, path, reason } = file;
  const found = { threat, device: device_name, path };
  return {
    ...{ rule: 'device_infected_file', key: `scan:device:${id}:${file.id}`, user_id, at: file.found_at },
    ...{ threat_type: 'malware_detected', ip_address: null },
    // The industry's harmless test files are low wherever they are.
    severity: TEST_FILE_THREATS.includes(threat) ? 'low' : kept ? 'high' : 'critical',
    phrase: kept
      ? alertPhrase('device.infected_file.quarantined', found)
      : reason === null
        ? alertPhrase('device.infected_file.left', found)
        : alertPhrase('device.infected_file.left.reason', { ...found, reason }),
    outcome: kept ? 'blocked' : 'allowed',
    evidence: {
      threshold: alertPhrase('threshold.device.infected_file', {}),
      events: [
        {
          at: file.found_at,
          what: alertPhrase('event.threat', { threat, filename: path }),
          source: `sha256:${file.file_hash}`,
        },
      ],
    },
  };
}

/** The news that a device has not been heard for long. */
export function incidentOfSilence({ id, user_id, device_name }: Where, last_seen_at: string, at: string): DeviceIncident {
  return {
    ...{ rule: 'device_offline', key: `device:${id}:${last_seen_at}`, user_id, at, threat_type: 'device_offline' },
    severity: 'medium',
    phrase: alertPhrase('device.offline', { device: device_name }),
    outcome: 'unknown',
    ip_address: null,
    evidence: {
      threshold: alertPhrase('threshold.device.offline', {}),
      events: [{ at: last_seen_at, what: alertPhrase('event.device.last_heard', {}), source: device_name }],
    },
  };
}
