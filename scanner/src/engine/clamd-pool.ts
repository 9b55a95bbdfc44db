import type { EngineAnswer, StatusDetail } from '@palisade/contract/antivirus';
import type { Content } from '#scanner/reading/content.ts';
import { type ClamdAnswer, type ClamdVersion, clamdVersion, scanWithClamd } from './clamd-client.ts';
import { testClamd } from './clamd-self-test.ts';
import type { EngineLog } from './engine-log.ts';
import { type ScannerAddress, scannerName } from './scanner-url.ts';

/** The pool's answer for a file: a member's verdict, or that no member has read it. */
export type SecondOpinion =
  | { kind: 'given'; answer: EngineAnswer; detail: StatusDetail | null /** `edition()` of the member. */; edition: string }
  /** `asked`: a member started to read it. */
  | { kind: 'missing'; asked: boolean };

/** The state of one clamd. `refused`: it answers, but failed its self-test. */
interface ClamdHealth {
  address: string;
  state: 'untested' | 'trusted' | 'refused' | 'down';
  reason: string | null;
  version: string | null;
  signatures_version: string | null;
}

export interface ClamdPool {
  /** Aborting `signal` ends the wait, and does not count as a fault of the member. */
  scan(content: Content, signal?: AbortSignal): Promise<SecondOpinion>;
  /** An id of engine and signatures, if all trusted members agree; undefined if there is none, or they differ. */
  edition(): string | undefined;
  /** Whether there is a trusted member. */
  ready(): boolean;
  /** Whether the pool is part of the scanner: always with configured members; otherwise from the first one found until all have been away for long. */
  present(): boolean;
  /** No addresses are configured: the pool searches default locations. */
  looked_for: boolean;
  health(): ClamdHealth[];
  close(): Promise<void>;
}

interface Member {
  address: ScannerAddress;
  state: ClamdHealth['state'];
  reason: string | null;
  version: ClamdVersion | undefined;
  active: number;
  /** Timer of the next check. */
  timer: NodeJS.Timeout | undefined;
  looking: Promise<void> | undefined;
  /** Number of scans that failed since its last self-test: its configuration may have changed. */
  doubts: number;
  wait_ms: number;
  looks: number;
}

interface Waiting {
  not: Member | undefined;
  take: (member: Member | undefined) => void;
}

const ENGINE_NAME = 'ClamAV';
/** Maximum concurrent scans: clamd's MaxThreads is 10 by default; further scans would queue there while their time runs. */
const STREAMS_MAXIMUM = 8;
const CONNECT_MS = 3_000;
/** Time limit of a self-test, in ms: it has only a few kB. */
const TEST_MS = 10_000;
/** Interval between checks of a member, and the first interval after a failure, in ms. */
const LOOK_EVERY_MS = 5_000;
const LOOK_AGAIN_MS = 100;
/** Number of checks between self-tests: clamd may have been restarted with another clamd.conf in between. */
const LOOKS_PER_TEST = 12;

/** A member found at a default location is dropped after being away for this many ms: a restart with new signatures takes a minute. */
const LET_GO_MS = 10 * 60_000;

function editionOf(version: ClamdVersion | undefined): string {
  return `${ENGINE_NAME} ${version?.text ?? ''}`;
}

interface ClamdPoolOptions {
  addresses: readonly ScannerAddress[];
  /** For one file, in ms. */
  time_ms: number;
  logger: EngineLog;
  /** Called when a member is available again or has new signatures: waiting files, and files called clean before, may be scanned again. */
  onRenewed: (change: 'back' | 'signatures') => void;
  look_ms?: number | undefined;
  /** No addresses are configured: the pool looks for a clamd, and its absence is no fault. */
  looked_for?: boolean | undefined;
  /** Longest absence of a found clamd before the pool drops it. ms. */
  let_go_ms?: number | undefined;
}

class Clamds implements ClamdPool {
  readonly looked_for: boolean;
  private readonly time_ms: number;
  private readonly logger: EngineLog;
  private readonly onRenewed: ClamdPoolOptions['onRenewed'];
  private readonly look_ms: number;
  private readonly let_go_ms: number;
  private readonly stop = new AbortController();
  private readonly members: readonly Member[];
  private readonly queue: Waiting[] = [];
  /** When a member was last trusted, by `performance.now()`; undefined if none was found. */
  private believed_at: number | undefined;
  private was_present: boolean;
  private readonly testTimes = { connect_ms: CONNECT_MS, time_ms: TEST_MS, signal: this.stop.signal };

