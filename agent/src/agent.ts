import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { platform } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type Capabilities,
  type Desired,
  type DeviceEvent,
  type Hello,
  REPORT_INTERVAL_MS,
  type Told,
  TRIAL_MS,
} from '@palisade/contract/agent';
import { trySet } from '@palisade/scanner/set-trial';
import { Control } from '#control/control.ts';
import { firewallStateSchema } from '#firewall/applied.ts';
import { type Conntrack, createConntrack, hasConntrack } from '#firewall/conntrack.ts';
import { createEnforcer, type Enforcer } from '#firewall/enforcer.ts';
import { createMonitor } from '#firewall/monitor.ts';
import { createNft, type Nft, runProgram } from '#firewall/nft.ts';
import { kernelNow, localAddresses } from '#firewall/this-kernel.ts';
import { AGENT_VERSION, askRevoked, downloadSet, type Identity, sendFound, verify } from '#link/identity.ts';
import { Link } from '#link/link.ts';
import { createResolver, type Resolver } from '#link/resolver.ts';
import { createRevocation, type Revocation } from '#link/revocation.ts';
import { createServerClock } from '#link/server-clock.ts';
import { createWebProtection } from '#names/create-web-protection.ts';
import type { WebProtection } from '#names/web-protection.ts';
import { seenSchema } from '#scan/catch-up.ts';
import { Quarantine } from '#scan/quarantine.ts';
import { FOUND_FOLDER, QUARANTINE_FOLDER, Scans } from '#scan/scans.ts';
import { SecondLooks } from '#scan/second-looks.ts';
import { openSignatureSets, type SignatureSets } from '#scan/signature-sets.ts';
import { WatchedFolders } from '#scan/watched-folders.ts';
import { createWatching } from '#scan/watching.ts';
import { createMeasuredSessions, type MeasuredSessions } from '#telemetry/measured-sessions.ts';
import { createPosture } from '#telemetry/posture.ts';
import { Proc } from '#telemetry/proc.ts';
import { takeStock } from '#telemetry/stock.ts';
import { AgentStatus } from './agent-status.ts';
import { capabilitiesOf, probeFirewall } from './capabilities.ts';
import { DeviceReports, Sequence } from './device-reports.ts';
import { createStore, writeWhole } from './store.ts';
import { UnnotedEvents } from './unnoted-events.ts';

/** The agent's folders: persistent state, and runtime files. */
export interface Folders {
  /** `/var/lib/palisade-agent` */
  state: string;
  /** `/run/palisade-agent` */
  run: string;
}

/** The nftables rules that the computer loads at boot, before its network starts. */
export const BOOT_FILE = 'boot.nft';
/** While this file exists, no files are sent from this computer. */
export const LOOKS_OFF_FILE = 'second-looks-off';
const LOOKS_OFF = 'Files are not sent from this computer: that was switched off on it.';
/** Delay between the latest desired state and the garbage collection after it, in ms. */
const REST_AFTER_MS = 5_000;

export interface AgentOptions {
  identity: Identity;
  folders: Folders;
  log: (line: string) => void;
  signal: AbortSignal;
  /** The folder of the rules bundled with the agent; undefined if there are none. */
  signatures: string | undefined;
  /** Environment variables; a display that they name is tried first. */
  environment: NodeJS.ProcessEnv;
  /** Times in ms that replace the defaults. */
  times?: Partial<Record<'report' | 'trial' | 'revoked_grace' | 'warming' | 'back_off', number | undefined>>;
}

