import type { LiveConnection } from '@palisade/contract/agent';
import type { Device } from '@palisade/contract/devices';
import type { Rule } from '@palisade/contract/firewall';
import { cutConnections } from '@palisade/contract/firewall-analysis';
import { reachOf } from '@palisade/contract/firewall-shapes';
import { formatNumber, listFirst, plural } from '@palisade/contract/intl';
import { parseIp } from '@palisade/contract/ip-address';

/** Open connections of one device that a change of the rules would block. */
interface Cut {
  device_name: string;
  connections: LiveConnection[];
}

function rulesetOf(rules: readonly Rule[], { id, defaults }: Device) {
  const reaches = ({ device_ids }: Rule) => device_ids.length === 0 || device_ids.includes(id);
  return { rules: rules.filter((rule) => rule.enabled && reaches(rule)).map(reachOf), defaults, block_list: [], control: [] };
}

/** A connection as input of a ruleset; none if its addresses have different families. */
function trafficOf(connection: LiveConnection) {
  const { direction, protocol, local, remote, port } = connection;
  const [here, there] = [parseIp(local), parseIp(remote)];
  if (here === undefined || there === undefined || here.family !== there.family) return [];
  const [source, destination] = direction === 'inbound' ? [there, here] : [here, there];
  return [{ direction, protocol, source, destination, port, live: connection }];
}

/** Open connections, by the last report of each device, that `after` would block. */
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

/** Number of programs or addresses that the sentence names. */
const NAMED = 3;

/** Describes the blocked connections, and mentions an SSH session, which may be the person's own. */
export function describeCut({ device_name, connections }: Cut): string {
  const others = [...new Set(connections.map(({ program, remote }) => program ?? remote))];
  const named = listFirst(others, NAMED);
  const sentence = plural(connections.length, {
    one: `Disconnects 1 live connection on “${device_name}” (${named}).`,
    other: `Disconnects ${formatNumber(connections.length)} live connections on “${device_name}” (${named}).`,
  });
  return connections.some(isSsh) ? `${sentence} One is an SSH session.` : sentence;
}
