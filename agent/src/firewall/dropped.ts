import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { type Blocked, type Report, saidSchema } from '@palisade/contract/agent';
import { z } from 'zod';
import { showWhole, writeWhole } from '#agent/store.ts';
import { DROPPED_SETS, REMEMBERED_MS } from './compile.ts';
import type { Nft } from './nft.ts';

const NAMES: ReadonlyMap<string, Blocked['protocol']> = new Map([
  ['tcp', 'tcp'],
  ['udp', 'udp'],
  ['icmp', 'icmp'],
  ['ipv6-icmp', 'icmp'],
  ['icmpv6', 'icmp'],
  ['6', 'tcp'],
  ['17', 'udp'],
  ['1', 'icmp'],
  ['58', 'icmp'],
]);

const wordSchema = z.union([z.string(), z.int()]).transform(String);
const elementSchema = z.object({
  elem: z.object({
    val: z.object({ concat: z.array(wordSchema) }),
    counter: z.object({ packets: z.number().min(0) }),
    /** Remaining lifetime, in seconds. */
    expires: z.number().min(0).optional(),
  }),
});
const setSchema = z.object({ set: z.object({ name: z.string(), elem: z.array(z.unknown()).optional() }) });

/** An element of a set at the last read. `until` is its expiry by the kernel's clock, in ms, if no further packet is dropped. */
const knownSchema = z.object({ key: z.string(), address: z.string(), packets: z.number(), until: z.number() });
type Known = z.infer<typeof knownSchema>;

const reportShape = saidSchema.options[1].shape;
const blockedSchema = reportShape.blocked.element.required();
const moreSchema = reportShape.blocked_more.unwrap();
const partSchema = z.object({ blocked: z.array(blockedSchema), more: moreSchema.nullable() });
type Part = z.infer<typeof partSchema>;

/** The last read state of the kernel's sets, and the packets that the server has not confirmed. One record holds both, so that each packet is counted exactly once. */
const keptSchema = z.object({
  log: z.string(),
  number: z.int(),
  /** Epoch of the table that `known` was read from. */
  epoch: z.string(),
  checked_at: z.number(),
  known: z.array(knownSchema),
  said: partSchema.nullable(),
  waiting: partSchema.nullable(),
});
type Kept = z.infer<typeof keptSchema>;

/** The fields of a report about dropped packets. */
type ReportedPart = Pick<Report, 'blocked' | 'blocked_more'> & { blocked_part: NonNullable<Report['blocked_part']> };

export interface DroppedParts {
  nft: Pick<Nft, 'listJson'>;
  /** Maximum sources with a separate entry in a report. */
  most: number;
  /** Monotonic clock: ms since the kernel's start. */
  clock: () => number;
  /** The current time in ISO format. */
  at: () => string;
  /** `run` is a file in memory, which is lost at a reboot like the kernel's tables; `state` is a file on disk. */
  paths: { run: string; state: string };
}