  constructor(options: ClamdPoolOptions) {
    const { addresses, time_ms, logger, onRenewed, look_ms = LOOK_EVERY_MS } = options;
    const { looked_for = false, let_go_ms = LET_GO_MS } = options;
    this.time_ms = time_ms;
    this.logger = logger;
    this.onRenewed = onRenewed;
    this.look_ms = look_ms;
    this.looked_for = looked_for;
    this.let_go_ms = let_go_ms;
    this.was_present = !looked_for;
    this.members = addresses.map(
      (address): Member => ({
        address,
        state: 'untested',
        reason: null,
        version: undefined,
        active: 0,
        timer: undefined,
        looking: undefined,
        doubts: 0,
        wait_ms: LOOK_AGAIN_MS,
        looks: 0,
      }),
    );
    for (const member of this.members) this.look(member);
  }

  /** Assigns available members to waiting files; if there are none, the files are answered without. */
  private dispatch(): void {
    for (const waiting of [...this.queue]) {
      const others = this.members.filter((member) => member !== waiting.not);
      const [free] = others
        .filter((member) => member.state === 'trusted' && member.active < STREAMS_MAXIMUM)
        .sort((a, b) => a.active - b.active);
      const hope = others.some((member) => member.state === 'trusted' || member.state === 'untested');
      if (free === undefined && hope && !this.stop.signal.aborted) continue;
      this.queue.splice(this.queue.indexOf(waiting), 1);
      if (free !== undefined) free.active += 1;
      waiting.take(free);
    }
  }

