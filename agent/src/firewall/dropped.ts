import type { Blocked } from '@palisade/contract/agent';
import { z } from 'zod';
import { DROPPED_SETS } from './compile.ts';
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
  }),
});
const setSchema = z.object({ set: z.object({ name: z.string(), elem: z.array(z.unknown()).optional() }) });

/** Who was dropped, polled from the kernel's sets: no program of ours sees a packet. */
export interface Dropped {
  /** Packets that were dropped since the last call, most first. */
  read(): Promise<Blocked[]>;
  /** Since an address was first dropped: whether it was at all. */
  hasDropped(address: string): boolean;
}

export function createDropped(nft: Nft, most: number): Dropped {
  /** What each element had when it was last read. */
  let known = new Map<string, number>();
  let addresses = new Set<string>();

  return {
    hasDropped: (address) => addresses.has(address),
    async read() {
      const now = new Map<string, number>();
      const seen = new Set<string>();
      const blocked: Blocked[] = [];
      // All sets by one program: at rest the agent does little else.
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
          const key = `${set.name} ${protocol} ${address} ${port ?? ''}`;
          const before = known.get(key) ?? 0;
          now.set(key, packets);
          seen.add(address);
          // An element that ran out and came again counts from 0.
          const more = packets >= before ? packets - before : packets;
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
      addresses = seen;
      return blocked.sort((a, b) => b.packets - a.packets).slice(0, most);
    },
  };
}
