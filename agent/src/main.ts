import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { kernelLink, kernelNames, kernelStat, kernelText } from '#files/kernel.ts';
import { endInTime, endProcess } from '#files/timely.ts';
import { compileRemoval } from '#firewall/compile.ts';
import { createNft, runProgram } from '#firewall/nft.ts';
import { readCode, readEnrolArguments } from '#link/enrolment-code.ts';
import { enrol, type Identity, identityStore, isSafeServer, keyFingerprint, leave, Refused } from '#link/identity.ts';
import { SystemNames } from '#names/system-names.ts';
import { Scans } from '#scan/scans.ts';
import { openSignatureSets } from '#scan/signature-sets.ts';
import { BOOT_FILE, type Folders, LOOKS_OFF_FILE, runAgent } from './agent.ts';
import { statusSchema } from './agent-status.ts';
import { probeFirewall } from './capabilities.ts';
import { writeWhole } from './store.ts';

const USAGE = `palisade-agent: what protects this computer for its Palisade server

  palisade-agent enrol [--code-file FILE] [SERVER]
                                       make this computer a device, by a code that is typed or in a file
  palisade-agent status                how it stands
  palisade-agent scan [PATH]           scan this computer, or one folder, now
  palisade-agent second-looks on|off   let files that were found be sent to the server when its person asks, or not
  palisade-agent disable               take all rules away and stop enforcing them
  palisade-agent names-back            ask for names as before web protection
  palisade-agent run                   what the system's service runs
  palisade-agent uninstall             take this computer off the server's list and the rules away
`;

const { env } = process;
/** Intervals in ms that environment variables can set; tests shorten them. */
const timeSchema = z.coerce.number().int().min(100).optional();
const times = {
  report: timeSchema.parse(env['PALISADE_AGENT_REPORT_MS']),
  trial: timeSchema.parse(env['PALISADE_AGENT_TRIAL_MS']),
};
const folders: Folders = {
  state: env['PALISADE_AGENT_STATE'] ?? env['STATE_DIRECTORY'] ?? '/var/lib/palisade-agent',
  run: env['PALISADE_AGENT_RUN'] ?? env['RUNTIME_DIRECTORY'] ?? '/run/palisade-agent',
};

const say = (line: string) => process.stdout.write(`${line}\n`);

async function requireIdentity(): Promise<Identity> {
  const identity = await identityStore(folders.state).read();
  if (identity === undefined) throw new Refused('This computer is no device yet. Run: palisade-agent enrol SERVER');
  return identity;
}

async function runEnrol(args: readonly string[]): Promise<void> {
  const { address, code_file } = readEnrolArguments(args);
  const store = identityStore(folders.state);
  const before = await store.read();
  const text = address ?? env['PALISADE_SERVER'] ?? before?.server;
  if (text === undefined || !URL.canParse(text))
    throw new Refused('Name the server: palisade-agent enrol https://palisade.example.org');
  const server = new URL(text);
  if (!isSafeServer(server))
    throw new Refused(`${server.origin} is not https, so anybody on the way could read and change what it says.`);
  const identity = await enrol(server, await readCode(code_file), before);
  await store.write(identity);
  say(`This computer is now the device “${identity.device_name}”.`);
  say(`Fingerprint of its key: ${keyFingerprint(identity)}`);
  say('It counts once you confirm on the page of your devices that this fingerprint is there.');
}

async function runStatus(): Promise<void> {
  const identity = await requireIdentity();
  say(`Device     ${identity.device_name}`);
  say(`Server     ${identity.server}`);
  say(`Key        ${keyFingerprint(identity)}`);
  const text = await readFile(join(folders.run, 'status.json'), 'utf8').catch(() => undefined);
  const status = text === undefined ? undefined : statusSchema.safeParse(JSON.parse(text)).data;
  if (status === undefined) {
    say('Agent      not running (systemctl start palisade-agent)');
    process.exitCode = 3;
    return;
  }
  say(`Connection ${status.link}${status.reason === '' ? '' : `, ${status.reason}`}`);
  say(`Rules      ${status.firewall === 'nftables' ? `revision ${status.applied_rev}` : status.firewall}`);
  say(`As of      ${status.at}`);
}

async function takeRulesAway(): Promise<void> {
  if ((await probeFirewall()) !== undefined) return;
  const removed = await createNft(['nft'], folders.run).apply(compileRemoval());
  if (!removed.ok) throw new Refused(`The rules could not be taken away: ${removed.message}`);
  await writeWhole(join(folders.state, BOOT_FILE), compileRemoval());
}

const END_MS = 15_000;

/** Process ids of agents that run as a service here. The same mount namespace excludes containers; the same user id excludes other users' imitations. */
function runningAgents(): number[] {
  const own = kernelLink('/proc/self/ns/mnt');
  const uid = process.getuid?.();
  return kernelNames('/proc')
    .map(Number)
    .filter((pid) => {
      if (!(pid > 0) || pid === process.pid || kernelStat(`/proc/${pid}`)?.uid !== uid) return false;
      if (kernelLink(`/proc/${pid}/exe`) !== process.execPath || kernelLink(`/proc/${pid}/ns/mnt`) !== own) return false;
      const words = kernelText(`/proc/${pid}/cmdline`).split('\0');
      return words.includes(fileURLToPath(import.meta.url)) && words.includes('run');
    });
}

