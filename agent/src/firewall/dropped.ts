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
    /** Seconds. */
    expires: z.number().min(0).optional(),
  }),
});
const setSchema = z.object({ set: z.object({ name: z.string(), elem: z.array(z.unknown()).optional() }) });

/** An element of a set as it was last read, and when the kernel forgets it if nothing more is dropped, in ms. */
const knownSchema = z.object({ key: z.string(), address: z.string(), packets: z.number(), until: z.number() });
type Known = z.infer<typeof knownSchema>;

const reportShape = saidSchema.options[1].shape;
const blockedSchema = reportShape.blocked.element.required();
const moreSchema = reportShape.blocked_more.unwrap();
const partSchema = z.object({ blocked: z.array(blockedSchema), more: moreSchema.nullable() });
type Part = z.infer<typeof partSchema>;

/** What is kept: how far the kernel's sets were read, and what was read of them and is not noted, in one so that nothing is in both or in neither. */
const keptSchema = z.object({
  log: z.string(),
  number: z.int(),
  /** The table that `known` is of. */
  epoch: z.string(),
  checked_at: z.number(),
  known: z.array(knownSchema),
  said: partSchema.nullable(),
  waiting: partSchema.nullable(),
});
type Kept = z.infer<typeof keptSchema>;

/** A part of the log, as a report says it. */
type Telling = Pick<Report, 'blocked' | 'blocked_more'> & { blocked_part: NonNullable<Report['blocked_part']> };

/**
 * The log of who was dropped, polled from the kernel's sets: no program of ours sees a packet. A part of it is said until it is noted, and what is dropped meanwhile waits
 * in one sum for each source.
 */
export interface Dropped {
  /**
   * What is to be said now. The sets are not looked at where `drops` says what it said: nothing was dropped then (enforcer.ts). `epoch` names the table that they are in.
   */
  read(counted: { epoch: string; drops: string }): Promise<Telling | undefined>;
  /** The server has counted the part of this number. */
  noted(number: number): void;
  /** Whether packets of an address were dropped lately. */
  hasDropped(address: string): boolean;
  /** Has what is known outlast the computer's start: written once, when the agent ends. */
  keep(): Promise<void>;
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

/** Two parts as one: of each source one entry, of the sources that were dropped most, and one sum of all others. */
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

export function createDropped(parts: {
  nft: Pick<Nft, 'listJson'>;
  /** Sources that are told apart at a time. */
  most: number;
  /** ms since the kernel's start, by a clock that nobody sets. */
  clock: () => number;
  /** The time of day, ISO. */
  at: () => string;
  /** A file in memory, which is there as long as the kernel's tables are; and one on the disk. */
  paths: { run: string; state: string };
}): Dropped {
  const { nft, most, clock, at, paths } = parts;
  // On the disk it lies only between two agents: once it is taken up it is removed, so that an old one is never taken for the last.
  const kept = readKept(paths.state) ?? readKept(paths.run);
  let { log, number, epoch, checked_at, said, waiting }: Omit<Kept, 'known'> = kept ?? {
    ...{ log: randomBytes(16).toString('hex'), number: 0, epoch: '', checked_at: 0, said: null, waiting: null },
  };
  let known = new Map((kept?.known ?? []).map((one) => [one.key, one]));
  let drops_before: string | undefined;
  if (kept !== undefined) show();
  rmSync(paths.state, { force: true });

  function text(): string {
    return JSON.stringify({ log, number, epoch, checked_at, known: [...known.values()], said, waiting } satisfies Kept);
  }

  /** Where it cannot be kept it is known to this agent alone. */
  function show(): void {
    try {
      showWhole(paths.run, text());
    } catch {
      // The folder is gone or full: what is said does not depend on it.
    }
  }

  /** Adds what was dropped since the sets were last looked at. Answers whether they could be. */
  async function look(epoch_now: string): Promise<boolean> {
    // All sets by one program: starting it costs more than what it lists.
    const listed = await nft.listJson(['sets', 'table', 'inet', 'palisade']);
    if (listed === undefined) return false;
    const time = clock();
    const moment = at();
    const is_same_table = epoch_now === epoch;
    const now = new Map<string, Known>();
    const blocked: Part['blocked'] = [];
    const sets = new Map(
      listed.flatMap((entry) => {
        const read = setSchema.safeParse(entry).data?.set;
        return read === undefined ? [] : [[read.name, read.elem ?? []] as const];
      }),
    );
    for (const set of DROPPED_SETS) {
      for (const element of sets.get(set.name) ?? []) {
        const read = elementSchema.safeParse(element);
        if (!read.success) continue;
        const [protocol = '', address = '', port] = read.data.elem.val.concat;
        const { packets } = read.data.elem.counter;
        const { expires = REMEMBERED_MS / 1_000 } = read.data.elem;
        const key = `${set.name} ${protocol} ${address} ${port ?? ''}`;
        const before = is_same_table ? known.get(key) : undefined;
        // One that ran out while nothing was dropped counts from 0 when it comes again. One that was to run out since then may have been kept alive: what it counted is not counted twice.
        const is_same = before !== undefined && packets >= before.packets && checked_at < before.until;
        const more = is_same ? packets - before.packets : packets;
        now.set(key, { key, address, packets, until: time + expires * 1_000 });
        if (more === 0) continue;
        blocked.push({
          direction: set.direction,
          protocol: NAMES.get(protocol) ?? 'other',
          address,
          port: set.has_port && port !== undefined ? Number(port) : null,
          ...{ packets: more, first_at: moment, last_at: moment },
        });
      }
    }
    known = now;
    epoch = epoch_now;
    checked_at = time;
    if (blocked.length > 0) waiting = together(waiting, blocked, most);
    return true;
  }

  return {
    hasDropped: (address) => [...known.values()].some((one) => one.address === address && clock() < one.until),

    async read({ epoch: epoch_now, drops }) {
      let has_changed = false;
      if (drops === drops_before && epoch_now === epoch) checked_at = clock();
      else if (drops !== '' && (await look(epoch_now))) {
        drops_before = drops;
        has_changed = true;
      }
      if (said === null && waiting !== null) {
        said = waiting;
        waiting = null;
        number += 1;
        has_changed = true;
      }
      if (has_changed) show();
      if (said === null) return undefined;
      const { blocked, more } = said;
      return { blocked, blocked_part: { log, number }, ...(more !== null && { blocked_more: more }) };
    },

    noted(of) {
      if (said === null || of !== number) return;
      said = null;
      show();
    },

    async keep() {
      if (number > 0 || known.size > 0) await writeWhole(paths.state, text());
    },
  };
}
