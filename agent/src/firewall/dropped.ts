import type { Blocked } from '@palisade/contract/agent';
import { z } from 'zod';
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

const partSchema = z.union([z.string(), z.int()]).transform(String);
const elementSchema = z.object({
  elem: z.object({
    val: z.object({ concat: z.array(partSchema) }),
    counter: z.object({ packets: z.number().min(0) }),
    /** Seconds. */
    expires: z.number().min(0).optional(),
  }),
});
const setSchema = z.object({ set: z.object({ name: z.string(), elem: z.array(z.unknown()).optional() }) });

/** Who was dropped, polled from the kernel's sets: no program of ours sees a packet. */
export interface Dropped {
  /** Packets that were dropped since the last call, most first. The sets are not looked at where `drops` says what it said: nothing was dropped then (enforcer.ts). */
  read(drops: string): Promise<Blocked[]>;
  /** Since an address was first dropped: whether it was at all. */
  hasDropped(address: string): boolean;
}

/** An element of a set as it was last read, and when the kernel forgets it if nothing more is dropped, in ms. */
interface Known {
  address: string;
  packets: number;
  until: number;
}

/** @param clock ms, from any time on */
export function createDropped(nft: Nft, most: number, clock: () => number): Dropped {
  let known = new Map<string, Known>();
  let drops_before: string | undefined;

  return {
    hasDropped: (address) => [...known.values()].some((one) => one.address === address && clock() < one.until),
    async read(drops) {
      if (drops === drops_before) return [];
      const time = clock();
      const now = new Map<string, Known>();
      const blocked: Blocked[] = [];
      // All sets by one program: starting it costs more than what it lists.
      const listed = (await nft.listJson(['sets', 'table', 'inet', 'palisade'])) ?? [];
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
          const before = known.get(key);
          // An element that ran out and came again counts from 0, whether or not anybody looked while it was gone.
          const is_same = before !== undefined && packets >= before.packets && time < before.until;
          const more = is_same ? packets - before.packets : packets;
          now.set(key, { address, packets, until: time + expires * 1_000 });
          if (more === 0) continue;
          blocked.push({
            direction: set.direction,
            protocol: NAMES.get(protocol) ?? 'other',
            address,
            port: set.has_port && port !== undefined ? Number(port) : null,
            packets: more,
          });
        }
      }
      known = now;
      drops_before = drops;
      return blocked.sort((a, b) => b.packets - a.packets).slice(0, most);
    },
  };
}
