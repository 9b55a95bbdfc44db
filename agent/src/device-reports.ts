import { join } from 'node:path';
import { BLOCKED_MAXIMUM, type DeviceEvent, type Listening, type Said } from '@palisade/contract/agent';
import { ownSize } from '#files/own-state.ts';
import { Dropped } from '#firewall/dropped.ts';
import type { Enforcer } from '#firewall/enforcer.ts';
import { readForeignTables } from '#firewall/foreign.ts';
import type { Nft } from '#firewall/nft.ts';
import type { WebProtection } from '#names/web-protection.ts';
import type { WatchedFolders } from '#scan/watched-folders.ts';
import type { PostureWatch } from '#telemetry/posture.ts';
import type { Proc } from '#telemetry/proc.ts';
import { createGuessing, createSignInLog } from '#telemetry/sign-ins.ts';

const DROPPED_FILE = 'dropped.json';
/** Reports that may carry the same part of the dropped packets: the server may confirm any of them. */
const SAME_PART_MAXIMUM = 20;
/** Tables of other programs are listed once per this many reports. */
const FOREIGN_EVERY = 10;
/** The agent looks for new home folders once per this many reports. */
const WATCH_EVERY = 10;

/** Numbers the reports of this agent. The server confirms each report by its number. */
export class Sequence {
  #last = 0;

  get last(): number {
    return this.#last;
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

export interface DeviceReportsParts {
  folders: { state: string; run: string };
  nft: Nft;
  enforcer: Enforcer | undefined;
  proc: Proc | undefined;
  posture: PostureWatch;
  watched: WatchedFolders | undefined;
  web_protection: Pick<WebProtection, 'check' | 'state'> | undefined;
  sequence: Sequence;
  happened: (event: DeviceEvent) => void;
  say: (frame: Said) => void;
}

const portKey = ({ protocol, port }: Listening) => `${protocol} ${port}`;
const iso = () => new Date().toISOString();

/** The regular reports of a device: rules, dropped packets, load, connections, posture, watching. */
export class DeviceReports {
  readonly #parts: DeviceReportsParts;
  readonly #dropped: Dropped;
  readonly #sign_ins = createSignInLog();
  readonly #guessing = createGuessing();
  /** The unconfirmed part of the dropped packets, and the reports that have sent it. */
  #said_part: { number: number; seqs: readonly number[] } = { number: 0, seqs: [] };
  #known_ports: ReadonlySet<string> | undefined;
  #foreign_tables: Awaited<ReturnType<typeof readForeignTables>> = [];

  constructor(parts: DeviceReportsParts) {
    const { folders, nft } = parts;
    this.#parts = parts;
    this.#dropped = new Dropped({
      nft,
      most: BLOCKED_MAXIMUM,
      at: iso,
      // The kernel's monotonic clock in ms, which nftables sets use; it continues when the agent restarts.
      clock: () => Number(process.hrtime.bigint() / 1_000_000n),
      paths: { run: join(folders.run, DROPPED_FILE), state: join(folders.state, DROPPED_FILE) },
    });
  }

  /** Collects the data of one report, and sends it. */
  async report(): Promise<void> {
    const { enforcer, folders, proc, posture, watched, web_protection, sequence } = this.#parts;
    const { epoch, counters, drops } = (await enforcer?.counters()) ?? { epoch: iso(), counters: [], drops: '' };
    const part = enforcer === undefined ? undefined : await this.#dropped.read({ epoch, drops });
    // Runs on the thread pool without a deadline. If all threads hang, no report is sent, and the server notices the missing report.
    await ownSize(folders.state);
    const telemetry = (await proc?.read()) ?? null;
    const checks = posture.read();
    await watched?.note();
    if (sequence.last % WATCH_EVERY === 0) void watched?.refresh();
    if (telemetry !== null) this.#lookForNewPorts(telemetry.listening);
    await this.#lookForGuessing();
    await this.#listForeignTables();
    const seq = sequence.next();
    const frame: Said = {
      kind: 'report',
      seq,
      epoch,
      counters,
      blocked: [],
      ...part,
      telemetry,
      posture: checks,
      foreign_tables: this.#foreign_tables,
      watching: watched?.state() ?? null,
      health: watched?.health() ?? null,
      web_protection: web_protection?.state() ?? null,
    };
    if (part !== undefined) this.#rememberPart(part.blocked_part.number, seq);
    this.#parts.say(frame);
    // The next report contains the result.
    void web_protection?.check();
  }

  /** Handles the server's confirmation of a report. */
  noted(seq: number): void {
    if (this.#said_part.seqs.includes(seq)) this.#dropped.noted(this.#said_part.number);
  }

  /** Saves unconfirmed drops to disk for the next start. */
  async keep(): Promise<void> {
    await this.#dropped.keep();
  }

  #rememberPart(number: number, seq: number): void {
    const seqs = this.#said_part.number === number ? this.#said_part.seqs : [];
    this.#said_part = { number, seqs: [...seqs, seq].slice(-SAME_PART_MAXIMUM) };
  }

  #lookForNewPorts(listening: readonly Listening[]): void {
    const before = this.#known_ports;
    this.#known_ports = new Set([...(before ?? []), ...listening.map(portKey)]);
    if (before === undefined) return;
    for (const one of listening.filter((open) => !before.has(portKey(open))))
      this.#parts.happened({ event: 'new_listening_port', listening: one });
  }

  async #lookForGuessing(): Promise<void> {
    for (const { address, failures } of this.#guessing.hear(await this.#sign_ins.read(), Date.now()))
      this.#parts.happened({ event: 'ssh_guessing', address, failures, blocked: this.#dropped.hasDropped(address) });
  }

  async #listForeignTables(): Promise<void> {
    const { enforcer, nft, sequence } = this.#parts;
    if (enforcer !== undefined && sequence.last % FOREIGN_EVERY === 0) this.#foreign_tables = await readForeignTables(nft);
  }
}
