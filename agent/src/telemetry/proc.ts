import {
  CONNECTIONS_MAXIMUM,
  LISTENING_MAXIMUM,
  type Listening,
  type LiveConnection,
  type Telemetry,
} from '@palisade/contract/agent';
import { type Family, type IpAddress, printIp } from '@palisade/contract/ip-address';
import { lineOf } from '#agent/line.ts';
import { kernelLink, kernelNames, kernelText } from '#files/kernel.ts';

/**
 * Reads what a Linux kernel says of the computer in /proc: no program is started for it, and no turn through the thread pool is taken, which would cost ten times what the
 * kernel needs to answer.
 */

const LISTENS = '0A';
const ESTABLISHED = '01';
/** A UDP socket that is bound and talks to nobody in particular. */
const UDP_UNCONNECTED = '07';
const PROGRAM_LENGTH = 100;
const MAPPED = 0xffffn;
/** Processes whose open files are looked through for the program behind a port. */
const PROCESSES_MAXIMUM = 5_000;
/** Open files of one process that are looked through: a process may have a million, and its person wants the agent to be busy with them. */
const FILES_MAXIMUM = 20_000;
/** Reads after which the tables of sockets are walked whatever the kernel's counts say. */
const WALK_EVERY = 10;
/** After so long of looking something else has its turn, in ms. */
const TURN_MS = 5;

/** A row of /proc/net/tcp and its brothers. */
interface SocketRow {
  local: IpAddress;
  local_port: number;
  remote: IpAddress;
  remote_port: number;
  state: string;
  inode: string;
}

/** An address as the kernel prints it: words of 32 bits in the byte order of the machine, which is little endian. */
function readHexAddress(hex: string): IpAddress {
  const words = hex.match(/.{8}/gu) ?? [];
  const bytes = words.map((word) => (word.match(/../gu) ?? []).toReversed().join('')).join('');
  const value = BigInt(`0x${bytes}`);
  if (words.length === 1) return { family: 4, value };
  // A socket of IPv6 that speaks IPv4.
  return value >> 32n === MAPPED ? { family: 4, value: value & 0xffffffffn } : { family: 6, value };
}

export function readSocketTable(text: string): SocketRow[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', remote = '', state = '', , , , , , inode = ''] = line.trim().split(/\s+/u);
    const [, local_ip, local_port] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/u.exec(local) ?? [];
    const [, remote_ip, remote_port] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/u.exec(remote) ?? [];
    if (local_ip === undefined || remote_ip === undefined) return [];
    return [
      {
        local: readHexAddress(local_ip),
        local_port: Number.parseInt(local_port ?? '0', 16),
        remote: readHexAddress(remote_ip),
        remote_port: Number.parseInt(remote_port ?? '0', 16),
        ...{ state, inode },
      },
    ];
  });
}

/** A connection as its first packet went. */
export interface OpenConnection {
  from: { address: IpAddress; port: number };
  to: { address: IpAddress; port: number };
}

export interface Proc {
  read(): Promise<Telemetry>;
  /** What listens now, loopback apart. */
  listening(): Promise<Listening[]>;
  /** TCP connections that are open now, each with the side that opened it first. */
  connections(): OpenConnection[];
}

interface Sockets {
  listening: Listening[];
  connections: LiveConnection[];
}

interface Totals {
  at: number;
  busy: number;
  all: number;
  received: number;
  sent: number;
}

const LOOPBACK: Record<Family, (value: bigint) => boolean> = {
  4: (value) => value >> 24n === 127n,
  6: (value) => value === 1n,
};
const isLoopback = ({ family, value }: IpAddress) => LOOPBACK[family](value);

