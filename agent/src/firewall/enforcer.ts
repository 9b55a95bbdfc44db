import { createHash } from 'node:crypto';
import type { Ack, Counter, Desired } from '@palisade/contract/agent';
import type { Action } from '@palisade/contract/firewall';
import { blocksAnything } from '@palisade/contract/firewall-steps';
import type { Ruleset } from '@palisade/contract/firewall-verdict';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import type { Store } from '#agent/store.ts';
import { type FirewallState, hashOf, type Revision } from './applied.ts';
import {
  type ControlAddress,
  compile,
  compileRemoval,
  compileWarming,
  counterOf,
  DEFAULT_COUNTERS,
  LISTED_COUNTER,
  ruleOf,
} from './compile.ts';
import { type ConnectionsParts, createConnections } from './connections.ts';
import { type Begun, type CounterNow, type NftResult, readCounters } from './nft.ts';

/** How long everything passes at the first load, so that the kernel learns what goes on without TCP, in ms. */
const WARMING_MS = 2_000;
/** Rules that one load is searched for after it was refused. */
const CULPRITS_MAXIMUM = 5;
/** Foreign changes that are undone at once in `TAMPERED_WINDOW_MS`; then it waits for that long. */
const TAMPERED_AT_ONCE = 3;
const TAMPERED_WINDOW_MS = 60_000;
/** How often it is looked whether a temporary rule has ended, in ms. */
const EXPIRY_LOOK_MS = 60_000;

export interface EnforcerParts extends ConnectionsParts {
  store: Store<FirewallState>;
  /** Writes the transaction that the next start of the computer loads before its network. */
  keepForBoot: (text: string) => Promise<void>;
  /** Where the server is, as literals. */
  control: () => Promise<readonly ControlAddress[]>;
  /** Asks the server for a nonce over a connection of its own; the reason why it could not, or undefined. */
  verify: () => Promise<string | undefined>;
  say: (ack: Ack) => void;
  onTampered: (backed_off: boolean) => void;
  /** Another text after each start of the kernel, and in each of its network namespaces. */
  kernel: string;
  /** How long everything passes at the first load, in ms. */
  warming_ms?: number | undefined;
  /** The server's clock, in ms. */
  now: () => number;
  wait: (ms: number) => Promise<void>;
}

/** What rules have decided. */
interface Counted {
  /** When the counters began at 0. */
  epoch: string;
  counters: Counter[];
  /** Another text than before where anything may have been dropped since. */
  drops: string;
}

export interface Enforcer {
  /** Puts back what was confirmed, and undoes a trial that nobody ended. */
  start(): Promise<void>;
  /** Takes a desired state. Only one is loaded at a time, and of several that wait the last. */
  want(desired: Pick<Desired, 'rev' | 'hash' | 'defaults' | 'rules' | 'block_list'>): Promise<void>;
  /** Something in the kernel's tables changed: whoever it was, ours is put back if it is not as it was left. */
  lookAgain(): Promise<void>;
  /** Takes the table away, and forgets what was confirmed. */
  disable(): Promise<void>;
  counters(): Promise<Counted>;
  appliedRev(): number;
  rulesetHash(): string | null;
  /** Whether a rule of ours stands between this computer and an address. */
  ruleset(): Ruleset;
}

const EMPTY: Pick<FirewallState, 'confirmed' | 'trial' | 'refused'> = { confirmed: null, trial: null, refused: null };
const TABLE = ['inet', 'palisade'];
const chainOrRule = z.union([z.object({ chain: z.unknown() }), z.object({ rule: z.unknown() })]);
const tableSchema = z.object({ table: z.object({ family: z.string(), name: z.string(), handle: z.int() }) });
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