  private take(not: Member | undefined, signal: AbortSignal | undefined): Promise<Member | undefined> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        not,
        take(member) {
          signal?.removeEventListener('abort', leave);
          resolve(member);
        },
      };
      const leave = () => {
        this.queue.splice(this.queue.indexOf(waiting), 1);
        resolve(undefined);
      };
      if (signal?.aborted) return resolve(undefined);
      signal?.addEventListener('abort', leave, { once: true });
      this.queue.push(waiting);
      this.dispatch();
    });
  }

  private become(member: Member, state: Member['state'], reason: string | null): void {
    const facts = { clamd: scannerName(member.address), reason };
    if (state !== member.state || reason !== member.reason) {
      if (state === 'refused') this.logger.error(facts, 'clamd is not believed');
      else if (state === 'trusted') this.logger.info({ ...facts, ...member.version }, 'clamd is believed');
      else if (this.looked_for && !this.was_present) this.logger.debug(facts, 'there is no clamd at a usual place');
      else this.logger.warn(facts, state === 'down' ? 'clamd is not there' : 'clamd failed over a file');
    }
    member.state = state;
    member.reason = reason;
    this.dispatch();
  }

  present(): boolean {
    if (!this.looked_for || this.members.some(({ state }) => state === 'trusted')) return true;
    return this.believed_at !== undefined && performance.now() - this.believed_at < this.let_go_ms;
  }

  /** Logs when the pool drops a found clamd, and releases files that waited for it. */
  private notePresence(): void {
    if (this.members.some(({ state }) => state === 'trusted')) this.believed_at = performance.now();
    const is_present = this.present();
    if (this.was_present && !is_present) {
      this.logger.warn(
        { clamd: this.members.map(({ address }) => scannerName(address)) },
        'the clamd that was found has gone: it is let go',
      );
      this.onRenewed('back');
    }
    this.was_present = is_present;
  }

  /** Asks for the version, and runs the self-test unless nothing has changed since the last one. */
  private async examine(member: Member): Promise<void> {
    const version = await clamdVersion(member.address, this.testTimes);
    if (this.stop.signal.aborted) return;
    if (version.kind === 'failed') return this.become(member, 'down', version.reason);
    const renewed = member.state !== 'trusted' || member.version?.text !== version.text;
    member.looks = renewed ? 0 : (member.looks + 1) % LOOKS_PER_TEST;
    if (member.looks > 0) return;
    const doubts = member.doubts;
    const test = await testClamd(member.address, this.testTimes);
    if (this.stop.signal.aborted) return;
    if (test.kind !== 'passed') return this.become(member, test.kind === 'refused' ? 'refused' : 'down', test.reason);
    // A scan failed during the test: the next check decides.
    if (doubts !== member.doubts) return;
    const change = member.version === undefined || member.version.text === version.text ? 'back' : 'signatures';
    member.version = version;
    this.become(member, 'trusted', null);
    this.notePresence();
    if (renewed) this.onRenewed(change);
  }

  private look(member: Member): void {
    clearTimeout(member.timer);
    member.looking ??= this.examine(member).finally(() => {
      member.looking = undefined;
      if (this.stop.signal.aborted) return;
      this.notePresence();
      const well = member.state === 'trusted';
      member.wait_ms = well ? LOOK_AGAIN_MS : Math.min(this.look_ms, member.wait_ms * 2);
      this.lookIn(member, well ? this.look_ms : member.wait_ms);
    });
  }

  private lookIn(member: Member, wait_ms: number): void {
    clearTimeout(member.timer);
    member.timer = setTimeout(() => this.look(member), wait_ms);
    member.timer.unref();
  }

  /** A scan by it failed: it gets no files until it passes the self-test again, which runs at once. */
  private doubt(member: Member, reason: string): void {
    member.doubts += 1;
    if (member.state !== 'trusted') return;
    this.become(member, 'untested', reason);
    this.look(member);
  }

  private async ask(
    member: Member,
    content: Content,
    signal: AbortSignal | undefined,
  ): Promise<SecondOpinion | { kind: 'failed' }> {
    const version = member.version;
    const began = performance.now();
    const answer: ClamdAnswer = await scanWithClamd(member.address, content, {
      connect_ms: CONNECT_MS,
      time_ms: this.time_ms,
      signal: signal === undefined ? this.stop.signal : AbortSignal.any([this.stop.signal, signal]),
    });
    if (signal?.aborted) return { kind: 'missing', asked: true };
    const duration_ms = Math.round((performance.now() - began) * 1000) / 1000;
    const given = (verdict: EngineAnswer['verdict'], threat: string | null, detail: StatusDetail | null): SecondOpinion => ({
      kind: 'given',
      answer: {
        name: ENGINE_NAME,
        version: version?.version ?? '',
        signatures_version: version?.signatures_version ?? '',
        verdict,
        threat,
        duration_ms,
      },
      detail,
      edition: editionOf(version),
    });
    switch (answer.kind) {
      case 'clean':
        return given('clean', null, null);
      case 'found':
        return given('infected', answer.threat, null);
      case 'limit':
        return given('pending', null, answer.detail);
      case 'failed':
        // Distinguish a slow file, which would be slow again, from a dead clamd.
        if (answer.timed_out && (await clamdVersion(member.address, this.testTimes)).kind === 'version') {
          return given('pending', null, 'time_limit');
        }
        this.doubt(member, answer.reason);
        return { kind: 'failed' };
    }
  }

  async scan(content: Content, signal?: AbortSignal): Promise<SecondOpinion> {
    let failed: Member | undefined;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const member = await this.take(failed, signal);
      if (member === undefined) break;
      const opinion = await this.ask(member, content, signal).finally(() => {
        member.active -= 1;
        this.dispatch();
      });
      if (opinion.kind !== 'failed') return opinion;
      failed = member;
    }
    return { kind: 'missing', asked: failed !== undefined };
  }

  ready(): boolean {
    return this.members.some((member) => member.state === 'trusted');
  }

  edition(): string | undefined {
    const editions = new Set(
      this.members.filter((member) => member.state === 'trusted').map(({ version }) => editionOf(version)),
    );
    const [only] = editions;
    return editions.size === 1 ? only : undefined;
  }

  health(): ClamdHealth[] {
    return this.members.map(({ address, state, reason, version }) => ({
      address: scannerName(address),
      state,
      reason,
      version: version?.version ?? null,
      signatures_version: version?.signatures_version ?? null,
    }));
  }

  async close(): Promise<void> {
    this.stop.abort();
    for (const member of this.members) clearTimeout(member.timer);
    this.dispatch();
    await Promise.all(this.members.flatMap((member) => member.looking ?? []));
  }
}

/**
 * A pool of clamds. Each is trusted only after it has passed its self-test, which is repeated after absence and changes of signatures. A file goes to the member with the
 * fewest pending files, and once to another if that one fails.
 */
export function createClamdPool(options: ClamdPoolOptions): ClamdPool {
  const pool = new Clamds(options);
  return {
    scan: (content, signal) => pool.scan(content, signal),
    ready: () => pool.ready(),
    present: () => pool.present(),
    looked_for: pool.looked_for,
    edition: () => pool.edition(),
    health: () => pool.health(),
    close: () => pool.close(),
  };
}
