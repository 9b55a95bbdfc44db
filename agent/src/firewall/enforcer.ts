import { createHash } from 'node:crypto';
import type { Ack, Counter, Desired } from '@palisade/contract/agent';
import { reachOfDevice } from '@palisade/contract/device-rule';
import type { Action } from '@palisade/contract/firewall';
import { blocksAnything } from '@palisade/contract/firewall-steps';
import type { Ruleset } from '@palisade/contract/firewall-traffic';
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
import { type Connections, type ConnectionsParts, createConnections } from './connections.ts';
import { type Begun, type CounterNow, type NftResult, readCounters } from './nft.ts';
import { findRefusedRules, type RefusedRule } from './refused-rules.ts';

/** Time for which everything passes at the first load, so that the kernel tracks open flows of protocols other than TCP, in ms. */
const WARMING_MS = 2_000;
/** Changes by other programs that are undone at once per `TAMPERED_WINDOW_MS`. After more, the enforcer waits for that time. */
const TAMPERED_AT_ONCE = 3;
const TAMPERED_WINDOW_MS = 60_000;
/** Longest interval between checks for expired temporary rules, in ms. */
const EXPIRY_LOOK_MS = 60_000;

export interface EnforcerParts extends ConnectionsParts {
  store: Store<FirewallState>;
  /** Writes the transaction that the computer loads at boot, before its network starts. */
  keepForBoot: (text: string) => Promise<void>;
  /** Address and port of the server, as literals. */
  control: () => Promise<readonly ControlAddress[]>;
  /** Requests a nonce from the server over a new connection; the reason of a failure, or undefined. */
  verify: () => Promise<string | undefined>;
  say: (ack: Ack) => void;
  onTampered: (backed_off: boolean) => void;
  /** Identifies this start of the kernel and this network namespace. */
  kernel: string;
  /** Time for which everything passes at the first load, in ms. */
  warming_ms?: number | undefined;
  /** The current time by the server's clock, in ms since 1970. */
  now: () => number;
  wait: (ms: number) => Promise<void>;
}

/** Values of the rules' counters. */
interface Counted {
  /** Time at which the counters started at 0. */
  epoch: string;
  counters: Counter[];
  /** Changes whenever packets may have been dropped. */
  drops: string;
}

export interface Enforcer {
  /** Restores the confirmed revision, and undoes an unfinished trial. */
  start(): Promise<void>;
  /** Applies a desired state. States are applied one at a time; of several queued states only the latest is applied. */
  want(desired: Pick<Desired, 'rev' | 'hash' | 'defaults' | 'rules' | 'block_list'>): Promise<void>;
  /** Checks this agent's table after a change in the kernel's tables, and restores it if it was changed. */
  lookAgain(): Promise<void>;
  /** Removes the table, and forgets the confirmed revision. */
  disable(): Promise<void>;
  counters(): Promise<Counted>;
  appliedRev(): number;
  rulesetHash(): string | null;
  /** The rules that the kernel has now. */
  ruleset(): Ruleset;
}

const EMPTY: Pick<FirewallState, 'confirmed' | 'trial' | 'refused'> = { confirmed: null, trial: null, refused: null };
const TABLE = ['inet', 'palisade'];
const chainOrRule = z.union([z.object({ chain: z.unknown() }), z.object({ rule: z.unknown() })]);
const tableSchema = z.object({ table: z.object({ family: z.string(), name: z.string(), handle: z.int() }) });
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** Shortens error messages for an ack. */
const errorsOf = (errors: readonly { rule_id: string | null; message: string }[]) =>
  errors.map(({ rule_id, message }) => ({ rule_id, message: lineOf(message, 400) }));

/** Maps the kernel's counters to the rules of a revision. */
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
  const counts = found.flatMap(({ name, packets, bytes }) => {
    // The counter of a disabled rule is still reported.
    const of = of_name.get(name) ?? ruleOf(name);
    if (name === LISTED_COUNTER || (of !== undefined && action_of.get(of) === 'block')) drops.push(`${name} ${packets}`);
    return of === undefined ? [] : [{ of, packets, bytes }];
  });
  return { counters: counts, drops: drops.join() };
}