export function createEnforcer(parts: EnforcerParts): Enforcer {
  const { nft, store, say, now } = parts;
  const connections = createConnections(parts);
  let state: FirewallState = { ...EMPTY, epoch: new Date(now()).toISOString(), life: null };
  /** What the kernel has. */
  let loaded: Revision | null = null;
  let counters: readonly string[] = [];
  /** Of the table as it was left. */
  let fingerprint: string | undefined;
  let rules_loaded = 0;
  let tampered: number[] = [];
  let quiet_until = 0;
  let expiry: NodeJS.Timeout | undefined;
  /** What the counters said last: at rest they say it again. */
  let counted: { listing: string; revision: Revision; meaning: Pick<Counted, 'counters' | 'drops'> } | undefined;
  let look_waits = false;
  let queue = Promise.resolve();

  /** One thing at a time. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work);
    queue = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  async function rulesetOf(revision: Revision): Promise<Ruleset> {
    return {
      defaults: revision.defaults,
      rules: revision.rules.filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > now()),
      block_list: revision.block_list,
      control: await parts.control(),
    };
  }

  async function isLoaded(): Promise<boolean> {
    return (await nft.list(['table', 'inet', 'palisade'])) !== undefined;
  }

  const countersNow = async () => readCounters((await nft.listCounters(TABLE)) ?? '');

  /** What the kernel's counters mean under a revision. */
  function meaningOf(found: readonly CounterNow[], { rev, defaults, rules }: Revision): Pick<Counted, 'counters' | 'drops'> {
    const of_name = new Map<string, Counter['of']>([
      [DEFAULT_COUNTERS.inbound, 'inbound'],
      [DEFAULT_COUNTERS.outbound, 'outbound'],
      ...rules.map(({ id }) => [counterOf(id), id] as const),
    ]);
    const action_of = new Map<string, Action>([
      ...rules.map(({ id, action }) => [id, action] as const),
      ...Object.entries(defaults),
    ]);
    const drops = [`${rev}`];
    const counters = found.flatMap(({ name, packets, bytes }) => {
      // Of a rule that was switched off: what it counted before is said to the end.
      const of = of_name.get(name) ?? ruleOf(name);
      if (name === LISTED_COUNTER || (of !== undefined && action_of.get(of) === 'block')) drops.push(`${name} ${packets}`);
      return of === undefined ? [] : [{ of, packets, bytes }];
    });
    return { counters, drops: drops.join() };
  }

  /** Of chains and rules, each with the number that the kernel gave it, and of the block list. Undefined where there are not as many rules as were loaded. */
  async function fingerprintNow(): Promise<string | undefined> {
    const [table, ...lists] = await Promise.all([
      nft.listJson(['table', 'inet', 'palisade']),
      ...[4, 6].map((family) => nft.listJson(['set', 'inet', 'palisade', `listed${family}`])),
    ]);
    const parts = (table ?? []).filter((entry) => chainOrRule.safeParse(entry).success);
    const rules = parts.filter((entry) => 'rule' in chainOrRule.parse(entry));
    return rules.length === rules_loaded ? digest(JSON.stringify([parts, lists])) : undefined;
  }

  /** Which rules the kernel refuses: the half of them that it refuses is halved until one is left. */
  async function culprits(ruleset: Ruleset): Promise<{ rule_id: string | null; message: string }[]> {
    const refuses = async (rules: Ruleset['rules']): Promise<string | undefined> => {
      const result = await nft.check(compile({ ...ruleset, rules }).text);
      return result.ok ? undefined : result.message;
    };
    const found: { rule_id: string | null; message: string }[] = [];
    let rest = ruleset.rules;
    for (let turn = 0; turn < CULPRITS_MAXIMUM; turn += 1) {
      let message = await refuses(rest);
      if (message === undefined) return found;
      const without = await refuses([]);
      if (without !== undefined) return [...found, { rule_id: null, message: without }];
      let some = rest;
      while (some.length > 1) {
        const half = some.slice(0, Math.ceil(some.length / 2));
        const said = await refuses(half);
        some = said === undefined ? some.slice(half.length) : half;
        message = said ?? message;
      }
      const [one] = some;
      if (one === undefined) return found;
      found.push({ rule_id: one.id, message: (await refuses([one])) ?? message });
      rest = rest.filter((rule) => rule !== one);
    }
    return found;
  }

  /** The table is new, and so are its counters. A clock that was set back does not make them those of an earlier one. */
  function beginCounting(): void {
    counters = [];
    state = { ...state, epoch: new Date(Math.max(now(), Date.parse(state.epoch) + 1)).toISOString() };
  }

  /** Which table of ours there is; null where there is none, or it has no number. */
  async function lifeNow(): Promise<string | null> {
    const tables = (await nft.listJson(['tables'])) ?? [];
    const ours = tables
      .map((entry) => tableSchema.safeParse(entry).data?.table)
      .find((table) => table?.family === TABLE[0] && table?.name === TABLE[1]);
    return ours === undefined ? null : `${parts.kernel} ${ours.handle}`;
  }

  /** Whether the table is another one than the counters were last said of: the computer was started anew, or somebody loaded the table of its start again. */
  async function isAnother(): Promise<boolean> {
    const life = await lifeNow();
    return state.life !== null && life !== null && life !== state.life;
  }

  /** Loads a revision, and ends what it forbids. `is_lost`: the table was not as it was left, and for how long is not known. */
  async function load(revision: Revision, is_lost = false): Promise<NftResult> {
    const ruleset = await rulesetOf(revision);
    const result = await put(revision, ruleset, { is_lost });
    if (result.ok) await connections.cut(ruleset);
    return result;
  }

  /**
   * Gives the kernel the rules of a revision, the first time in two steps. Connections that they forbid are still open. `begun` is an nft that waits for them, and `marked`
   * what has to be on the disk before.
   */
  async function put(
    revision: Revision,
    ruleset: Ruleset,
    { begun, marked, is_lost = false }: { begun?: Begun | undefined; marked?: Promise<void>; is_lost?: boolean } = {},
  ): Promise<NftResult> {
    const is_cold = loaded === null && !(await isLoaded());
    if (is_cold) {
      if (blocksAnything(ruleset)) {
        const checked = await nft.check(compile(ruleset).text);
        if (!checked.ok) return checked;
        const warmed = await nft.apply(compileWarming());
        if (!warmed.ok) return warmed;
        await parts.wait(parts.warming_ms ?? WARMING_MS);
      }
      beginCounting();
    }
    const given = await connections.olderFor(ruleset, is_cold || is_lost);
    const compiled = compile(ruleset, counters, given);
    await marked;
    let result = await (begun ?? { load: nft.apply }).load(compiled.text);
    if (!result.ok && !is_cold) {
      // Somebody else may have taken counters away that this would delete.
      const there = (await countersNow()).map(({ name }) => name);
      if (there.join() !== counters.join()) result = await nft.apply(compile(ruleset, there, given).text);
    }
    if (!result.ok) {
      if (is_cold) await nft.apply(compileRemoval());
      return result;
    }
    // Before anybody is told of a count: an agent that is killed does not count it under another name.
    if (is_cold) await remember({ life: await lifeNow() }).catch(() => undefined);
    counters = compiled.counters;
    connections.onLoaded(ruleset, given);
    rules_loaded = compiled.rules;
    loaded = revision;
    planExpiry(revision);
    return result;
  }

  async function remember(next: Partial<FirewallState>): Promise<void> {
    state = { ...state, ...next };
    await store.write(state);
  }

  async function keepForBoot(): Promise<void> {
    await parts.keepForBoot(state.confirmed === null ? compileRemoval() : compile(await rulesetOf(state.confirmed)).text);
  }

  async function takeAway(): Promise<void> {
    await nft.apply(compileRemoval());
    loaded = null;
    counters = [];
    connections.onTakenAway();
    fingerprint = undefined;
  }

  /** What was there before a trial. */
  async function goBack(): Promise<void> {
    if (state.confirmed === null) await takeAway();
    else {
      await load(state.confirmed);
      fingerprint = await fingerprintNow();
    }
  }

  /** A temporary rule ends by itself, whether or not the server can be reached then. */
  function planExpiry({ rules }: Revision): void {
    clearTimeout(expiry);
    const times = rules.flatMap(({ expires_at }) => (expires_at === null ? [] : Date.parse(expires_at)));
    const next = Math.min(...times.filter((time) => time > now()));
    if (!Number.isFinite(next)) return;
    const look = () => {
      if (now() < next) wait();
      else void reload();
    };
    // A timer stands still while the computer is suspended.
    const wait = () => (expiry = setTimeout(look, Math.min(next - now() + 1, EXPIRY_LOOK_MS)).unref());
    wait();
  }

  const reload = () =>
    inTurn(async () => {
      if (loaded === null) return;
      await load(loaded);
      fingerprint = await fingerprintNow();
    });

  const errorsOf = (errors: readonly { rule_id: string | null; message: string }[]) =>
    errors.map(({ rule_id, message }) => ({
      rule_id,
      message: lineOf(message, 400),
    }));

  function answer(rev: number, ack: Ack['state'], errors: Ack['errors'] = []): void {
    say({ kind: 'ack', rev, state: ack, applied_rev: loaded?.rev ?? 0, errors });
  }

  async function refuse(
    revision: Revision,
    how: 'rolled_back' | 'rejected',
    errors: readonly { rule_id: string | null; message: string }[],
  ): Promise<void> {
    const kept = errorsOf(errors);
    await remember({ trial: null, refused: { rev: revision.rev, hash: revision.hash, state: how, errors: kept } });
    answer(revision.rev, how, kept);
  }

  async function tryOut(revision: Revision): Promise<void> {
    const before = loaded?.rev ?? 0;
    // Before anything is loaded: a revision that could not be kept on the disk is not tried. While the disk is waited for, nft starts and the rules are compiled.
    const marked = remember({ trial: { rev: revision.rev, hash: revision.hash } });
    marked.catch(() => undefined);
    if (loaded === null) await marked;
    const begun = loaded === null ? undefined : await nft.begin();
    const ruleset = await rulesetOf(revision);
    const result = await put(revision, ruleset, { begun, marked }).finally(() => begun?.cancel());
    if (!result.ok) {
      const found = await culprits(ruleset);
      await refuse(revision, 'rejected', found.length > 0 ? found : [{ rule_id: null, message: result.message }]);
      return;
    }
    answer(revision.rev, 'trial');
    // The way to the server is open whatever is cut: one need not wait for the other.
    const [reason] = await Promise.all([parts.verify(), connections.cut(ruleset)]);
    if (reason !== undefined) {
      await goBack();
      const where = before === 0 ? 'The rules were taken away again' : `Revision ${before} is back`;
      await refuse(revision, 'rolled_back', [
        { rule_id: null, message: `With these rules the server could not be reached: ${reason}. ${where}.` },
      ]);
      return;
    }
    await remember({ confirmed: revision, trial: null, refused: null });
    answer(revision.rev, 'applied');
    await keepForBoot();
    fingerprint = await fingerprintNow();
  }

  async function take(revision: Revision): Promise<void> {
    const { confirmed, refused } = state;
    if (hashOf(revision) !== revision.hash) {
      answer(revision.rev, 'rejected', [{ rule_id: null, message: 'The rules do not have the hash that came with them.' }]);
    } else if (confirmed !== null && revision.rev < confirmed.rev) {
      const message = `Revision ${revision.rev} is older than revision ${confirmed.rev}, which this device has.`;
      answer(revision.rev, 'rejected', [{ rule_id: null, message }]);
    } else if (refused?.rev === revision.rev && refused.hash === revision.hash) {
      answer(revision.rev, refused.state, refused.errors);
    } else if (loaded !== null && confirmed !== null && confirmed.hash === revision.hash && loaded.hash === revision.hash) {
      // The same rules under a higher number: nothing to try.
      if (confirmed.rev !== revision.rev) {
        loaded = revision;
        await remember({ confirmed: revision, refused: null });
      }
      answer(revision.rev, 'applied');
    } else {
      await tryOut(revision).catch(async (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (loaded?.rev === revision.rev && state.confirmed?.rev !== revision.rev) await goBack();
        answer(revision.rev, 'rejected', errorsOf([{ rule_id: null, message: `The agent could not do it: ${message}` }]));
      });
    }
  }

  let waiting: Revision | undefined;

  const enforcer: Enforcer = {
    start: () =>
      inTurn(async () => {
        const kept = await store.read();
        if (kept !== undefined) state = kept;
        const { trial, confirmed } = state;
        if (await isAnother()) beginCounting();
        counters = (await countersNow()).map(({ name }) => name);
        if (confirmed === null && trial === null) {
          // A table of ours that nobody confirmed is left over from a start that did not end well.
          if (await isLoaded()) await takeAway();
        } else {
          await goBack();
        }
        if (loaded !== null) {
          const life = await lifeNow();
          if (life !== state.life) await remember({ life }).catch(() => undefined);
        }
        if (trial !== null) {
          const message = 'The agent ended before the rules had proved that the server can be reached; they were taken back.';
          await remember({ trial: null, refused: { ...trial, state: 'rolled_back', errors: [{ rule_id: null, message }] } });
          answer(trial.rev, 'rolled_back', [{ rule_id: null, message }]);
        }
      }),

    want: (desired) => {
      const { rev, hash, defaults, rules, block_list } = desired;
      waiting = { rev, hash, defaults, rules, block_list };
      return inTurn(async () => {
        const revision = waiting;
        waiting = undefined;
        if (revision !== undefined) await take(revision);
      });
    },

    lookAgain: () => {
      // One look is as good as many.
      if (look_waits) return queue;
      look_waits = true;
      return inTurn(async () => {
        look_waits = false;
        if (loaded === null || performance.now() < quiet_until) return;
        const found = await fingerprintNow();
        if (found !== undefined && found === fingerprint) return;
        // By a clock that nobody sets.
        const time = performance.now();
        tampered = [...tampered.filter((before) => before > time - TAMPERED_WINDOW_MS), time];
        const backed_off = tampered.length > TAMPERED_AT_ONCE;
        parts.onTampered(backed_off);
        if (backed_off) {
          // Who changes it so often does it on purpose, or is a program at odds with this one: neither is won by being faster.
          quiet_until = time + TAMPERED_WINDOW_MS;
          setTimeout(() => void enforcer.lookAgain(), TAMPERED_WINDOW_MS + 1).unref();
          return;
        }
        if (!(await isLoaded()) || (await isAnother())) beginCounting();
        await load(loaded, true);
        fingerprint = await fingerprintNow();
        await remember({ life: await lifeNow() });
      });
    },

    disable: () =>
      inTurn(async () => {
        clearTimeout(expiry);
        await takeAway();
        await remember({ ...EMPTY });
        await keepForBoot();
      }),

    async counters() {
      const { epoch } = state;
      const listing = loaded === null ? '' : ((await nft.listCounters(TABLE)) ?? '');
      const revision = loaded;
      // The table was taken away meanwhile: of which one this is cannot be told.
      if (epoch !== state.epoch) return await enforcer.counters();
      if (revision === null) return { epoch: state.epoch, counters: [], drops: '' };
      if (counted?.listing !== listing || counted.revision !== revision)
        counted = { listing, revision, meaning: meaningOf(readCounters(listing), revision) };
      const { counters: counts, drops } = counted.meaning;
      return { epoch: state.epoch, counters: counts, drops: `${state.epoch} ${drops}` };
    },

    appliedRev: () => loaded?.rev ?? 0,
    rulesetHash: () => loaded?.hash ?? null,
    ruleset: () => ({
      defaults: loaded?.defaults ?? { inbound: 'allow', outbound: 'allow' },
      rules: loaded?.rules ?? [],
      block_list: loaded?.block_list ?? [],
      control: [],
    }),
  };
  return enforcer;
}
