import type { LiveConnection } from '@palisade/contract/agent';
import type { Device } from '@palisade/contract/devices';
import type { Rule } from '@palisade/contract/firewall';
import { cutConnections } from '@palisade/contract/firewall-analysis';
import { parseIp } from '@palisade/contract/ip-address';
import { listNames } from '#ui/names.ts';

/** Connections of one device that pass now and would not any more. */
interface Cut {
  device_name: string;
  connections: LiveConnection[];
}

function rulesetOf(rules: readonly Rule[], { id, defaults }: Device) {
  const reaches = ({ device_ids }: Rule) => device_ids.length === 0 || device_ids.includes(id);
  return { rules: rules.filter((rule) => rule.enabled && reaches(rule)), defaults, block_list: [], control: [] };
}

/** A connection as a judge takes it; none where its addresses are of two families. */
function trafficOf(connection: LiveConnection) {
  const { direction, protocol, local, remote, port } = connection;
  const [here, there] = [parseIp(local), parseIp(remote)];
  if (here === undefined || there === undefined || here.family !== there.family) return [];
  const [source, destination] = direction === 'inbound' ? [there, here] : [here, there];
  return [{ direction, protocol, source, destination, port, live: connection }];
}

/** Connections of devices by their last report that `after` would cut. */
export function cutsOf(before: readonly Rule[], after: readonly Rule[], devices: readonly Device[]): Cut[] {
  return devices.flatMap((device) => {
    const open = device.telemetry?.connections.flatMap(trafficOf) ?? [];
    if (open.length === 0 || device.capabilities?.firewall !== 'nftables') return [];
    const blocked = new Set(cutConnections(rulesetOf(before, device), open).map(({ connection }) => connection.live));
    const connections = cutConnections(rulesetOf(after, device), open).flatMap(({ connection: { live } }) =>
      blocked.has(live) ? [] : [live],
    );
    return connections.length === 0 ? [] : [{ device_name: device.device_name, connections }];
  });
}

const SSH = 22;
const isSsh = ({ direction, port, program }: LiveConnection) =>
  direction === 'inbound' && (port === SSH || program?.startsWith('sshd') === true);

/** The same in a sentence: what is cut, and whether that is how somebody sits at the computer now. */
export function describeCut({ device_name, connections }: Cut): string {
  const count = connections.length === 1 ? '1 live connection' : `${connections.length} live connections`;
  const others = [...new Set(connections.map(({ program, remote }) => program ?? remote))];
  const named = listNames(others.length > 3 ? [...others.slice(0, 3), `${others.length - 3} more`] : others);
  const ssh = connections.some(isSsh) ? ' One is an SSH session.' : '';
  return `Disconnects ${count} on “${device_name}” (${named}).${ssh}`;
}
