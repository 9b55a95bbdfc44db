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
  /** Undefined where the program is missing: connections that a new block forbids then end only in time. */
  conntrack: Conntrack | undefined;
  /** Open TCP connections, tracked by the kernel or not. */
  openConnections: () => readonly OpenConnection[];
  /** Addresses of this computer, printed. */
  localAddresses: () => ReadonlySet<string>;
}

/** Connections that are open while rules change (docs/decisions/firewall.md). */
export interface Connections {
  /**
   * The TCP connections that the table is to be given with a ruleset as older than its first block; undefined where it has them. Those of them that are forbidden are cut
   * afterwards. `is_new`: the table was not there, or not as it was left.
   */
  olderFor(ruleset: Ruleset, is_new: boolean): Promise<readonly OpenConnection[] | undefined>;
  /** The kernel has the ruleset, with what `olderFor` answered. */
  onLoaded(ruleset: Ruleset, older: readonly OpenConnection[] | undefined): void;
  onTakenAway(): void;
  /** Has connections that the rules forbid now start again, which the rules then refuse. */
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

/** The direction of a flow in the judge's terms; undefined for one that was only routed through. */
function directionOf(flow: Flow, local: ReadonlySet<string>): Direction | undefined {
  if (local.has(printIp(flow.destination))) return local.has(printIp(flow.source)) ? undefined : 'inbound';
  return local.has(printIp(flow.source)) ? 'outbound' : undefined;
}

export function createConnections({ nft, conntrack, openConnections, localAddresses }: ConnectionsParts): Connections {
  /** Those that were open before anything was blocked, as the table has them; undefined before that is known. */
  let older: readonly OpenConnection[] | undefined;
  /** Undefined while nothing is loaded. */
  let was_blocking: boolean | undefined;

  /**
   * Whether a ruleset would forbid a connection if it began now; connections that are not this computer's own are not
   * forbidden.
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
      // Before its first block every packet passed, and of a connection that was silent since the kernel knows nothing.
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
      // One that the kernel picked up from the other side's packets has its ends exchanged.
      const turned = new Map(all.map((one) => [printFlow(flowOf(reverse(one))), flowOf(one)]));
      const flows = await conntrack.list();
      await conntrack.forget(flows.filter((flow) => forbids((flow.protocol === 'tcp' && turned.get(printFlow(flow))) || flow)));
    },
  };
}
