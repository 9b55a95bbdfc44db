import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces, platform } from 'node:os';
import { join, resolve } from 'node:path';
import {
  BLOCKED_MAXIMUM,
  type Capabilities,
  type Desired,
  type DeviceEvent,
  type Hello,
  type Listening,
  REPORT_INTERVAL_MS,
  type Said,
  saidSchema,
  TRIAL_MS,
} from '@palisade/contract/agent';
import { parseIp, printIp } from '@palisade/contract/ip-address';
import { trySet } from '@palisade/scanner/set-trial';
import { z } from 'zod';
import { createControl } from '#control/control.ts';
import { bytesOfText } from '#files/name-text.ts';
import { ownSize } from '#files/own-state.ts';
import { firewallStateSchema } from '#firewall/applied.ts';
import { createConntrack, hasConntrack } from '#firewall/conntrack.ts';
import { createDropped } from '#firewall/dropped.ts';
import { createEnforcer, type Enforcer } from '#firewall/enforcer.ts';
import { readForeignTables } from '#firewall/foreign.ts';
import { createMonitor } from '#firewall/monitor.ts';
import { createNft, runProgram } from '#firewall/nft.ts';
import { AGENT_VERSION, askRevoked, downloadSet, type Identity, sendFound, verify } from '#link/identity.ts';
import { createLink, type LinkState } from '#link/link.ts';
import { createResolver } from '#link/resolver.ts';
import { createRevocation } from '#link/revocation.ts';
import { createServerClock } from '#link/server-clock.ts';
import { seenSchema } from '#scan/catch-up.ts';
import { createQuarantine } from '#scan/quarantine.ts';
import { FOUND_FOLDER, QUARANTINE_FOLDER, Scans } from '#scan/scans.ts';
import { createSecondLooks } from '#scan/second-looks.ts';
import { openSignatureSets } from '#scan/signature-sets.ts';
import { everybodysFolders } from '#scan/usual-folders.ts';
import { createWatching } from '#scan/watching.ts';
import { createMeasuredSessions } from '#telemetry/measured-sessions.ts';
import { createPosture } from '#telemetry/posture.ts';
import { createProc } from '#telemetry/proc.ts';
import { createGuessing, createSignInLog } from '#telemetry/sign-ins.ts';
import { takeStock } from '#telemetry/stock.ts';
import { newId } from './ids.ts';
import { createStore, showWhole, writeWhole } from './store.ts';

/** Where the agent keeps what it must know after a restart, and what it needs while it runs. */
export interface Folders {
  /** `/var/lib/palisade-agent` */
  state: string;
  /** `/run/palisade-agent` */
  run: string;
}

const DROPPED_FILE = 'dropped.json';
/** Of the reports that say the same again, the last that are known as such. */
const TELLINGS_MAXIMUM = 20;
/** The file that the computer loads before its network, at its next start. */
export const BOOT_FILE = 'boot.nft';
/** Of each kind of event those that happened last wait until they are noted, so that what happens often does not take the place of what happens once. */
const EVENTS_MAXIMUM: Record<DeviceEvent['event'], number> = {
  ...{ tampered: 20, ssh_guessing: 200, new_listening_port: 100 },
  // The server asks for each of these, and waits for it.
  ...{ order_done: 400, session_changes: 16 },
};
const LOCAL_MAXIMUM = 200;
/** Says by being there that no files are sent from this computer. */
export const LOOKS_OFF_FILE = 'second-looks-off';
const LOOKS_OFF = 'Files are not sent from this computer: that was switched off on it.';
/** How often other programs' tables are listed, in reports. */
const FOREIGN_EVERY = 10;
/** How long after the last state that came what it needed is given back, in ms. */
const REST_AFTER_MS = 5_000;
/** How often homes are looked for that came since, in reports. */
const WATCH_EVERY = 10;

/** What the agent says of itself to `palisade-agent status`. */
export const statusSchema = z.object({
  link: z.string(),
  reason: z.string(),
  device_name: z.string(),
  applied_rev: z.int(),
  firewall: z.string(),
  at: z.string(),
});
type Status = z.infer<typeof statusSchema>;

function localAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(
    all.slice(0, LOCAL_MAXIMUM).flatMap(({ address }) => {
      const read = parseIp(address.replace(/%.*$/u, ''));
      return read === undefined ? [] : [printIp(read)];
    }),
  );
}

/** Whether rules can be enforced here, and why not. */
export async function probeFirewall(): Promise<string | undefined> {
  if (platform() !== 'linux') return 'Rules are enforced on Linux alone; elsewhere they can be exported.';
  const tried = await runProgram(['nft'], ['list', 'tables']).catch(() => undefined);
  if (tried === undefined) return 'The program nft is missing (package nftables).';
  if (tried.code === 0) return undefined;
  return /permitted|denied/iu.test(tried.stderr)
    ? 'The agent may not change the firewall (CAP_NET_ADMIN).'
    : 'This kernel has no nftables.';
}

