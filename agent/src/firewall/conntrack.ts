import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TrafficProtocol } from '@palisade/contract/firewall-shapes';
import { type IpAddress, parseIp, printIp } from '@palisade/contract/ip-address';
import { runProgram } from './nft.ts';

/** A connection that the kernel tracks, in the direction of its first packet. */
export interface Flow {
  protocol: TrafficProtocol;
  source: IpAddress;
  destination: IpAddress;
  source_port: number | null;
  port: number | null;
  icmp: { type: string; code: string; id: string } | null;
}

/** The kernel's connection tracking table, accessed with the `conntrack` program. */
export interface Conntrack {
  list(): Promise<Flow[]>;
  /** Deletes entries from the table, so that the rules judge the next packet again. A missing entry is not an error. */
  forget(flows: readonly Flow[]): Promise<void>;
}

const FIELD = /\b(src|dst|sport|dport|type|code|id)=(\S+)/gu;
/** Maximum entries that are deleted one by one after the deletion by list has failed. */
const ONE_BY_ONE_MAXIMUM = 500;

function protocolOf(name: string): TrafficProtocol {
  if (name === 'tcp' || name === 'udp') return name;
  return name === 'icmp' || name === 'icmpv6' ? 'icmp' : 'other';
}

/** Parses a line of `conntrack -L -o extended`. Of fields that occur twice, the first describes the original direction. */
export function readFlow(line: string): Flow | undefined {
  const name = /^\s*\S+\s+\d+\s+(\S+)\s+\d+/u.exec(line)?.[1];
  const fields = new Map<string, string>();
  for (const [, key = '', value = ''] of line.matchAll(FIELD)) if (!fields.has(key)) fields.set(key, value);
  const source = parseIp(fields.get('src') ?? '');
  const destination = parseIp(fields.get('dst') ?? '');
  if (name === undefined || source === undefined || destination === undefined) return undefined;
  const numberOf = (key: string) => (fields.has(key) ? Number(fields.get(key)) : null);
  const [type, code, id] = [fields.get('type'), fields.get('code'), fields.get('id')];
  return {
    protocol: protocolOf(name),
    source,
    destination,
    source_port: numberOf('sport'),
    port: numberOf('dport'),
    icmp: type === undefined || code === undefined || id === undefined ? null : { type, code, id },
  };
}

/** The arguments that delete one flow; undefined for a protocol that the program cannot address. */
function deletionOf({ protocol, source, destination, source_port, port, icmp }: Flow): string[] | undefined {
  const common = ['-D', '-f', source.family === 4 ? 'ipv4' : 'ipv6', '-s', printIp(source), '-d', printIp(destination)];
  if ((protocol === 'tcp' || protocol === 'udp') && source_port !== null && port !== null) {
    return [...common, '-p', protocol, '--sport', `${source_port}`, '--dport', `${port}`];
  }
  if (protocol !== 'icmp' || icmp === null || !/^\d+ \d+ \d+$/u.test(`${icmp.type} ${icmp.code} ${icmp.id}`)) return undefined;
  return [
    ...[...common, '-p', source.family === 4 ? 'icmp' : 'icmpv6'],
    ...['--icmp-type', icmp.type, '--icmp-code', icmp.code, '--icmp-id', icmp.id],
  ];
}

/**
 * @param command the program and its leading arguments
 * @param folder for temporary lists of deletions
 */
export function createConntrack(command: readonly string[], folder: string): Conntrack {
  /** Runs all command lines in order, even if one fails, because a connection may have ended in the meantime. */
  async function all(lines: readonly (readonly string[])[]): Promise<void> {
    let rest = lines;
    // The program stops at the first failing line of a list and does not name it, so all lines are then run one by one.
    if (lines.length > 1) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${randomBytes(8).toString('hex')}.flows`);
      try {
        await writeFile(path, lines.map((args) => `${args.join(' ')}\n`).join(''), { mode: 0o600, flag: 'wx' });
        if ((await runProgram(command, ['-R', path])).code === 0) rest = [];
      } finally {
        await rm(path, { force: true });
      }
    }
    for (const args of rest.slice(0, ONE_BY_ONE_MAXIMUM)) await runProgram(command, args);
  }

  return {
    async list() {
      const lists = await Promise.all(
        ['ipv4', 'ipv6'].map((family) => runProgram(command, ['-L', '-f', family, '-o', 'extended'])),
      );
      return lists.flatMap(({ stdout }) => stdout.split('\n').flatMap((line) => readFlow(line) ?? []));
    },
    async forget(flows) {
      const deletions = flows.flatMap((flow) => {
        const args = deletionOf(flow);
        return args === undefined ? [] : [args];
      });
      await all(deletions);
    },
  };
}

/** Whether the program is installed and works with this kernel. */
export async function hasConntrack(command: readonly string[]): Promise<boolean> {
  return await runProgram(command, ['-L', '-f', 'ipv4']).then(
    ({ code }) => code === 0,
    () => false,
  );
}
