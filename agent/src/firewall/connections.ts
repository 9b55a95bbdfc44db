import type { Direction } from '@palisade/contract/firewall';
import { blocksAnything } from '@palisade/contract/firewall-steps';
import type { Ruleset } from '@palisade/contract/firewall-traffic';
import { createJudge } from '@palisade/contract/firewall-verdict';
import { printIp } from '@palisade/contract/ip-address';
import type { OpenConnection } from '#telemetry/proc.ts';
import { compileOlder, readOlder } from './compile.ts';
import type { Conntrack, Flow } from './conntrack.ts';
import type { Nft } from './nft.ts';

export interface ConnectionsParts {
  nft: Nft;
  /** Undefined if the program is missing: connections that a new rule blocks are then not cut. */
  conntrack: Conntrack | undefined;
  /** Open TCP connections, tracked by the kernel or not. */
  openConnections: () => readonly OpenConnection[];
  /** Addresses of this computer as text. */
  localAddresses: () => ReadonlySet<string>;
}

/** Handles connections that are open while rules change (docs/decisions/firewall.md). */
export interface Connections {
  /**
   * The TCP connections to load with a ruleset as older than the first blocking ruleset; undefined if the table already has them. `cut` later ends those that the ruleset
   * forbids. `is_new`: the table is missing, or another program changed it.
   */
  olderFor(ruleset: Ruleset, is_new: boolean): Promise<readonly OpenConnection[] | undefined>;
  /** Called when the kernel has loaded the ruleset with the result of `olderFor`. */
  onLoaded(ruleset: Ruleset, older: readonly OpenConnection[] | undefined): void;
  onTakenAway(): void;
  /** Deletes the tracking state of forbidden connections, so that the rules judge and drop their next packet. */
  cut(ruleset: Ruleset): Promise<void>;
}

const flowOf = ({ from, to }: OpenConnection): Flow => ({
  ...({
    protocol: 'tcp',
    source: from.address,
    source_port: from.port,
    destination: to.address,
    port: to.port,
    icmp: null,
  } as const),
});
const reverse = ({ from, to }: OpenConnection): OpenConnection => ({ from: to, to: from });
const printFlow = ({ source, source_port, destination, port }: Flow) =>
  `${printIp(source)} ${source_port} ${printIp(destination)} ${port}`;

/** The direction of a flow; undefined for a forwarded flow and for one inside this computer. */
function directionOf(flow: Flow, local: ReadonlySet<string>): Direction | undefined {
  if (local.has(printIp(flow.destination))) return local.has(printIp(flow.source)) ? undefined : 'inbound';
  return local.has(printIp(flow.source)) ? 'outbound' : undefined;
}

export function createConnections({ nft, conntrack, openConnections, localAddresses }: ConnectionsParts): Connections {
  /** The older connections in the table; undefined until they are known. */
  let older: readonly OpenConnection[] | undefined;
  /** Whether the loaded ruleset blocks anything; undefined while none is loaded. */
  let was_blocking: boolean | undefined;

  /**
   * Returns a test of whether a ruleset would block a flow that began now. Forwarded flows are never
   * blocked.
   */
  function forbidder(ruleset: Ruleset): (flow: Flow) => boolean {
    const judge = createJudge(ruleset);
    const local = localAddresses();
    return (flow) => {
      const direction = directionOf(flow, local);
      if (direction === undefined) return false;
      return judge({ ...flow, source_port: flow.source_port ?? 0, direction }).action === 'block';
    };
  }

  /** The connections recorded in the table by an earlier agent; the currently open ones if it has none. */
  async function olderInTable(): Promise<readonly OpenConnection[]> {
    const lists = await Promise.all([4, 6].map((family) => nft.listJson(['set', 'inet', 'palisade', `older${family}`])));
    return lists.includes(undefined) ? openConnections() : lists.flatMap((list) => readOlder(list ?? []));
  }

  return {
    async olderFor(ruleset, is_new) {
      if (!blocksAnything(ruleset)) return [];
      // Until the first blocking ruleset every packet passed, and the kernel does not track a connection that has been idle since.
      if (is_new || was_blocking === false) return openConnections();
      return older === undefined ? await olderInTable() : undefined;
    },

    onLoaded(ruleset, given) {
      older = given ?? older;
      was_blocking = blocksAnything(ruleset);
    },

    onTakenAway() {
      older = undefined;
      was_blocking = undefined;
    },

    async cut(ruleset) {
      if (!blocksAnything(ruleset)) return;
      const forbids = forbidder(ruleset);
      const all = older ?? [];
      const allowed = all.filter((one) => !forbids(flowOf(one)));
      if (allowed.length < all.length && (await nft.apply(compileOlder(allowed))).ok) older = allowed;
      if (conntrack === undefined) return;
      // If the kernel first saw a reply packet, its entry has source and destination swapped.
      const turned = new Map(all.map((one) => [printFlow(flowOf(reverse(one))), flowOf(one)]));
      const flows = await conntrack.list();
      await conntrack.forget(flows.filter((flow) => forbids((flow.protocol === 'tcp' && turned.get(printFlow(flow))) || flow)));
    },
  };
}