/** Resolves after `ms`, or earlier when `signal` aborts. */
function waitUntil(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise<void>((ended) => {
    if (signal.aborted) return ended();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      ended();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** Standard output of a program; undefined if the program does not exist or fails. */
const outputOf = (program: string, ...args: string[]): Promise<string | undefined> =>
  runProgram([program], args).then(
    ({ code, stdout }) => (code === 0 ? stdout : undefined),
    () => undefined,
  );

/** Runs the agent until `signal` aborts or the device is permanently revoked. Returns the reason. */
export async function runAgent(options: AgentOptions): Promise<'stopped' | 'revoked'> {
  return (await Agent.open(options)).run();
}

/** Parts of the agent that need asynchronous work, and so are made before the constructor runs. */
interface Opened {
  resolver: Resolver;
  events: UnnotedEvents;
  nft: Nft;
  conntrack: Conntrack | undefined;
  capabilities: Capabilities;
  sets: SignatureSets | undefined;
}

/** Creates the parts of the agent, passes the server's desired state to them, and closes them. */
class Agent {
  readonly #options: AgentOptions;
  readonly #resolver: Resolver;
  readonly #events: UnnotedEvents;
  readonly #capabilities: Capabilities;
  readonly #sets: SignatureSets | undefined;
  readonly #instance = randomBytes(16).toString('hex');
  readonly #clock = createServerClock();
  readonly #sequence = new Sequence();
  readonly #status: AgentStatus;
  readonly #revocation: Revocation;
  readonly #proc: Proc | undefined;
  readonly #enforcer: Enforcer | undefined;
  readonly #scans: Scans | undefined;
  readonly #second_looks: SecondLooks | undefined;
  readonly #watched: WatchedFolders | undefined;
  readonly #measured: MeasuredSessions;
  readonly #control: Control;
  readonly #web_protection: WebProtection | undefined;
  readonly #link: Link;
  readonly #reports: DeviceReports;
  /** The latest desired state from the server. */
  #desired: Desired | undefined;
  #rest_timer: NodeJS.Timeout | undefined;
  /** Sends the next report immediately. */
  #reportNow = () => {};
  #is_revoked = false;

  static async open(options: AgentOptions): Promise<Agent> {
    const { identity, folders, log, signal, signatures } = options;
    const resolver = createResolver(new URL(identity.server));
    const events = await UnnotedEvents.open(folders.state, log);
    const firewall_reason = await probeFirewall();
    const has_conntrack = firewall_reason === undefined && (await hasConntrack(['conntrack']));
    const sets =
      signatures === undefined
        ? undefined
        : await openSignatureSets({
            folder: join(folders.state, 'signatures'),
            built_in: signatures,
            log,
            now: Date.now,
            download: (set, path) => downloadSet(identity, set, path, resolver.lookup),
            test: (files) => trySet(files, signal),
          });
    return new Agent(options, {
      resolver,
      events,
      nft: createNft(['nft'], folders.run),
      conntrack: has_conntrack ? createConntrack(['conntrack'], folders.run) : undefined,
      capabilities: capabilitiesOf({ firewall_reason, has_conntrack, has_signatures: signatures !== undefined }),
      sets,
    });
  }

  private constructor(options: AgentOptions, { resolver, events, nft, conntrack, capabilities, sets }: Opened) {
    const { identity, folders, log, times } = options;
    this.#options = options;
    this.#resolver = resolver;
    this.#events = events;
    this.#capabilities = capabilities;
    this.#sets = sets;
    this.#status = new AgentStatus(folders.run, identity.device_name, log);
    this.#revocation = createRevocation(() => performance.now(), times?.revoked_grace);
    this.#proc = platform() === 'linux' ? new Proc() : undefined;
    this.#enforcer = capabilities.firewall === 'nftables' ? this.#createEnforcer(nft, conntrack) : undefined;
    this.#scans = sets && this.#createScans(sets);
    this.#measured = this.#createMeasuredSessions();
    this.#second_looks = this.#scans && this.#createSecondLooks();
    this.#watched = this.#scans && this.#proc && this.#createWatchedFolders(this.#scans);
    this.#control = new Control({
      server: new URL(identity.server),
      identity: { device_id: identity.device_id, token: identity.token },
      lookup: resolver.lookup,
      folder: folders.run,
      environment: options.environment,
      log,
    });
    this.#web_protection =
      platform() === 'linux'
        ? createWebProtection({ identity, folder: folders.state, lookup: resolver.lookup, wait: (ms) => this.#wait(ms), log })
        : undefined;
    this.#link = this.#createLink();
    this.#reports = this.#createReports(nft);
  }

  /** Runs until the signal aborts or the device is permanently revoked. Returns the reason. */
  async run(): Promise<'stopped' | 'revoked'> {
    const { signal, log } = this.#options;
    const enforcer = this.#enforcer;
    signal.addEventListener('abort', () => this.#link.stop());
    await enforcer?.start();
    void this.#web_protection?.start().then(() => this.#reportNow());
    const monitor =
      enforcer && createMonitor(['nft'], () => void enforcer.lookAgain().catch((error: unknown) => log(String(error))));
    const running = this.#link.run();
    const reporting = this.#reportRegularly();
    await running;
    monitor?.stop();
    await this.#closeParts();
    if (this.#is_revoked) {
      await this.#web_protection?.want(null);
      log('this device was revoked: its rules are taken away');
      await enforcer?.disable();
      return 'revoked';
    }
    await reporting;
    await this.#reports.keep().catch(() => log('who was dropped could not be kept on the disk'));
    return 'stopped';
  }

  async #reportRegularly(): Promise<void> {
    const { signal, log, times } = this.#options;
    while (!signal.aborted && !this.#is_revoked) {
      await this.#report().catch((error: unknown) => log(`a report failed: ${String(error)}`));
      const asked = new Promise<void>((report) => (this.#reportNow = report));
      await Promise.race([this.#wait(times?.report ?? REPORT_INTERVAL_MS), asked]);
    }
  }

  async #report(): Promise<void> {
    await this.#reports.report();
    this.#status.show({
      applied_rev: this.#enforcer?.appliedRev() ?? 0,
      firewall: this.#capabilities.firewall_reason ?? 'nftables',
    });
  }

  async #closeParts(): Promise<void> {
    this.#watched?.close();
    this.#control.close();
    await this.#web_protection?.close();
    this.#second_looks?.close();
    await this.#scans?.close();
  }

  /** Passes a desired state to each part. */
  #onDesired(desired: Desired): void {
    const { log } = this.#options;
    // An unchanged state is the same object.
    if (desired !== this.#desired) this.#restSoon();
    this.#desired = desired;
    this.#control.want(desired.control);
    this.#scans?.want(desired);
    this.#second_looks?.want(desired.second_looks);
    this.#measured.want(desired.remote_sessions);
    void this.#web_protection
      ?.want(desired.web_protection)
      .then((is_new) => (is_new ? this.#reportNow() : undefined))
      .catch((error: unknown) => log(`web protection: ${String(error)}`));
    void this.#watched?.want(desired);
    void this.#sets?.want(desired.signatures).then((are_new) => (are_new ? this.#scans?.signaturesChanged() : undefined));
    if (this.#enforcer === undefined) {
      const errors = [{ rule_id: null, message: this.#capabilities.firewall_reason ?? '' }];
      this.#link.say({ kind: 'ack', rev: desired.rev, state: 'unavailable', applied_rev: 0, errors });
    } else {
      this.#enforcer.want(desired).catch((error: unknown) => log(`the rules could not be taken: ${String(error)}`));
    }
  }

  #onNoted(noted: Extract<Told, { kind: 'noted' }>): void {
    this.#events.noted(noted.events);
    if (noted.seq === null) return;
    this.#scans?.noted(noted.seq);
    this.#reports.noted(noted.seq);
  }

  #onConnected(): void {
    this.#revocation.hear(false);
    for (const frame of this.#events.frames) this.#link.say(frame);
    this.#scans?.resend();
  }

  async #askRevoked(): Promise<boolean | undefined> {
    const answer = await askRevoked(this.#options.identity);
    if (this.#revocation.hear(answer)) {
      this.#is_revoked = true;
      this.#link.stop();
    }
    return answer;
  }

  #happened(event: DeviceEvent): void {
    this.#events.add(event, (frame) => this.#link.say(frame));
  }

  #hello(): Hello {
    const { device_id, token } = this.#options.identity;
    return {
      kind: 'hello',
      device_id,
      token,
      instance: this.#instance,
      agent_version: AGENT_VERSION,
      applied_rev: this.#enforcer?.appliedRev() ?? 0,
      ruleset_hash: this.#enforcer?.rulesetHash() ?? null,
      capabilities: this.#maySendFiles()
        ? this.#capabilities
        : { ...this.#capabilities, second_look: false, second_look_reason: LOOKS_OFF },
      at: new Date().toISOString(),
    };
  }

  /** False after `palisade-agent second-looks off`, by which the owner of this computer forbids sending files. */
  #maySendFiles(): boolean {
    return !existsSync(join(this.#options.folders.state, LOOKS_OFF_FILE));
  }

  #wait(ms: number): Promise<void> {
    return waitUntil(this.#options.signal, ms);
  }

  /** Schedules a garbage collection: V8 would otherwise keep the megabytes of a parsed state for hours. */
  #restSoon(): void {
    clearTimeout(this.#rest_timer);
    this.#rest_timer = setTimeout(
      () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
      REST_AFTER_MS,
    ).unref();
  }

  #createEnforcer(nft: Nft, conntrack: Conntrack | undefined): Enforcer {
    const { identity, folders, log, times } = this.#options;
    return createEnforcer({
      nft,
      conntrack,
      localAddresses,
      now: this.#clock.now,
      wait: (ms) => this.#wait(ms),
      warming_ms: times?.warming,
      kernel: kernelNow(),
      openConnections: () => this.#proc?.connections() ?? [],
      store: createStore(join(folders.state, 'firewall.json'), firewallStateSchema),
      keepForBoot: (text) => writeWhole(join(folders.state, BOOT_FILE), text),
      control: this.#resolver.control,
      verify: () => verify(identity, times?.trial ?? TRIAL_MS),
      say: (ack) => {
        log(`revision ${ack.rev}: ${ack.state}${ack.errors.map(({ message }) => `, ${message}`).join('')}`);
        this.#link.say(ack);
      },
      onTampered: (backed_off) => {
        log(`another program changed our table${backed_off ? ' again and again: waiting a minute' : '; it was put back'}`);
        this.#happened({ event: 'tampered', backed_off });
      },
    });
  }

  #createScans(sets: SignatureSets): Scans {
    const { folders, log } = this.#options;
    return new Scans({
      state: folders.state,
      signatures: sets.files,
      say: (frame) => this.#link.say(frame),
      happened: (event) => this.#happened(event),
      log,
      wait: (ms) => this.#wait(ms),
      isSaid: (order_id) => this.#events.has((event) => event.event === 'order_done' && event.order_id === order_id),
      nextSeq: () => this.#sequence.next(),
    });
  }

  #createMeasuredSessions(): MeasuredSessions {
    const { folders, log } = this.#options;
    const listening = async () => (await this.#proc?.listening()) ?? [];
    return createMeasuredSessions({
      state: folders.state,
      take: () => takeStock({ listening, run: outputOf, now: Date.now }),
      isSaid: (id) => this.#events.has((event) => event.event === 'session_changes' && event.session_id === id),
      say: (session_id, changes) => this.#happened({ event: 'session_changes', session_id, measured: changes }),
      log,
    });
  }

  #createSecondLooks(): SecondLooks {
    const { identity, folders, log } = this.#options;
    const { lookup } = this.#resolver;
    return new SecondLooks({
      quarantine: new Quarantine(join(folders.state, QUARANTINE_FOLDER)),
      folder: join(folders.state, FOUND_FOLDER),
      send: (order_id, file, stop) => sendFound(identity, order_id, file, { lookup, signal: stop }),
      isAllowed: () => this.#maySendFiles(),
      happened: (event) => this.#happened(event),
      log,
      wait: (ms) => this.#wait(ms),
    });
  }

  #createWatchedFolders(scans: Scans): WatchedFolders {
    const { folders, log } = this.#options;
    const watching = createWatching({
      store: createStore(join(folders.state, 'watched-until.json'), seenSchema),
      read: (file, lane) => scans.readNew(file, lane),
      log,
      now: Date.now,
    });
    return new WatchedFolders(watching, resolve(folders.state));
  }

  #createLink(): Link {
    return new Link({
      server: new URL(this.#options.identity.server),
      resolver: this.#resolver,
      hello: () => this.#hello(),
      onDesired: (desired) => this.#onDesired(desired),
      onState: (state, reason) => this.#status.hear(state, reason),
      wait: (ms) => this.#wait(ms),
      back_off_most: this.#options.times?.back_off,
      onNoted: (noted) => this.#onNoted(noted),
      onSkew: this.#clock.hear,
      onConnected: () => this.#onConnected(),
      askRevoked: () => this.#askRevoked(),
    });
  }

  #createReports(nft: Nft): DeviceReports {
    const enforcer = this.#enforcer;
    return new DeviceReports({
      folders: this.#options.folders,
      nft,
      enforcer,
      proc: this.#proc,
      posture: createPosture({
        defaults: () => enforcer?.ruleset().defaults,
        signatures: () => this.#sets?.fresh(),
        now: Date.now,
      }),
      watched: this.#watched,
      web_protection: this.#web_protection,
      sequence: this.#sequence,
      happened: (event) => this.#happened(event),
      say: (frame) => this.#link.say(frame),
    });
  }
}
