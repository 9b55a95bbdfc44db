import { VERSION } from '@palisade/contract/constants';
import type { Device } from '@palisade/contract/devices';
import { describeAge } from '#ui/moment.tsx';
import { healthProblems } from './device-health.ts';

/** A problem of a device, as a sentence, and its fix. */
export interface Problem {
  is_danger: boolean;
  sentence: string;
  /** A link within the application, a scan, or a command for the device's terminal. */
  fix?: { to: string; label: string } | { scan: 'full' } | { command: string };
}

const RESTART = 'sudo systemctl restart palisade-agent';

function connectionProblems({ state, last_seen_at, health }: Device, now: number): Problem[] {
  if (state === 'offline')
    return [
      {
        is_danger: false,
        sentence: `It last reported ${last_seen_at === null ? 'before it was added' : describeAge(last_seen_at, now)}. Turn it on and connect it to the internet. If it is on, restart its agent.`,
        fix: { command: RESTART },
      },
    ];
  if (state === 'stalled')
    return healthProblems({ state, health }).map((sentence) => ({ is_danger: true, sentence, fix: { command: RESTART } }));
  return [];
}

/** The rules that the device refused, each with the reason; the whole set if it names none. */
function ruleProblems(
  { enforcement: { state, errors }, capabilities }: Device,
  ruleNames: ReadonlyMap<string, string>,
): Problem[] {
  if (capabilities?.firewall === 'unavailable') {
    const why = capabilities.firewall_reason;
    return [{ is_danger: true, sentence: why === null ? 'This device can’t apply rules.' : `It can’t apply rules. ${why}` }];
  }
  if (errors.length === 0 && state !== 'rejected' && state !== 'rolled_back') return [];
  const whole = { is_danger: true, fix: { to: '/firewall', label: 'Open your rules' } } as const;
  if (errors.length === 0) return [{ ...whole, sentence: 'It couldn’t apply your latest rules. The previous ones apply.' }];
  return errors.map(({ rule_id, message }) => {
    if (rule_id === null) return { ...whole, sentence: `It couldn’t apply your rules. ${message}` };
    const name = ruleNames.get(rule_id);
    if (name === undefined) return { ...whole, sentence: `A deleted rule: ${message}` };
    return {
      is_danger: true,
      sentence: `“${name}”: ${message}`,
      fix: { to: `/firewall?rule=${rule_id}`, label: 'Open the rule' },
    };
  });
}

function upkeepProblems(device: Device): Problem[] {
  const updates = device.posture.find(({ check, state }) => check === 'security_updates' && state === 'fail');
  return [
    ...(device.state === 'online'
      ? healthProblems(device).map((sentence): Problem => {
          const problem = { is_danger: true, sentence };
          return sentence.includes('full scan') ? { ...problem, fix: { scan: 'full' } } : problem;
        })
      : []),
    ...(updates ? [{ is_danger: false, sentence: `${updates.evidence} Install them on the device.` }] : []),
    ...(device.capabilities !== null && device.agent_version !== VERSION
      ? [
          {
            is_danger: false,
            sentence: `Its agent has version ${device.agent_version}, this server ${VERSION}. To update it, run the install command there again.`,
            fix: { to: '/devices?add=linux', label: 'Update the agent' },
          },
        ]
      : []),
  ];
}

/** All problems of a device, the most serious first. `now` is in ms. */
export function problemsOf(device: Device, ruleNames: ReadonlyMap<string, string>, now: number): Problem[] {
  if (device.state === 'revoked' || device.state === 'waiting') return [];
  const all = [...connectionProblems(device, now), ...ruleProblems(device, ruleNames), ...upkeepProblems(device)];
  return all.toSorted((one, other) => Number(other.is_danger) - Number(one.is_danger));
}

/** Sorts devices by how urgently they need the person; otherwise the order stays. */
export function byNeed(devices: readonly Device[], now: number): Device[] {
  const weightOf = (device: Device) => {
    if (device.state === 'waiting') return 0;
    if (device.state === 'revoked') return 4;
    const [worst] = problemsOf(device, new Map(), now);
    return worst === undefined ? 3 : worst.is_danger ? 1 : 2;
  };
  return devices.toSorted((one, other) => weightOf(one) - weightOf(other));
}