function readKept(path: string): Kept | undefined {
  try {
    return keptSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

const keyOf = ({ direction, protocol, address, port }: Blocked) => `${direction} ${protocol} ${address} ${port ?? ''}`;
const sumOf = (one: number, other: number) => Math.min(one + other, Number.MAX_SAFE_INTEGER);

/** Merges two parts: one entry for each of the `most` sources with the most packets, and one sum for the others. */
function together(part: Part | null, blocked: Part['blocked'], most: number): Part {
  const entries = new Map((part?.blocked ?? []).map((entry) => [keyOf(entry), entry]));
  for (const entry of blocked) {
    const before = entries.get(keyOf(entry));
    const packets = sumOf(before?.packets ?? 0, entry.packets);
    entries.set(keyOf(entry), { ...entry, packets, first_at: before?.first_at ?? entry.first_at });
  }
  const sorted = [...entries.values()].sort((a, b) => b.packets - a.packets);
  let more = part?.more ?? null;
  for (const { packets, first_at, last_at } of sorted.slice(most)) {
    if (more === null) more = { packets, first_at, last_at };
    else
      more = {
        packets: sumOf(more.packets, packets),
        first_at: [first_at, more.first_at].toSorted()[0] ?? first_at,
        last_at: [last_at, more.last_at].toSorted()[1] ?? last_at,
      };
  }
  return { blocked: sorted.slice(0, most), more };
}

/** An element of one of the kernel's sets: the dropped packets of one source. */
interface DroppedElement extends Omit<Known, 'until'> {
  source: Pick<Blocked, 'direction' | 'protocol' | 'address' | 'port'>;
  /** Time until it expires, in ms. */
  expires_ms: number;
}

/** The elements of the agent's sets in a listing of nft. */
function elementsOf(listed: readonly unknown[]): DroppedElement[] {
  const sets = new Map(
    listed.flatMap((entry) => {
      const read = setSchema.safeParse(entry).data?.set;
      return read === undefined ? [] : [[read.name, read.elem ?? []] as const];
    }),
  );
  return DROPPED_SETS.flatMap(({ name, direction, has_port }) =>
    (sets.get(name) ?? []).flatMap((element): DroppedElement[] => {
      const read = elementSchema.safeParse(element).data?.elem;
      if (read === undefined) return [];
      const [protocol = '', address = '', port] = read.val.concat;
      return [
        {
          key: `${name} ${protocol} ${address} ${port ?? ''}`,
          address,
          packets: read.counter.packets,
          source: {
            direction,
            protocol: NAMES.get(protocol) ?? 'other',
            address,
            port: has_port && port !== undefined ? Number(port) : null,
          },
          expires_ms: (read.expires ?? REMEMBERED_MS / 1_000) * 1_000,
        },
      ];
    }),
  );
}

/**
 * Dropped packets of an element since it was last read. If the element can have expired since, its counter may have restarted at 0, so the whole counter
 * is new. If it cannot have expired, only the increase is new.
 */
function newPackets(element: DroppedElement, before: Known | undefined, checked_at: number): number {
  const is_same = before !== undefined && element.packets >= before.packets && checked_at < before.until;
  return is_same ? element.packets - before.packets : element.packets;
}

/**
 * The log of dropped packets, polled from the kernel's sets; the agent itself sees no packets. A part is sent again until the server has confirmed it; packets
 * that are dropped meanwhile are summed by source for the next part.
 */
export class Dropped {
  readonly #parts: DroppedParts;
  #known: ReadonlyMap<string, Known>;
  #log: string;
  #number: number;
  /** Epoch of the table that `#known` was read from. */
  #epoch: string;
  #checked_at: number;
  #said: Part | null;
  #waiting: Part | null;
  /** The value of `drops` when the sets were last read. */
  #drops: string | undefined;

  constructor(parts: DroppedParts) {
    this.#parts = parts;
    // The file on disk exists only while no agent runs: it is removed after it is read, so that it cannot be read again later.
    const kept = readKept(parts.paths.state) ?? readKept(parts.paths.run);
    this.#log = kept?.log ?? randomBytes(16).toString('hex');
    this.#number = kept?.number ?? 0;
    this.#epoch = kept?.epoch ?? '';
    this.#checked_at = kept?.checked_at ?? 0;
    this.#said = kept?.said ?? null;
    this.#waiting = kept?.waiting ?? null;
    this.#known = new Map((kept?.known ?? []).map((one) => [one.key, one]));
    if (kept !== undefined) this.#show();
    rmSync(parts.paths.state, { force: true });
  }

  /**
   * Returns the part to report now. An unchanged `drops` (enforcer.ts) means that nothing was dropped, so the sets are not read. `epoch` identifies the table.
   */
  async read({ epoch, drops }: { epoch: string; drops: string }): Promise<ReportedPart | undefined> {
    let has_changed = false;
    if (drops === this.#drops && epoch === this.#epoch) this.#checked_at = this.#parts.clock();
    else if (drops !== '' && (await this.#look(epoch))) {
      this.#drops = drops;
      has_changed = true;
    }
    if (this.#said === null && this.#waiting !== null) {
      this.#said = this.#waiting;
      this.#waiting = null;
      this.#number += 1;
      has_changed = true;
    }
    if (has_changed) this.#show();
    if (this.#said === null) return undefined;
    const { blocked, more } = this.#said;
    return { blocked, blocked_part: { log: this.#log, number: this.#number }, ...(more !== null && { blocked_more: more }) };
  }

  /** Handles the server's confirmation of the part with this number. */
  noted(number: number): void {
    if (this.#said === null || number !== this.#number) return;
    this.#said = null;
    this.#show();
  }

  /** Whether packets of an address were dropped recently. */
  hasDropped(address: string): boolean {
    return [...this.#known.values()].some((one) => one.address === address && this.#parts.clock() < one.until);
  }

  /** Saves the log to disk when the agent ends, so that it survives a reboot. */
  async keep(): Promise<void> {
    if (this.#number > 0 || this.#known.size > 0) await writeWhole(this.#parts.paths.state, this.#text());
  }

  #text(): string {
    return JSON.stringify({
      log: this.#log,
      number: this.#number,
      epoch: this.#epoch,
      checked_at: this.#checked_at,
      known: [...this.#known.values()],
      said: this.#said,
      waiting: this.#waiting,
    } satisfies Kept);
  }

  #show(): void {
    try {
      showWhole(this.#parts.paths.run, this.#text());
    } catch {
      // The folder is missing or full. Only the next agent reads the file, so reports continue.
    }
  }

  /** Reads the sets and adds the new drops. @returns whether the sets could be read */
  async #look(epoch: string): Promise<boolean> {
    // One call lists all sets, because starting nft costs more than the listing.
    const listed = await this.#parts.nft.listJson(['sets', 'table', 'inet', 'palisade']);
    if (listed === undefined) return false;
    const time = this.#parts.clock();
    const moment = this.#parts.at();
    const is_same_table = epoch === this.#epoch;
    const now = new Map<string, Known>();
    const blocked: Part['blocked'] = [];
    for (const element of elementsOf(listed)) {
      const { key, address, packets, source, expires_ms } = element;
      const more = newPackets(element, is_same_table ? this.#known.get(key) : undefined, this.#checked_at);
      now.set(key, { key, address, packets, until: time + expires_ms });
      if (more > 0) blocked.push({ ...source, packets: more, first_at: moment, last_at: moment });
    }
    this.#known = now;
    this.#epoch = epoch;
    this.#checked_at = time;
    if (blocked.length > 0) this.#waiting = together(this.#waiting, blocked, this.#parts.most);
    return true;
  }
}