/** Loads rules into the kernel on trial, keeps confirmed ones, and undoes changes by other programs. */
class NftEnforcer implements Enforcer {
  readonly #parts: EnforcerParts;
  readonly #connections: Connections;
  #state: FirewallState;
  /** The revision in the kernel. */
  #loaded: Revision | null = null;
  #counter_names: readonly string[] = [];
  /** Fingerprint of the table after the last change by the agent. */
  #fingerprint: string | undefined;
  #rules_loaded = 0;
  #tampered: number[] = [];
  #quiet_until = 0;
  #expiry: NodeJS.Timeout | undefined;
  /** Cache of the parsed counters by their listing, which does not change without traffic. */
  #counted: { listing: string; revision: Revision; meaning: Pick<Counted, 'counters' | 'drops'> } | undefined;
  #look_waits = false;
  /** The latest queued revision. */
  #waiting: Revision | undefined;
  #queue = Promise.resolve();

  constructor(parts: EnforcerParts) {
    this.#parts = parts;
    this.#connections = createConnections(parts);
    this.#state = { ...EMPTY, epoch: new Date(parts.now()).toISOString(), life: null };
  }

  /** Runs work in sequence, after all earlier work. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  async #rulesetOf(revision: Revision): Promise<Ruleset> {
    return {
      defaults: revision.defaults,
      rules: revision.rules
        .filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > this.#parts.now())
        .map(reachOfDevice),
      block_list: revision.block_list,
      control: await this.#parts.control(),
    };
  }

  async #isLoaded(): Promise<boolean> {
    return (await this.#parts.nft.list(['table', 'inet', 'palisade'])) !== undefined;
  }

  async #countersNow() {
    return readCounters((await this.#parts.nft.listCounters(TABLE)) ?? '');
  }

  /** Fingerprint of the block list and of chains and rules with their kernel handles. Undefined when the number of rules differs from the loaded one. */
  async #fingerprintNow(): Promise<string | undefined> {
    const [table, ...lists] = await Promise.all([
      this.#parts.nft.listJson(['table', 'inet', 'palisade']),
      ...[4, 6].map((family) => this.#parts.nft.listJson(['set', 'inet', 'palisade', `listed${family}`])),
    ]);
    const entries = (table ?? []).filter((entry) => chainOrRule.safeParse(entry).success);
    const rules = entries.filter((entry) => 'rule' in chainOrRule.parse(entry));
    return rules.length === this.#rules_loaded ? digest(JSON.stringify([entries, lists])) : undefined;
  }