/** Ends agents that the service manager does not control: a running agent would restore its rules. */
async function endRunning(): Promise<void> {
  for (const pid of runningAgents()) process.kill(pid, 'SIGTERM');
  const until = Date.now() + END_MS;
  for (let left = runningAgents(); left.length > 0; left = runningAgents()) {
    if (Date.now() > until)
      throw new Refused(`The running agent (process ${left.join(', ')}) does not end. End it, and try again.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function runDisable(): Promise<void> {
  // A running agent would restore its table.
  await runProgram(['systemctl'], ['disable', '--now', 'palisade-agent']).catch(() => undefined);
  await endRunning();
  await new SystemNames().giveBack();
  await takeRulesAway();
  say('No rule is enforced any more, until: systemctl enable --now palisade-agent');
}

async function runUninstall(): Promise<void> {
  const identity = await identityStore(folders.state).read();
  await endRunning();
  await new SystemNames().giveBack();
  await takeRulesAway();
  if (identity !== undefined) {
    const is_told = await leave(identity);
    await identityStore(folders.state).remove();
    say(is_told ? 'The server was told.' : 'The server could not be told: revoke this device on its page.');
  }
}

/** Folder of the bundled signatures: beside the agent's bundle, or in the server's folder when the agent runs from source. */
function signaturesFolder(): string | undefined {
  const places = ['../signatures', '../../server/signatures/rules'].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  return places.find((place) => existsSync(place));
}

async function runScan([path]: readonly string[]): Promise<void> {
  const signatures = signaturesFolder();
  if (signatures === undefined) throw new Refused('This agent came without signatures, so it cannot scan.');
  if (path !== undefined && !existsSync(path)) throw new Refused(`There is nothing at ${path}.`);
  const nothing = () => {};
  // Uses the signature set that the service downloaded last; this command downloads none.
  const sets = await openSignatureSets({
    folder: join(folders.state, 'signatures'),
    built_in: signatures,
    log: say,
    now: Date.now,
    download: () => Promise.reject(new Error('nothing is fetched here')),
    test: () => Promise.resolve(undefined),
  });
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const scans = new Scans({
    signatures: sets.files,
    wait,
    say: nothing,
    happened: nothing,
    log: say,
    nextSeq: () => 1,
    isSaid: () => false,
    state: folders.state,
  });
  const last = await scans.scanNow(path === undefined ? null : resolve(path), ({ found }) => {
    for (const { path: where, threat, outcome, reason } of found) {
      say(`${threat}: ${where} (${outcome === 'quarantined' ? 'moved to the quarantine' : (reason ?? 'left')})`);
      process.exitCode = 1;
    }
  });
  const { files_read, files_known, files_pending, folders_unread } = last.progress;
  if (files_pending + folders_unread > 0)
    say(`Not everything was read: ${files_pending} files and ${folders_unread} folders could not be.`);
  say(`${files_read} files read, ${files_known} unchanged since they were last read, ${files_pending} not fully read.`);
  endProcess();
}

/** Allows or forbids sending files of this computer to the server. */
async function runSecondLooks([choice]: readonly string[]): Promise<void> {
  const path = join(folders.state, LOOKS_OFF_FILE);
  if (choice === 'off') await writeWhole(path, '');
  else if (choice === 'on') await rm(path, { force: true });
  else throw new Refused('Say: palisade-agent second-looks on, or off.');
  say(
    choice === 'off'
      ? 'No file is sent from this computer any more.'
      : 'A file that was found here is sent when its person asks for a second look.',
  );
}

async function runService(): Promise<void> {
  const identity = await requireIdentity();
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => {
      endInTime();
      stop.abort();
    });
  }
  const ended = await runAgent({
    identity,
    folders,
    log: say,
    signal: stop.signal,
    signatures: signaturesFolder(),
    environment: env,
    times,
  });
  if (ended === 'revoked') {
    await identityStore(folders.state).remove();
    // The unit's RestartPreventExitStatus contains 64: systemd does not restart the agent.
    process.exitCode = 64;
  }
  endProcess();
}

const COMMANDS: Record<string, (args: readonly string[]) => Promise<void>> = {
  enrol: runEnrol,
  status: runStatus,
  scan: runScan,
  'second-looks': runSecondLooks,
  disable: runDisable,
  // The systemd unit runs this after every end of the agent, also after a crash.
  'names-back': () => new SystemNames().giveBack(),
  run: runService,
  uninstall: runUninstall,
};

const [name = '', ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  command(args).catch((error: unknown) => {
    process.stderr.write(`palisade-agent: ${error instanceof Refused ? error.message : String(error)}\n`);
    process.exit(1);
  });
}
