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
 * Reads data of the Linux kernel from /proc with synchronous calls: starting a program or using the thread pool would cost at least ten times the
 * kernel's own answer.
 */

const LISTENS = '0A';
const ESTABLISHED = '01';
/** State of a UDP socket that is bound but not connected. */
const UDP_UNCONNECTED = '07';
const PROGRAM_LENGTH = 100;
const MAPPED = 0xffffn;
/** Maximum processes whose open files are searched for the owner of a socket. */
const PROCESSES_MAXIMUM = 5_000;
/** Maximum open files of one process that are searched, because an attacker may open a million to keep the agent busy. */
const FILES_MAXIMUM = 20_000;
/** The socket tables are read at least once per this many calls, even if the kernel's counts are unchanged. */
const WALK_EVERY = 10;
/** The search yields to the event loop after this time, in ms. */
const TURN_MS = 5;

/** A row of /proc/net/tcp, tcp6, udp or udp6. */
interface SocketRow {
  local: IpAddress;
  local_port: number;
  remote: IpAddress;
  remote_port: number;
  state: string;
  inode: string;
}

/** Parses an address as the kernel prints it: 32-bit words in the machine's byte order, which is little endian. */
function readHexAddress(hex: string): IpAddress {
  const words = hex.match(/.{8}/gu) ?? [];
  const bytes = words.map((word) => (word.match(/../gu) ?? []).toReversed().join('')).join('');
  const value = BigInt(`0x${bytes}`);
  if (words.length === 1) return { family: 4, value };
  // An IPv4-mapped IPv6 address.
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
        state,
        inode,
      },
    ];
  });
}