/** Another text after each start of the kernel, and in each of its network namespaces. */
function kernelNow(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    return '';
  }
}

const eventSchema = saidSchema.options[2];
type EventFrame = z.infer<typeof eventSchema>;

export interface AgentOptions {
  identity: Identity;
  folders: Folders;
  log: (line: string) => void;
  signal: AbortSignal;
  /** The folder of the rules that came with the agent; undefined where none did. */
  signatures: string | undefined;
  /** Where the desktop is looked for first. */
  environment: NodeJS.ProcessEnv;
  /** Times in ms; the contract's where nobody says another. */
  times?: Partial<Record<'report' | 'trial' | 'revoked_grace' | 'warming' | 'back_off', number | undefined>>;
}

/** Runs the agent until `signal`, or until the device is revoked for good. Answers which. */
export async function runAgent({
  identity,
  folders,
  log,
  signal,
  signatures,
  environment,
  times = {},
}: AgentOptions): Promise<'stopped' | 'revoked'> {
  const server = new URL(identity.server);
  const instance = randomBytes(16).toString('hex');
  const resolver = createResolver(server);
  const clock = createServerClock();
  const { now } = clock;
  let seq = 0;
  const iso = () => new Date().toISOString();

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
    });

  // What happened and the server has not noted yet.
  const eventStore = createStore(join(folders.state, 'events.json'), z.array(z.unknown()));
  let events: EventFrame[] = ((await eventStore.read()) ?? []).flatMap((kept) => eventSchema.safeParse(kept).data ?? []);
  let keeping = Promise.resolve();
  const keepEvents = () => {
    keeping = keeping.then(() => eventStore.write(events)).catch(() => log('what happened could not be kept on the disk'));
  };
  function happened(event: DeviceEvent): void {
    const frame: EventFrame = { kind: 'event', id: newId(), at: iso(), event };
    // One that no server takes would end each connection for ever.
    if (!eventSchema.safeParse(frame).success) {
      log(`what happened cannot be said: ${event.event}`);
      return;
    }
    const alike = events.filter(({ event: one }) => one.event === event.event);
    const [oldest] = alike;
    const is_full = alike.length >= EVENTS_MAXIMUM[event.event];
    if (is_full) log(`more happened than can wait for the server: the oldest is forgotten (${event.event})`);
    events = [...events.filter((one) => !(is_full && one === oldest)), frame];
    keepEvents();
    link.say(frame);
  }

  const proc = platform() === 'linux' ? createProc() : undefined;
  const nft = createNft(['nft'], folders.run);
  const unavailable = await probeFirewall();
  const conntrack =
    unavailable === undefined && (await hasConntrack(['conntrack'])) ? createConntrack(['conntrack'], folders.run) : undefined;
  const capabilities: Capabilities = {
    firewall: unavailable === undefined ? 'nftables' : 'unavailable',
    firewall_reason: unavailable ?? null,
    conntrack: conntrack !== undefined,
    scanner: signatures !== undefined,
    scanner_reason: signatures === undefined ? 'This agent came without signatures.' : null,
    watch: platform() === 'linux' && signatures !== undefined,
    control: platform() === 'linux',
    control_reason: platform() === 'linux' ? null : 'The screen of this computer cannot be shown: that works on Linux alone.',
    second_look: signatures !== undefined,
    second_look_reason: signatures === undefined ? 'This agent came without signatures.' : null,
    containers: existsSync('/var/run/docker.sock') || existsSync('/run/podman/podman.sock'),
  };

  const enforcer: Enforcer | undefined =
    unavailable !== undefined
      ? undefined
      : createEnforcer({
          ...{ nft, conntrack, localAddresses, now, wait },
          warming_ms: times.warming,
          kernel: kernelNow(),
          openConnections: () => proc?.connections() ?? [],
          store: createStore(join(folders.state, 'firewall.json'), firewallStateSchema),
          keepForBoot: (text) => writeWhole(join(folders.state, BOOT_FILE), text),
          control: resolver.control,
          verify: () => verify(identity, times.trial ?? TRIAL_MS),
          say: (ack) => {
            log(`revision ${ack.rev}: ${ack.state}${ack.errors.map(({ message }) => `, ${message}`).join('')}`);
            link.say(ack);
          },
          onTampered: (backed_off) => {
            log(`another program changed our table${backed_off ? ' again and again: waiting a minute' : '; it was put back'}`);
            happened({ event: 'tampered', backed_off });
          },
        });

  /** Whoever this computer belongs to may have it send no files (`palisade-agent second-looks off`). */
  const mayLook = () => !existsSync(join(folders.state, LOOKS_OFF_FILE));
  const hello = (): Hello => ({
    ...{ kind: 'hello', device_id: identity.device_id, token: identity.token, instance, agent_version: AGENT_VERSION },
    applied_rev: enforcer?.appliedRev() ?? 0,
    ruleset_hash: enforcer?.rulesetHash() ?? null,
    capabilities: mayLook() ? capabilities : { ...capabilities, second_look: false, second_look_reason: LOOKS_OFF },
    at: iso(),
  });

  const sets =
    signatures === undefined
      ? undefined
      : await openSignatureSets({
          ...{ folder: join(folders.state, 'signatures'), built_in: signatures, log, now: Date.now },
          download: (set, path) => downloadSet(identity, set, path, resolver.lookup),
          test: (files) => trySet(files, signal),
        });
  const scans =
    sets === undefined
      ? undefined
      : new Scans({
          ...{ signatures: sets.files, happened, log, wait, state: folders.state, nextSeq: () => (seq += 1) },
          isSaid: (order_id) => events.some(({ event }) => event.event === 'order_done' && event.order_id === order_id),
          say: (frame) => link.say(frame),
        });

  const measured = createMeasuredSessions({
    state: folders.state,
    take: () =>
      takeStock({
        listening: async () => (await proc?.listening()) ?? [],
        run: (program, ...args) =>
          runProgram([program], args).then(
            ({ code, stdout }) => (code === 0 ? stdout : undefined),
            () => undefined,
          ),
        now: Date.now,
      }),
    isSaid: (id) => events.some(({ event }) => event.event === 'session_changes' && event.session_id === id),
    say: (session_id, changes) => happened({ event: 'session_changes', session_id, measured: changes }),
    log,
  });

  const secondLooks =
    scans &&
    createSecondLooks({
      quarantine: createQuarantine(join(folders.state, QUARANTINE_FOLDER)),
      folder: join(folders.state, FOUND_FOLDER),
      send: (order_id, file, stop) => sendFound(identity, order_id, file, { lookup: resolver.lookup, signal: stop }),
      isAllowed: mayLook,
      ...{ happened, log, wait },
    });

  const watching =
    scans &&
    proc &&
    createWatching({
      ...{ store: createStore(join(folders.state, 'watched-until.json'), seenSchema), log, now: Date.now },
      read: (file, lane) => scans.readNew(file, lane),
    });
  const own_folder = resolve(folders.state);
  let watched: Desired | undefined;
  /** Watches the usual folders of everybody here, and those that the server names; homes that came since are seen with the next look. */
  async function watchFolders(): Promise<void> {
    if (watched === undefined || watching === undefined) return;
    const { is_watching, watched: named, exclusions } = watched;
    const wanted = is_watching
      ? [...(await everybodysFolders()).map((path) => Buffer.from(path)), ...named.map(bytesOfText)]
      : [];
    await watching.want(wanted, [...exclusions.map(bytesOfText), Buffer.from(own_folder)]);
  }

  const control = createControl({
    ...{ server, identity: { device_id: identity.device_id, token: identity.token }, lookup: resolver.lookup },
    ...{ folder: folders.run, environment, log },
  });

  let resting: NodeJS.Timeout | undefined;
  /** By itself the engine keeps what a state has left behind until it needs the room: megabytes, for hours. */
  function restSoon(): void {
    clearTimeout(resting);
    resting = setTimeout(
      () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
      REST_AFTER_MS,
    ).unref();
  }

  function onDesired(desired: Desired): void {
    // The link tells the same state again as the same object.
    if (desired !== watched) restSoon();
    control.want(desired.control);
    scans?.want(desired);
    secondLooks?.want(desired.second_looks);
    measured.want(desired.remote_sessions);
    watched = desired;
    void watchFolders();
    void sets?.want(desired.signatures).then((are_new) => (are_new ? scans?.signaturesChanged() : undefined));
    if (enforcer === undefined) {
      const errors = [{ rule_id: null, message: capabilities.firewall_reason ?? '' }];
      link.say({ kind: 'ack', rev: desired.rev, state: 'unavailable', applied_rev: 0, errors });
    } else {
      enforcer.want(desired).catch((error: unknown) => log(`the rules could not be taken: ${String(error)}`));
    }
  }

  const revocation = createRevocation(() => performance.now(), times.revoked_grace);
  let is_revoked = false;
  const status: Status = {
    ...{ link: 'connecting', reason: '', device_name: identity.device_name, applied_rev: 0 },
    firewall: '',
    at: '',
  };
  function onState(state: LinkState, reason: string): void {
    if (status.link !== state) log(`${state}${reason === '' ? '' : `: ${reason}`}`);
    status.link = state;
    status.reason = reason;
  }

  const link = createLink({
    ...{ server, resolver, hello, onDesired, onState, wait, back_off_most: times.back_off },
    onNoted(noted) {
      events = events.filter(({ id }) => !noted.events.includes(id));
      keepEvents();
      if (noted.seq === null) return;
      scans?.noted(noted.seq);
      if (telling.seqs.includes(noted.seq)) dropped.noted(telling.number);
    },
    onSkew: clock.hear,
    onConnected: () => {
      revocation.hear(false);
      for (const frame of events) link.say(frame);
      scans?.resend();
    },
    async askRevoked() {
      const answer = await askRevoked(identity);
      if (revocation.hear(answer)) {
        is_revoked = true;
        link.stop();
      }
      return answer;
    },
  });

  const dropped = createDropped({
    ...{ nft, most: BLOCKED_MAXIMUM, at: iso },
    // What the kernel's own times of its sets go by; it goes on over restarts of this agent.
    clock: () => Number(process.hrtime.bigint() / 1_000_000n),
    paths: { run: join(folders.run, DROPPED_FILE), state: join(folders.state, DROPPED_FILE) },
  });
  /** Reports that say the part of what was dropped that is not noted yet. */
  let telling: { number: number; seqs: number[] } = { number: 0, seqs: [] };
  const posture = createPosture({
    defaults: () => enforcer?.ruleset().defaults,
    signatures: () => sets?.fresh(),
    now: Date.now,
  });
  const signIns = createSignInLog();
  const guessing = createGuessing();
  let known_ports: ReadonlySet<string> | undefined;

  const portKey = ({ protocol, port }: Listening) => `${protocol} ${port}`;
  function lookForNewPorts(listening: readonly Listening[]): void {
    const before = known_ports;
    known_ports = new Set([...(before ?? []), ...listening.map(portKey)]);
    if (before === undefined) return;
    for (const one of listening.filter((open) => !before.has(portKey(open))))
      happened({ event: 'new_listening_port', listening: one });
  }

  async function report(): Promise<void> {
    const { epoch, counters, drops } = (await enforcer?.counters()) ?? { epoch: iso(), counters: [], drops: '' };
    const part = enforcer === undefined ? undefined : await dropped.read({ epoch, drops });
    // Through the workers that read files, without a deadline: where none of them answers, no report is made, and the server says so.
    await ownSize(folders.state);
    const telemetry = (await proc?.read()) ?? null;
    const checks = posture.read();
    if (watchingNow() !== null) await watching?.note();
    if (seq % WATCH_EVERY === 0) void watchFolders();
    if (telemetry !== null) lookForNewPorts(telemetry.listening);
    for (const { address, failures } of guessing.hear(await signIns.read(), Date.now())) {
      happened({ event: 'ssh_guessing', address, failures, blocked: dropped.hasDropped(address) });
    }
    const foreign_tables = enforcer !== undefined && seq % FOREIGN_EVERY === 0 ? await readForeignTables(nft) : last_foreign;
    last_foreign = foreign_tables;
    seq += 1;
    const frame: Said = {
      kind: 'report',
      seq,
      epoch,
      counters,
      blocked: [],
      ...part,
      telemetry,
      posture: checks,
      foreign_tables,
      watching: watchingNow(),
      health: watching === undefined ? null : watching.health(watched?.is_watching === true),
    };
    if (part !== undefined) {
      const { number } = part.blocked_part;
      const seqs = telling.number === number ? telling.seqs : [];
      telling = { number, seqs: [...seqs, seq].slice(-TELLINGS_MAXIMUM) };
    }
    link.say(frame);
    Object.assign(status, {
      applied_rev: enforcer?.appliedRev() ?? 0,
      firewall: capabilities.firewall_reason ?? 'nftables',
      at: iso(),
    });
    showWhole(join(folders.run, 'status.json'), JSON.stringify(status));
  }
  function watchingNow() {
    if (watched?.is_watching !== true || watching === undefined) return null;
    return watching.state();
  }
  let last_foreign: Awaited<ReturnType<typeof readForeignTables>> = [];

  signal.addEventListener('abort', () => link.stop());
  await enforcer?.start();
  const monitor =
    enforcer === undefined
      ? undefined
      : createMonitor(['nft'], () => void enforcer.lookAgain().catch((error: unknown) => log(String(error))));
  const running = link.run();
  const reporting = (async () => {
    while (!signal.aborted && !is_revoked) {
      await report().catch((error: unknown) => log(`a report failed: ${String(error)}`));
      await wait(times.report ?? REPORT_INTERVAL_MS);
    }
  })();
  await running;
  monitor?.stop();
  watching?.close();
  control.close();
  secondLooks?.close();
  await scans?.close();
  if (is_revoked) {
    log('this device was revoked: its rules are taken away');
    await enforcer?.disable();
    return 'revoked';
  }
  await reporting;
  await dropped.keep().catch(() => log('who was dropped could not be kept on the disk'));
  return 'stopped';
}