  #refusedRules(ruleset: Ruleset): Promise<RefusedRule[]> {
    return findRefusedRules(ruleset.rules, async (rules) => {
      const result = await this.#parts.nft.check(compile({ ...ruleset, rules: [...rules] }).text);
      return result.ok ? undefined : result.message;
    });
  }

  /** Starts a new epoch for a new table. The epoch is always later than the previous one, even if the clock was set back. */
  #beginCounting(): void {
    this.#counter_names = [];
    this.#state = {
      ...this.#state,
      epoch: new Date(Math.max(this.#parts.now(), Date.parse(this.#state.epoch) + 1)).toISOString(),
    };
  }

  /** Identifies this agent's table in the kernel; null if there is no table or it has no handle. */
  async #lifeNow(): Promise<string | null> {
    const tables = (await this.#parts.nft.listJson(['tables'])) ?? [];
    const ours = tables
      .map((entry) => tableSchema.safeParse(entry).data?.table)
      .find((table) => table?.family === TABLE[0] && table?.name === TABLE[1]);
    return ours === undefined ? null : `${this.#parts.kernel} ${ours.handle}`;
  }

  /** Whether the table was created again since the last counters, for example by a reboot. */
  async #isAnother(): Promise<boolean> {
    const life = await this.#lifeNow();
    return this.#state.life !== null && life !== null && life !== this.#state.life;
  }

  /** Loads a revision, and cuts connections that it forbids. `is_lost`: another program changed the table at an unknown time. */
  async #load(revision: Revision, is_lost = false): Promise<NftResult> {
    const ruleset = await this.#rulesetOf(revision);
    const result = await this.#put(revision, ruleset, { is_lost });
    if (result.ok) await this.#connections.cut(ruleset);
    return result;
  }

  /**
   * Loads the rules of a revision into the kernel, the first time in two steps. It does not cut open connections. `begun` is a started nft process, and `marked`
   * resolves once earlier writes are on the disk.
   */
  async #put(
    revision: Revision,
    ruleset: Ruleset,
    { begun, marked, is_lost = false }: { begun?: Begun | undefined; marked?: Promise<void>; is_lost?: boolean } = {},
  ): Promise<NftResult> {
    const is_cold = this.#loaded === null && !(await this.#isLoaded());
    if (is_cold) {
      if (blocksAnything(ruleset)) {
        const checked = await this.#parts.nft.check(compile(ruleset).text);
        if (!checked.ok) return checked;
        const warmed = await this.#parts.nft.apply(compileWarming());
        if (!warmed.ok) return warmed;
        await this.#parts.wait(this.#parts.warming_ms ?? WARMING_MS);
      }
      this.#beginCounting();
    }
    const given = await this.#connections.olderFor(ruleset, is_cold || is_lost);
    const compiled = compile(ruleset, this.#counter_names, given);
    await marked;
    let result = await (begun ?? { load: this.#parts.nft.apply }).load(compiled.text);
    if (!result.ok && !is_cold) {
      // The transaction deletes counters that another program may have removed already.
      const there = (await this.#countersNow()).map(({ name }) => name);
      if (there.join() !== this.#counter_names.join()) result = await this.#parts.nft.apply(compile(ruleset, there, given).text);
    }
    if (!result.ok) {
      if (is_cold) await this.#parts.nft.apply(compileRemoval());
      return result;
    }
    // Stored before the first report, so that after a crash the next agent recognizes the table and its counters.
    if (is_cold) await this.#remember({ life: await this.#lifeNow() }).catch(() => undefined);
    this.#counter_names = compiled.counters;
    this.#connections.onLoaded(ruleset, given);
    this.#rules_loaded = compiled.rules;
    this.#loaded = revision;
    this.#planExpiry(revision);
    return result;
  }

  async #remember(next: Partial<FirewallState>): Promise<void> {
    this.#state = { ...this.#state, ...next };
    await this.#parts.store.write(this.#state);
  }

  async #keepForBoot(): Promise<void> {
    await this.#parts.keepForBoot(
      this.#state.confirmed === null ? compileRemoval() : compile(await this.#rulesetOf(this.#state.confirmed)).text,
    );
  }

  async #takeAway(): Promise<void> {
    await this.#parts.nft.apply(compileRemoval());
    this.#loaded = null;
    this.#counter_names = [];
    this.#connections.onTakenAway();
    this.#fingerprint = undefined;
  }

  /** Restores the state before a trial. */
  async #goBack(): Promise<void> {
    if (this.#state.confirmed === null) await this.#takeAway();
    else {
      await this.#load(this.#state.confirmed);
      this.#fingerprint = await this.#fingerprintNow();
    }
  }

  /** Schedules a reload at the next expiry of a temporary rule, which needs no connection to the server. */
  #planExpiry({ rules }: Revision): void {
    clearTimeout(this.#expiry);
    const times = rules.flatMap(({ expires_at }) => (expires_at === null ? [] : Date.parse(expires_at)));
    const next = Math.min(...times.filter((time) => time > this.#parts.now()));
    if (!Number.isFinite(next)) return;
    const look = () => {
      if (this.#parts.now() < next) wait();
      else void this.#reload();
    };
    // Timers stop while the computer is suspended, so the clock is checked at short intervals.
    const wait = () => (this.#expiry = setTimeout(look, Math.min(next - this.#parts.now() + 1, EXPIRY_LOOK_MS)).unref());
    wait();
  }

  #reload(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#loaded === null) return;
      await this.#load(this.#loaded);
      this.#fingerprint = await this.#fingerprintNow();
    });
  }

  #answer(rev: number, ack: Ack['state'], errors: Ack['errors'] = []): void {
    this.#parts.say({ kind: 'ack', rev, state: ack, applied_rev: this.#loaded?.rev ?? 0, errors });
  }

  async #refuse(
    revision: Revision,
    how: 'rolled_back' | 'rejected',
    errors: readonly { rule_id: string | null; message: string }[],
  ): Promise<void> {
    const kept = errorsOf(errors);
    await this.#remember({ trial: null, refused: { rev: revision.rev, hash: revision.hash, state: how, errors: kept } });
    this.#answer(revision.rev, how, kept);
  }

  async #tryOut(revision: Revision): Promise<void> {
    const before = this.#loaded?.rev ?? 0;
    // The trial is recorded on disk before the rules are loaded; if the write fails, they are not loaded. nft starts and the rules are compiled during the write.
    const marked = this.#remember({ trial: { rev: revision.rev, hash: revision.hash } });
    marked.catch(() => undefined);
    if (this.#loaded === null) await marked;
    const begun = this.#loaded === null ? undefined : await this.#parts.nft.begin();
    const ruleset = await this.#rulesetOf(revision);
    const result = await this.#put(revision, ruleset, { begun, marked }).finally(() => begun?.cancel());
    if (!result.ok) {
      const found = await this.#refusedRules(ruleset);
      await this.#refuse(revision, 'rejected', found.length > 0 ? found : [{ rule_id: null, message: result.message }]);
      return;
    }
    this.#answer(revision.rev, 'trial');
    // Traffic to the server is always allowed, so cutting connections and verifying can run in parallel.
    const [reason] = await Promise.all([this.#parts.verify(), this.#connections.cut(ruleset)]);
    if (reason !== undefined) {
      await this.#goBack();
      const where = before === 0 ? 'The rules were taken away again' : `Revision ${before} is back`;
      await this.#refuse(revision, 'rolled_back', [
        { rule_id: null, message: `With these rules the server could not be reached: ${reason}. ${where}.` },
      ]);
      return;
    }
    await this.#remember({ confirmed: revision, trial: null, refused: null });
    this.#answer(revision.rev, 'applied');
    await this.#keepForBoot();
    this.#fingerprint = await this.#fingerprintNow();
  }

  async #take(revision: Revision): Promise<void> {
    const { confirmed, refused } = this.#state;
    if (hashOf(revision) !== revision.hash) {
      this.#answer(revision.rev, 'rejected', [{ rule_id: null, message: 'The rules do not have the hash that came with them.' }]);
    } else if (confirmed !== null && revision.rev < confirmed.rev) {
      const message = `Revision ${revision.rev} is older than revision ${confirmed.rev}, which this device has.`;
      this.#answer(revision.rev, 'rejected', [{ rule_id: null, message }]);
    } else if (refused?.rev === revision.rev && refused.hash === revision.hash) {
      this.#answer(revision.rev, refused.state, refused.errors);
    } else if (
      this.#loaded !== null &&
      confirmed !== null &&
      confirmed.hash === revision.hash &&
      this.#loaded.hash === revision.hash
    ) {
      // The same rules under a higher revision need no trial.
      if (confirmed.rev !== revision.rev) {
        this.#loaded = revision;
        await this.#remember({ confirmed: revision, refused: null });
      }
      this.#answer(revision.rev, 'applied');
    } else {
      await this.#tryOut(revision).catch(async (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (this.#loaded?.rev === revision.rev && this.#state.confirmed?.rev !== revision.rev) await this.#goBack();
        this.#answer(revision.rev, 'rejected', errorsOf([{ rule_id: null, message: `The agent could not do it: ${message}` }]));
      });
    }
  }

  start(): Promise<void> {
    return this.#inTurn(async () => {
      const kept = await this.#parts.store.read();
      if (kept !== undefined) this.#state = kept;
      const { trial, confirmed } = this.#state;
      if (await this.#isAnother()) this.#beginCounting();
      this.#counter_names = (await this.#countersNow()).map(({ name }) => name);
      if (confirmed === null && trial === null) {
        // A table without a confirmed revision is left over from a failed start.
        if (await this.#isLoaded()) await this.#takeAway();
      } else {
        await this.#goBack();
      }
      if (this.#loaded !== null) {
        const life = await this.#lifeNow();
        if (life !== this.#state.life) await this.#remember({ life }).catch(() => undefined);
      }
      if (trial !== null) {
        const message = 'The agent ended before the rules had proved that the server can be reached; they were taken back.';
        await this.#remember({ trial: null, refused: { ...trial, state: 'rolled_back', errors: [{ rule_id: null, message }] } });
        this.#answer(trial.rev, 'rolled_back', [{ rule_id: null, message }]);
      }
    });
  }

  want(desired: Pick<Desired, 'rev' | 'hash' | 'defaults' | 'rules' | 'block_list'>): Promise<void> {
    const { rev, hash, defaults, rules, block_list } = desired;
    this.#waiting = { rev, hash, defaults, rules, block_list };
    return this.#inTurn(async () => {
      const revision = this.#waiting;
      this.#waiting = undefined;
      if (revision !== undefined) await this.#take(revision);
    });
  }

  lookAgain(): Promise<void> {
    // A queued check covers this request.
    if (this.#look_waits) return this.#queue;
    this.#look_waits = true;
    return this.#inTurn(async () => {
      this.#look_waits = false;
      if (this.#loaded === null || performance.now() < this.#quiet_until) return;
      const found = await this.#fingerprintNow();
      if (found !== undefined && found === this.#fingerprint) return;
      // A monotonic clock.
      const time = performance.now();
      this.#tampered = [...this.#tampered.filter((before) => before > time - TAMPERED_WINDOW_MS), time];
      const backed_off = this.#tampered.length > TAMPERED_AT_ONCE;
      this.#parts.onTampered(backed_off);
      if (backed_off) {
        // A program that changes the table this often conflicts with the agent; restoring faster does not help.
        this.#quiet_until = time + TAMPERED_WINDOW_MS;
        setTimeout(() => void this.lookAgain(), TAMPERED_WINDOW_MS + 1).unref();
        return;
      }
      if (!(await this.#isLoaded()) || (await this.#isAnother())) this.#beginCounting();
      await this.#load(this.#loaded, true);
      this.#fingerprint = await this.#fingerprintNow();
      await this.#remember({ life: await this.#lifeNow() });
    });
  }

  disable(): Promise<void> {
    return this.#inTurn(async () => {
      clearTimeout(this.#expiry);
      await this.#takeAway();
      await this.#remember({ ...EMPTY });
      await this.#keepForBoot();
    });
  }

  async counters(): Promise<Counted> {
    const { epoch } = this.#state;
    const listing = this.#loaded === null ? '' : ((await this.#parts.nft.listCounters(TABLE)) ?? '');
    const revision = this.#loaded;
    // The table was replaced during the read, so the listing may belong to either table.
    if (epoch !== this.#state.epoch) return await this.counters();
    if (revision === null) return { epoch: this.#state.epoch, counters: [], drops: '' };
    if (this.#counted?.listing !== listing || this.#counted.revision !== revision)
      this.#counted = { listing, revision, meaning: meaningOf(readCounters(listing), revision) };
    const { counters: counts, drops } = this.#counted.meaning;
    return { epoch: this.#state.epoch, counters: counts, drops: `${this.#state.epoch} ${drops}` };
  }

  appliedRev(): number {
    return this.#loaded?.rev ?? 0;
  }

  rulesetHash(): string | null {
    return this.#loaded?.hash ?? null;
  }

  ruleset(): Ruleset {
    return {
      defaults: this.#loaded?.defaults ?? { inbound: 'allow', outbound: 'allow' },
      rules: this.#loaded?.rules.map(reachOfDevice) ?? [],
      block_list: this.#loaded?.block_list ?? [],
      control: [],
    };
  }
}

export const createEnforcer = (parts: EnforcerParts): Enforcer => new NftEnforcer(parts);