/** A connection in the direction of its first packet. */
export interface OpenConnection {
  from: { address: IpAddress; port: number };
  to: { address: IpAddress; port: number };
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

type Protocol = 'tcp' | 'udp';

const isListening = (row: SocketRow) => row.state === LISTENS;
const isOpen = (protocol: Protocol, row: SocketRow) =>
  protocol === 'tcp' ? isListening(row) : row.state === UDP_UNCONNECTED && row.remote_port === 0;
const isLive = (row: SocketRow) => row.state === ESTABLISHED && !isLoopback(row.local) && !isLoopback(row.remote);
/** Ports on which programs listen. A connection to such a local port is inbound. */
const listeningPorts = (tcp: readonly SocketRow[]) => new Set(tcp.filter(isListening).map(({ local_port }) => local_port));
const percentOf = (part: number, whole: number) => (whole > 0 ? Math.min(100, Math.max(0, (part / whole) * 100)) : 0);

/** Total and available memory from /proc/meminfo, in kB; 0 for a missing value. */
function readMemory(meminfo: string): { total: number; available: number } {
  const sizes = new Map(meminfo.split('\n').map((line) => [line.split(':')[0], Number.parseInt(line.split(':')[1] ?? '', 10)]));
  return { total: sizes.get('MemTotal') || 0, available: sizes.get('MemAvailable') || 0 };
}

/** CPU time from /proc/stat and bytes from /proc/net/dev without loopback. */
function readTotals(stat: string, net: string): Totals {
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

/** Load between two readings. Without an earlier reading, the CPU load is the average since boot. */
function loadBetween(now: Totals, before: Totals | undefined): Pick<Telemetry, 'cpu_percent' | 'network_in' | 'network_out'> {
  const seconds = before === undefined ? 0 : (now.at - before.at) / 1_000;
  const rate = (is: number, was: number | undefined) =>
    was === undefined || seconds <= 0 ? 0 : Math.max(0, Math.round((is - was) / seconds));
  return {
    cpu_percent: percentOf(now.busy - (before?.busy ?? 0), now.all - (before?.all ?? 0)),
    network_in: rate(now.received, before?.received),
    network_out: rate(now.sent, before?.sent),
  };
}

/** Finds the programs that own sockets. Each socket is searched once. */
class SocketPrograms {
  readonly #root: string;
  /** Programs by socket inode. */
  #programs = new Map<string, { pid: string; name: string }>();

  constructor(root: string) {
    this.#root = root;
  }

  nameOf(inode: string): string | null {
    return this.#programs.get(inode)?.name || null;
  }

  /** Searches the open files of processes for new sockets. Processes with a known socket come first, because they most often own the new one. */
  async find(inodes: readonly string[]): Promise<void> {
    const wanted = new Set(inodes.filter((inode) => !this.#programs.has(inode) && inode !== '0'));
    const owners = new Set([...this.#programs.values()].map(({ pid }) => pid));
    this.#programs = new Map([...this.#programs].filter(([inode]) => inodes.includes(inode)));
    if (wanted.size === 0) return;
    const pids = kernelNames(this.#root).filter((name) => /^\d+$/u.test(name));
    const [first, others] = [pids.filter((pid) => owners.has(pid)), pids.filter((pid) => !owners.has(pid))];
    let since = performance.now();
    for (const pid of [...first, ...others].slice(0, PROCESSES_MAXIMUM)) {
      for (const file of kernelNames(`${this.#root}/${pid}/fd`, FILES_MAXIMUM)) {
        if (performance.now() - since > TURN_MS) {
          await new Promise((resolve) => setImmediate(resolve));
          since = performance.now();
        }
        const link = kernelLink(`${this.#root}/${pid}/fd/${file}`);
        const inode = link.startsWith('socket:[') ? link.slice('socket:['.length, -1) : '';
        if (!wanted.delete(inode)) continue;
        const name = lineOf(kernelText(`${this.#root}/${pid}/comm`).trim(), PROGRAM_LENGTH);
        this.#programs.set(inode, { pid, name });
      }
      if (wanted.size === 0) return;
    }
    // The process cannot be inspected or has ended. The socket is not searched again.
    for (const inode of wanted) this.#programs.set(inode, { pid: '', name: '' });
  }
}

/** Reads telemetry from /proc and /sys. */
export class Proc {
  readonly #root: string;
  readonly #sys: string;
  readonly #programs: SocketPrograms;
  #totals: Totals | undefined;
  /** The last read of the socket tables, the kernel's counts at that time, and the number of calls answered from it. */
  #walk: { counts: string; found: Sockets; answers: number } | undefined;

  /** @param root `/proc`, or a folder with the same structure */
  constructor(root = '/proc', sys = '/sys') {
    this.#root = root;
    this.#sys = sys;
    this.#programs = new SocketPrograms(root);
  }

  async read(): Promise<Telemetry> {
    const { listening, connections } = await this.#recentSockets();
    const now = readTotals(this.#text('stat'), this.#text('net/dev'));
    const memory = readMemory(this.#text('meminfo'));
    const uptime = this.#text('uptime');
    const load = loadBetween(now, this.#totals);
    this.#totals = now;
    const capacity = this.#networkCapacity();
    return {
      cpu_percent: load.cpu_percent,
      memory_percent: percentOf(memory.total - memory.available, memory.total),
      memory_bytes: memory.total * 1_024,
      network_in: load.network_in,
      network_out: load.network_out,
      network_percent: capacity === null ? null : percentOf(Math.max(load.network_in, load.network_out), capacity),
      uptime_s: Math.floor(Number(uptime.split(' ')[0] ?? 0)) || 0,
      listening,
      connections,
    };
  }

  /** Open ports without those on loopback. */
  async listening(): Promise<Listening[]> {
    return (await this.#sockets()).listening;
  }

  /** Open TCP connections, each with the side that opened it first. */
  connections(): OpenConnection[] {
    const tcp = this.#table('tcp');
    const ports = listeningPorts(tcp);
    return tcp.filter(isLive).map((row) => {
      const here = { address: row.local, port: row.local_port };
      const there = { address: row.remote, port: row.remote_port };
      return ports.has(row.local_port) ? { from: there, to: here } : { from: here, to: there };
    });
  }

  #text(path: string): string {
    return kernelText(`${this.#root}/${path}`);
  }

  #table(protocol: Protocol): SocketRow[] {
    return [`net/${protocol}`, `net/${protocol}6`].flatMap((path) => readSocketTable(this.#text(path)));
  }

  /** Combined speed of the network interfaces in bytes per second; null if none reports a speed. */
  #networkCapacity(): number | null {
    const speeds = kernelNames(`${this.#sys}/class/net`)
      .filter((name) => name !== 'lo')
      .map((name) => Number(kernelText(`${this.#sys}/class/net/${name}/speed`)));
    const megabits = speeds.filter((speed) => speed > 0).reduce((sum, speed) => sum + speed, 0);
    return megabits === 0 ? null : (megabits * 1_000_000) / 8;
  }

  /** Reads the socket tables. */
  async #sockets(): Promise<Sockets> {
    const [tcp, udp] = [this.#table('tcp'), this.#table('udp')];
    const open = [
      ...tcp.filter((row) => isOpen('tcp', row)).map((row) => ({ protocol: 'tcp' as const, row })),
      ...udp.filter((row) => isOpen('udp', row)).map((row) => ({ protocol: 'udp' as const, row })),
    ].filter(({ row }) => !isLoopback(row.local));
    const live = tcp.filter(isLive);
    await this.#programs.find([...open.map(({ row }) => row.inode), ...live.map(({ inode }) => inode)]);
    const ports = listeningPorts(tcp);
    return {
      listening: open.slice(0, LISTENING_MAXIMUM).map(({ protocol, row }) => ({
        protocol,
        address: printIp(row.local),
        port: row.local_port,
        program: this.#programs.nameOf(row.inode),
      })),
      connections: live.slice(0, CONNECTIONS_MAXIMUM).map((row) => {
        const is_inbound = ports.has(row.local_port);
        return {
          direction: is_inbound ? 'inbound' : 'outbound',
          protocol: 'tcp',
          local: printIp(row.local),
          remote: printIp(row.remote),
          port: is_inbound ? row.local_port : row.remote_port,
          program: this.#programs.nameOf(row.inode),
        };
      }),
    };
  }

  /** The sockets of the last read if the kernel's counts are unchanged; otherwise of a new read. */
  async #recentSockets(): Promise<Sockets> {
    // The counts are read before the tables, so that a socket opened in between counts as a change at the next call.
    const counts = this.#socketCounts();
    const walk = this.#walk;
    const recent =
      walk === undefined || counts === '' || walk.counts !== counts || walk.answers >= WALK_EVERY
        ? { counts, found: await this.#sockets(), answers: 0 }
        : walk;
    this.#walk = recent;
    recent.answers += 1;
    return recent.found;
  }

  /**
   * Counts that change when a connection opens or ends and when a socket starts or stops listening; empty if the kernel does not provide them. Reading them is
   * fast; for each socket table the kernel walks its whole hash table, which takes 5 ms on a computer with 24 GB.
   */
  #socketCounts(): string {
    const [names = [], values = []] = this.#text('net/snmp')
      .split('\n')
      .filter((line) => line.startsWith('Tcp: '))
      .map((line) => line.split(' '));
    const opened = ['ActiveOpens', 'PassiveOpens', 'CurrEstab'].map((name) => values[names.indexOf(name)] ?? '');
    const used = `${this.#text('net/sockstat')}\n${this.#text('net/sockstat6')}`.match(/^(?:TCP|UDP)6?: inuse \d+/gmu);
    return opened.includes('') || used === null ? '' : [...opened, ...used].join();
  }
}