/** @param root `/proc`, or a folder in its shape */
export function createProc(root = '/proc', sys = '/sys'): Proc {
  const text = (path: string) => kernelText(`${root}/${path}`);
  /** Programs by the inode of their socket, found once. */
  let programs = new Map<string, { pid: string; name: string }>();
  let before: Totals | undefined;
  /** What was found by walking the tables, the counts that the kernel had then, and how often it was answered. */
  let walked: { counts: string; found: Sockets; answers: number } | undefined;

  function totals(): Totals {
    const [stat, net] = [text('stat'), text('net/dev')];
    const times = (/^cpu +(.*)$/mu.exec(stat)?.[1] ?? '').split(/\s+/u).map(Number);
    const all = times.slice(0, 8).reduce((sum, time) => sum + time, 0);
    const idle = (times[3] ?? 0) + (times[4] ?? 0);
    let received = 0;
    let sent = 0;
    for (const line of net.split('\n')) {
      const [, name = 'lo', rest = ''] = /^\s*([^:]+):\s*(.*)$/u.exec(line) ?? [];
      if (name === 'lo') continue;
      const numbers = rest.split(/\s+/u).map(Number);
      received += numbers[0] ?? 0;
      sent += numbers[8] ?? 0;
    }
    return { at: performance.now(), busy: all - idle, all, received, sent };
  }

  const table = (name: 'tcp' | 'udp') => [`net/${name}`, `net/${name}6`].flatMap((path) => readSocketTable(text(path)));

  /** Looks through the open files of processes only where a socket is new: first of those that had one before, who are the likeliest to have another. */
  async function nameOf(inodes: readonly string[]): Promise<void> {
    const wanted = new Set(inodes.filter((inode) => !programs.has(inode) && inode !== '0'));
    const owners = new Set([...programs.values()].map(({ pid }) => pid));
    programs = new Map([...programs].filter(([inode]) => inodes.includes(inode)));
    if (wanted.size === 0) return;
    const pids = kernelNames(root).filter((name) => /^\d+$/u.test(name));
    const [first, others] = [pids.filter((pid) => owners.has(pid)), pids.filter((pid) => !owners.has(pid))];
    let since = performance.now();
    for (const pid of [...first, ...others].slice(0, PROCESSES_MAXIMUM)) {
      for (const file of kernelNames(`${root}/${pid}/fd`, FILES_MAXIMUM)) {
        if (performance.now() - since > TURN_MS) {
          await new Promise((resolve) => setImmediate(resolve));
          since = performance.now();
        }
        const link = kernelLink(`${root}/${pid}/fd/${file}`);
        const inode = link.startsWith('socket:[') ? link.slice('socket:['.length, -1) : '';
        if (!wanted.delete(inode)) continue;
        programs.set(inode, { pid, name: lineOf(text(`${pid}/comm`).trim(), PROGRAM_LENGTH) });
      }
      if (wanted.size === 0) return;
    }
    // Of another user, or gone: not looked for again.
    for (const inode of wanted) programs.set(inode, { pid: '', name: '' });
  }

  function networkCapacity(): number | null {
    const speeds = kernelNames(`${sys}/class/net`)
      .filter((name) => name !== 'lo')
      .map((name) => Number(kernelText(`${sys}/class/net/${name}/speed`)));
    const megabits = speeds.filter((speed) => speed > 0).reduce((sum, speed) => sum + speed, 0);
    return megabits === 0 ? null : (megabits * 1_000_000) / 8;
  }

  const isOpen = (protocol: 'tcp' | 'udp', row: SocketRow) =>
    protocol === 'tcp' ? row.state === LISTENS : row.state === UDP_UNCONNECTED && row.remote_port === 0;

  async function sockets(): Promise<Sockets> {
    const [tcp, udp] = [table('tcp'), table('udp')];
    const open = [
      ...tcp.filter((row) => isOpen('tcp', row)).map((row) => ({ protocol: 'tcp' as const, row })),
      ...udp.filter((row) => isOpen('udp', row)).map((row) => ({ protocol: 'udp' as const, row })),
    ].filter(({ row }) => !isLoopback(row.local));
    const live = tcp.filter((row) => row.state === ESTABLISHED && !isLoopback(row.local) && !isLoopback(row.remote));
    await nameOf([...open.map(({ row }) => row.inode), ...live.map(({ inode }) => inode)]);
    const programOf = (inode: string) => programs.get(inode)?.name || null;
    const ports = new Set(tcp.filter((row) => row.state === LISTENS).map(({ local_port }) => local_port));
    return {
      listening: open.slice(0, LISTENING_MAXIMUM).map(({ protocol, row }) => ({
        ...{ protocol, address: printIp(row.local), port: row.local_port, program: programOf(row.inode) },
      })),
      connections: live.slice(0, CONNECTIONS_MAXIMUM).map((row) => {
        const is_inbound = ports.has(row.local_port);
        return {
          direction: is_inbound ? 'inbound' : 'outbound',
          protocol: 'tcp',
          local: printIp(row.local),
          remote: printIp(row.remote),
          port: is_inbound ? row.local_port : row.remote_port,
          program: programOf(row.inode),
        };
      }),
    };
  }

  /**
   * Counts that change with a connection that opens or ends and with a socket that listens or is closed; empty where the kernel does not say them. The kernel answers them at
   * once; for the tables it walks through all that it has room for, 5 ms for each on a computer of 24 GB.
   */
  function socketCounts(): string {
    const [names = [], values = []] = text('net/snmp')
      .split('\n')
      .filter((line) => line.startsWith('Tcp: '))
      .map((line) => line.split(' '));
    const opened = ['ActiveOpens', 'PassiveOpens', 'CurrEstab'].map((name) => values[names.indexOf(name)] ?? '');
    const used = `${text('net/sockstat')}\n${text('net/sockstat6')}`.match(/^(?:TCP|UDP)6?: inuse \d+/gmu);
    return opened.includes('') || used === null ? '' : [...opened, ...used].join();
  }

  /** What `sockets` finds; as it was found last, where nothing has opened or ended since. */
  async function socketsNow(): Promise<Sockets> {
    // Before the tables: what opens meanwhile is a change for the next time.
    const counts = socketCounts();
    if (walked === undefined || counts === '' || walked.counts !== counts || walked.answers >= WALK_EVERY)
      walked = { counts, found: await sockets(), answers: 0 };
    walked.answers += 1;
    return walked.found;
  }

  return {
    listening: async () => (await sockets()).listening,
    connections() {
      const tcp = table('tcp');
      const ports = new Set(tcp.filter((row) => row.state === LISTENS).map(({ local_port }) => local_port));
      return tcp
        .filter((row) => row.state === ESTABLISHED && !isLoopback(row.local) && !isLoopback(row.remote))
        .map((row) => {
          const here = { address: row.local, port: row.local_port };
          const there = { address: row.remote, port: row.remote_port };
          return ports.has(row.local_port) ? { from: there, to: here } : { from: here, to: there };
        });
    },
    async read() {
      const { listening, connections } = await socketsNow();
      const [now, meminfo, uptime] = [totals(), text('meminfo'), text('uptime')];
      const sizes = new Map(
        meminfo.split('\n').map((line) => [line.split(':')[0], Number.parseInt(line.split(':')[1] ?? '', 10)]),
      );
      const kilobytes = (name: string) => sizes.get(name) || 0;
      const memory = kilobytes('MemTotal');
      const percent = (part: number, whole: number) => (whole > 0 ? Math.min(100, Math.max(0, (part / whole) * 100)) : 0);
      const seconds = before === undefined ? 0 : (now.at - before.at) / 1_000;
      const rate = (is: number, was: number | undefined) =>
        was === undefined || seconds <= 0 ? 0 : Math.max(0, Math.round((is - was) / seconds));
      const network_in = rate(now.received, before?.received);
      const network_out = rate(now.sent, before?.sent);
      // The first time there is nothing to compare with: the time since the computer started is taken.
      const cpu_percent = percent(now.busy - (before?.busy ?? 0), now.all - (before?.all ?? 0));
      before = now;
      const capacity = networkCapacity();
      return {
        cpu_percent,
        memory_percent: percent(memory - kilobytes('MemAvailable'), memory),
        memory_bytes: memory * 1_024,
        network_in,
        network_out,
        network_percent: capacity === null ? null : percent(Math.max(network_in, network_out), capacity),
        uptime_s: Math.floor(Number(uptime.split(' ')[0] ?? 0)) || 0,
        listening,
        connections,
      };
    },
  };
}
