import { createHash } from 'node:crypto';
import { availableParallelism, loadavg, setPriority } from 'node:os';
import { join } from 'node:path';
import {
  type Desired,
  type DeviceEvent,
  type DeviceScanState,
  FINDINGS_MAXIMUM,
  type FileOrder,
  type Found,
  type ScanJob,
  type ScanProgressOnDevice,
  type ScanReport,
  saidSchema,
} from '@palisade/contract/agent';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import { createYaraPool, type YaraPool } from '@palisade/scanner/yara-pool';
import { z } from 'zod';
import { newId } from '#agent/ids.ts';
import { lineOf } from '#agent/line.ts';
import { createStore } from '#agent/store.ts';
import { type ForeignFile, isSameFile, type Stats, statForeign } from '#files/foreign.ts';
import { kernelLink, kernelNames, kernelText } from '#files/kernel.ts';
import { bytesOfText, wirePath } from '#files/name-text.ts';
import { makeOwnFolder, removeOwnFolder } from '#files/own-state.ts';
import { homesOf, peopleHere } from '#files/people.ts';
import { runProgram } from '#firewall/nft.ts';
import { createFoundFiles } from './found-files.ts';
import type { Lane } from './new-files.ts';
import { createQuarantine } from './quarantine.ts';
import { createStanding, shownOf } from './standing.ts';
import { createUntold } from './untold.ts';
import { openVerdicts } from './verdicts.ts';
import { countFiles, type FoundFile, localRoots, walk } from './walk.ts';

/** A file larger than this is not read on a device (the largest upload that a server reads). */
const FILE_BYTES_MAXIMUM = 2n * 1024n ** 3n;
/** A file of at most so many bytes is read into memory. */
const HELD_BYTES = 64n * 1024n;
/** Files that are under way: while the one engine process reads the first, the next is read from the disk and hashed. */
const AT_ONCE = 2;
const REPORT_EVERY_MS = 1_000;
/** So much of a scan is read again where the agent is killed in the middle. */
const SAVE_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 5_000;
/** An engine that nobody uses takes its memory for so long. ms. */
const IDLE_MS = 20_000;
const LINE_LENGTH = 300;
/** Reports with findings that wait to be noted. Beyond them those of one scan are put together. */
const UNNOTED_MAXIMUM = 200;
/** Of the findings in one report, as JSON: a path of control characters is six times as long as its name. */
const FOUND_BYTES = 128 * 1024;
const RESTORED_MAXIMUM = 1_000;
/** Below the agent's state: what is sealed, and what was found. */
export const QUARANTINE_FOLDER = 'quarantine';
export const FOUND_FOLDER = 'found';
const UNTOLD_FOLDER = 'untold';
const scanReportSchema = saidSchema.options[3];

export interface ScansParts {
  /** `/var/lib/palisade-agent` */
  state: string;
  /** What scans use now. */
  signatures: () => SignatureFiles;
  say: (report: ScanReport) => void;
  happened: (event: DeviceEvent) => void;
  log: (line: string) => void;
  wait: (ms: number) => Promise<void>;
  /** Whether what became of a file order was said, and is not noted yet. */
  isSaid: (order_id: string) => boolean;
  /** Of all that this agent reports, so that what the server has noted is told by one number. */
  nextSeq: () => number;
}

/** Scans files where they are: one job at a time, at the lowest priority. */
export interface Scans {
  /** Takes the jobs, orders and exclusions of a desired state. */
  want(desired: Pick<Desired, 'scan_jobs' | 'file_orders' | 'exclusions'>): void;
  /** Scans one file or folder now, outside of jobs. */
  scanNow(path: string | null, onReport: (report: ScanReport) => void): Promise<ScanReport>;
  /** Reads a file that was just written, beside a scan that is under way. One that was restored here is left alone until it changes. */
  readNew(file: FoundFile, lane: Lane): Promise<'read' | 'unread' | 'gone'>;
  /** Other signatures are in use: a scan that is under way goes on with them. */
  signaturesChanged(): Promise<void>;
  /** The server has kept what was found in this report. */
  noted(seq: number): void;
  /** What was found and is not noted yet, to be said again. */
  again(): void;
  close(): Promise<void>;
}

/** With what was said last of each: a server that did not hear it is told again. */
const doneSchema = z.array(z.object({ id: z.string(), state: z.string(), last: scanReportSchema.optional() }));
const isSame = (a: Stats, b: Stats) => a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;

async function hashOf(file: ForeignFile, bytes: Buffer | undefined): Promise<string> {
  const hash = createHash('sha256');
  if (bytes !== undefined) return hash.update(bytes).digest('hex');
  for await (const part of file.chunks()) hash.update(part);
  return hash.digest('hex');
}

/** Running programs, downloads, temporary folders, and what starts by itself. */
async function quickRoots(): Promise<Buffer[]> {
  const pids = kernelNames('/proc').filter((name) => /^\d+$/u.test(name));
  const programs = pids.map((pid) => kernelLink(`/proc/${pid}/exe`));
  const homes = homesOf(await peopleHere());
  const inHome = [
    ...[
      'Downloads',
      '.config/autostart',
      '.config/systemd/user',
      '.local/share/applications',
      '.bashrc',
      '.profile',
      '.bash_profile',
    ],
    ...['.zshrc', '.mozilla/firefox', '.config/google-chrome/Default/Extensions', '.config/chromium/Default/Extensions'],
  ];
  const common = [
    '/tmp',
    '/var/tmp',
    '/dev/shm',
    '/etc/cron.d',
    '/etc/cron.daily',
    '/etc/cron.hourly',
    '/var/spool/cron',
    '/etc/crontab',
  ];
  const system = ['/etc/systemd/system', '/etc/xdg/autostart', '/etc/profile', '/etc/profile.d', '/etc/rc.local'];
  const files = programs.filter((path) => path.startsWith('/') && !path.endsWith(' (deleted)'));
  const all = [...files, ...homes.flatMap((home) => inHome.map((name) => join(home, name))), ...common, ...system];
  return [...new Set(all)].map((path) => Buffer.from(path));
}

function isOnBattery(): boolean {
  const names = kernelNames('/sys/class/power_supply');
  return names.some((name) => kernelText(`/sys/class/power_supply/${name}/status`).trim() === 'Discharging');
}

/** Why a scan of everything had better wait; undefined when it need not. */
function reasonToWait(): string | undefined {
  if (isOnBattery()) return 'This computer runs on its battery.';
  return (loadavg()[0] ?? 0) > 4 * availableParallelism() ? 'This computer is very busy.' : undefined;
}

const emptyProgress = (): ScanProgressOnDevice => ({
  ...{
    files_read: 0,
    files_known: 0,
    files_pending: 0,
    folders_unread: 0,
    files_total: 0,
    is_counted: false,
    bytes_read: 0,
    bytes_per_second: 0,
  },
  ...{ seconds_left: null, path: null },
});

/** Of what was found, as much as one report takes. */
function fittingOf(found: readonly Found[]): Found[] {
  let bytes = 0;
  const fitting: Found[] = [];
  for (const file of found.slice(0, FINDINGS_MAXIMUM)) {
    bytes += Buffer.byteLength(JSON.stringify(file));
    if (fitting.length > 0 && bytes > FOUND_BYTES) break;
    fitting.push(file);
  }
  return fitting;
}

/** The same findings in fewer reports: those of one scan that follow each other, under what was said of it last. */
export function packed(reports: readonly ScanReport[]): ScanReport[] {
  const all: ScanReport[] = [];
  for (const report of reports) {
    const before = all.at(-1);
    const found = before === undefined ? [] : [...before.found, ...report.found];
    const is_one = before?.job_id === report.job_id && before.scan === report.scan && fittingOf(found).length === found.length;
    if (is_one) all[all.length - 1] = { ...report, found };
    else all.push(report);
  }
  return all;
}

export function createScans(parts: ScansParts): Scans {
  const { state, say, happened, log, wait } = parts;
  const quarantine = createQuarantine(join(state, QUARANTINE_FOLDER));
  const found_files = createFoundFiles(join(state, FOUND_FOLDER));
  const untold = createUntold(join(state, UNTOLD_FOLDER), quarantine);
  const standing = createStanding(state);
  const doneStore = createStore(join(state, 'scans-done.json'), doneSchema);
  const work_folder = join(state, 'scan-work');
  /** One for jobs and large files, and one for small files that were just written: those wait for neither. */
  const engines: Partial<Record<'main' | 'new', YaraPool>> = {};
  const calmed = new Set<number>();
  let jobs: readonly ScanJob[] = [];
  let exclusions: readonly string[] = [];
  let running: string | undefined;
  const unnotedStore = createStore(join(state, 'found.json'), z.array(z.unknown()));
  let unnoted: ScanReport[] = [];
  let keeping = takeUpUnnoted();
  let busy = Promise.resolve();
  let is_closed = false;
  /** Scans that use the engine now. It ends a while after the last of them. */
  let users = 0;
  let rest: NodeJS.Timeout | undefined;

  function tell(report: Omit<ScanReport, 'kind' | 'seq'>): ScanReport {
    const frame: ScanReport = { kind: 'scan_report', seq: parts.nextSeq(), at: new Date().toISOString(), ...report };
    if (frame.found.length > 0) {
      const all = unnoted.length < UNNOTED_MAXIMUM ? [...unnoted, frame] : packed([...unnoted, frame]);
      if (all.length > UNNOTED_MAXIMUM) log('more was found than can wait for the server: the oldest findings are forgotten');
      unnoted = all.slice(-UNNOTED_MAXIMUM);
      keepUnnoted(frame.found);
    }
    say(frame);
    return frame;
  }

  /** What an agent before this one found and nobody has noted, and what it took away and was killed before it could say so. */
  async function takeUpUnnoted(): Promise<void> {
    const kept = ((await unnotedStore.read()) ?? []).flatMap((one) => scanReportSchema.safeParse(one).data ?? []);
    const known = new Set(kept.flatMap(({ found }) => found.map(({ id }) => id)));
    const taken_up = await untold.takeUp();
    const more = taken_up
      .filter(({ found }) => !found.some(({ id }) => known.has(id)))
      .map((report): ScanReport => ({ ...report, kind: 'scan_report', seq: parts.nextSeq() }));
    unnoted = [...kept, ...more, ...unnoted];
    if (more.length > 0) await unnotedStore.write(unnoted);
    for (const { found } of taken_up) for (const { id } of found) await untold.forget(id);
  }

  /** What was found is known to the server even if the agent ends before it could be told. */
  function keepUnnoted(said: readonly Found[] = []): void {
    keeping = keeping
      .then(async () => {
        await unnotedStore.write(unnoted);
        for (const { id } of said) await untold.forget(id);
      })
      .catch(() => log('what was found could not be kept on the disk'));
  }

  function startEngine(which: 'main' | 'new'): YaraPool {
    const logged = (_facts: object, sentence: string) => log(sentence);
    engines[which] ??= createYaraPool({
      ...{ signatures: parts.signatures(), size: 1, limits: SCAN_LIMITS },
      logger: { debug: () => {}, info: () => {}, warn: logged, error: logged },
    });
    return engines[which];
  }

  async function calm(pool: YaraPool): Promise<void> {
    const pids = pool.pids().filter((pid) => !calmed.has(pid));
    for (const pid of pids) {
      calmed.add(pid);
      try {
        setPriority(pid, 19);
      } catch {
        // It has just ended.
      }
      await runProgram(['ionice'], ['-c', '3', '-p', `${pid}`]).catch(() => undefined);
    }
  }

  function release(): void {
    users -= 1;
    clearTimeout(rest);
    if (users > 0 || is_closed) return;
    rest = setTimeout(() => {
      if (users === 0) void stopEngine();
    }, IDLE_MS).unref();
  }

  async function stopEngine(): Promise<void> {
    clearTimeout(rest);
    const running = Object.values(engines);
    delete engines.main;
    delete engines.new;
    calmed.clear();
    await Promise.all(running.map((engine) => engine.close()));
    await removeOwnFolder(work_folder);
  }

  /** Reads one file. `clean` alone is remembered, for the edition that said so. */
  async function readOne(
    { path, stats, open }: FoundFile,
    pool: YaraPool,
    keepUntold: (file: Found) => Promise<void>,
  ): Promise<{ clean_by: string } | 'pending' | 'gone' | Found> {
    if (stats.size > FILE_BYTES_MAXIMUM) return 'pending';
    const id = newId();
    let file: ForeignFile | undefined;
    try {
      // What is hashed, what the engine reads and what is taken away is this one file, whatever becomes of its path.
      file = await open();
      if (!isSameFile(file.stats, stats)) return 'gone';
      if (file.stats.size > FILE_BYTES_MAXIMUM) return 'pending';
      const bytes = file.stats.size <= HELD_BYTES ? await file.read(Number(HELD_BYTES)) : undefined;
      const file_hash = await hashOf(file, bytes);
      const outcome = await pool.scan({
        // The engine takes a path as text: that of the open file is ASCII, whatever bytes its name is of.
        ...{ id, path: file.handlePath, bytes, sha256: file_hash },
        size: bytes?.length ?? Number(file.stats.size),
        name: wirePath(path).split('/').at(-1) ?? '',
        // Made and removed by the engine, where it unpacks something large.
        folder: join(work_folder, id),
      });
      const after = await file.statNow();
      if (after.nlink === 0n) return 'gone';
      if (outcome.kind !== 'examined') return 'pending';
      const { threat, threat_member, unread } = outcome.examination;
      if (threat === null) return unread.length === 0 && isSame(after, stats) ? { clean_by: outcome.edition } : 'pending';
      await found_files
        .keep(id, { path, file_hash, size: Number(file.stats.size) })
        .catch((error: unknown) => log(`what was found could not be noted: ${String(error)}`));
      const finding: Found = {
        ...{
          id,
          path: wirePath(path),
          file_hash,
          size: Number(file.stats.size),
          threat: lineOf(threat, LINE_LENGTH),
          found_at: new Date().toISOString(),
        },
        member: threat_member === null ? null : lineOf(threat_member, 4_000),
        ...{ outcome: 'quarantined', reason: null },
      };
      await keepUntold(finding).catch((error: unknown) => log(`what was found could not be noted: ${String(error)}`));
      const taken = await quarantine.take(id, path, file.stats);
      return taken.ok ? finding : { ...finding, outcome: 'left', reason: lineOf(taken.reason, LINE_LENGTH) };
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'gone' : 'pending';
    } finally {
      await file?.close();
    }
  }

  interface Run {
    job_id: string | null;
    scan: ScanReport['scan'];
    roots: readonly Buffer[];
    wanted: () => ScanJob['wanted'] | undefined;
    onReport?: (report: ScanReport) => void;
  }

  async function runScan(run: Run): Promise<ScanReport> {
    users += 1;
    try {
      return await scanAll(run);
    } finally {
      release();
    }
  }

  async function scanAll({ job_id, scan, roots, wanted, onReport }: Run): Promise<ScanReport> {
    await makeOwnFolder(work_folder);
    const pool = startEngine('main');
    const progress = emptyProgress();
    /** Where an agent before this one stood in the same job. */
    let stood = job_id === null ? undefined : await standing.read(job_id);
    let found: Found[] = [];
    let signatures_version = '';
    let told_at = 0;
    let saved_at = performance.now();
    let looked_at = 0;
    const report = (now: DeviceScanState, reason: string | null = null): ScanReport => {
      const some = fittingOf(found);
      const facts = {
        ...{ job_id, scan, state: now, reason, signatures_version },
        progress: shownOf(progress, stood),
        found: some,
      };
      const frame = tell(facts);
      found = found.slice(some.length);
      told_at = performance.now();
      onReport?.(frame);
      return frame;
    };
    report('running');

    const ownFolders = [join(state, QUARANTINE_FOLDER), work_folder];
    const where = {
      roots,
      exclusions: [...exclusions.map(bytesOfText), ...ownFolders.map((path) => Buffer.from(path))],
      onUnread(_path: Buffer, kind: 'file' | 'folder') {
        if (kind === 'file') {
          files_seen += 1;
          progress.files_pending += 1;
        } else progress.folders_unread += 1;
      },
      // A folder that was asked for and is not there was not read.
      onMissing() {
        if (scan === 'folder') progress.folders_unread += 1;
      },
    };
    const began = performance.now();
    /** Of the time since then, what it waited for. */
    let waited_ms = 0;
    let files_seen = 0;
    let files_counted = 0;
    let is_over = false;
    // Beside the reading, so that it begins at once.
    const counting = countFiles(
      { ...where, goOn: () => Promise.resolve(!is_over && !is_closed) },
      (files) => (files_counted = files),
    );
    void counting
      .then((is_whole) => (progress.is_counted ||= is_whole))
      .catch((error: unknown) => log(`the files could not be counted: ${String(error)}`));
    /** How many there are, and how long the rest of them takes at the pace so far. */
    function lookAhead(): void {
      progress.files_total = Math.max(files_seen, files_counted);
      const { files_total, is_counted } = progress;
      const active_ms = performance.now() - began - waited_ms;
      progress.seconds_left =
        is_counted && files_seen > 0 ? Math.round(((files_total - files_seen) * active_ms) / files_seen / 1_000) : null;
      progress.bytes_per_second = active_ms > 0 ? Math.round((progress.bytes_read / active_ms) * 1_000) : 0;
    }

    /** Waits while it is paused, on battery or very busy. */
    async function goOn(): Promise<boolean> {
      const asked_at = performance.now();
      try {
        return await mayGoOn();
      } finally {
        waited_ms += performance.now() - asked_at;
      }
    }
    async function mayGoOn(): Promise<boolean> {
      for (;;) {
        if (is_closed || wanted() === 'cancel' || wanted() === undefined) return false;
        if (wanted() === 'pause') {
          if (!is_paused) report('paused');
          is_paused = true;
          await wait(LOOK_EVERY_MS / 10);
          continue;
        }
        is_paused = false;
        if (scan !== 'full' || performance.now() - looked_at < LOOK_EVERY_MS) return true;
        const reason = reasonToWait();
        looked_at = performance.now();
        if (reason === undefined) return true;
        report('waiting', reason);
        await wait(LOOK_EVERY_MS);
        looked_at = 0;
      }
    }
    let is_paused = false;

    let verdicts: Awaited<ReturnType<typeof openVerdicts>> | undefined;
    let edition = '';
    /** The engine says its edition once it is up; other signatures know nothing of what these have read. */
    async function renewNow(): Promise<void> {
      const now_edition = pool.edition() ?? '';
      if (now_edition !== edition && now_edition !== '') {
        edition = now_edition;
        await verdicts?.save();
        verdicts = await openVerdicts(state, edition);
        signatures_version = lineOf(pool.status().signatures_version ?? '', 100);
        await calm(pool);
      }
    }
    let renewing = Promise.resolve();
    const renew = () => {
      renewing = renewing.catch(() => undefined).then(renewNow);
      return renewing;
    };

    async function readNext(file: FoundFile): Promise<void> {
      const outcome = await readOne(file, pool, (one) => {
        const facts = { ...{ job_id, scan, state: 'running' as const, reason: null, signatures_version } };
        return untold.keep(one, { ...facts, progress: shownOf(progress, stood) });
      });
      await renew();
      if (typeof outcome === 'object' && 'clean_by' in outcome && outcome.clean_by === edition) verdicts?.remember(file.stats);
      if (outcome === 'gone') {
        files_seen -= 1;
        files_counted -= 1;
      } else if (outcome === 'pending') progress.files_pending += 1;
      else {
        progress.files_read += 1;
        progress.bytes_read += Number(file.stats.size);
      }
      if (typeof outcome === 'object' && 'id' in outcome) found = [...found, outcome];
    }
    const under_way = new Set<Promise<void>>();

    for await (const file of walk({ ...where, goOn })) {
      if (!(await goOn())) break;
      files_seen += 1;
      await renew();
      if (verdicts?.isKnown(file.stats)) {
        progress.files_known += 1;
      } else {
        progress.path = wirePath(file.path);
        // Opened while the walk holds its folder.
        const opened = await file.open().then(
          (handle) => () => Promise.resolve(handle),
          (error: unknown) => () => Promise.reject(error),
        );
        const reading = readNext({ ...file, open: opened })
          .catch((error: unknown) => log(`a file could not be scanned: ${String(error)}`))
          .finally(() => under_way.delete(reading));
        under_way.add(reading);
        // The first alone: with its answer it is known what was read before.
        if (under_way.size >= (edition === '' ? 1 : AT_ONCE)) await Promise.race(under_way);
      }
      lookAhead();
      if (found.length >= FINDINGS_MAXIMUM || performance.now() - told_at >= REPORT_EVERY_MS) report('running');
      if (performance.now() - saved_at >= SAVE_EVERY_MS) {
        saved_at = performance.now();
        await verdicts?.save();
        if (job_id !== null) await standing.write(job_id, shownOf(progress, stood)).catch(() => undefined);
      }
    }
    await Promise.all(under_way);
    while (fittingOf(found).length < found.length) report('running');
    is_over = true;
    await counting.catch(() => false);
    await verdicts?.save();
    Object.assign(progress, { path: null, files_total: files_seen, is_counted: true, seconds_left: 0 });
    if (is_closed) {
      if (job_id !== null) await standing.write(job_id, shownOf(progress, stood)).catch(() => undefined);
      return report('queued', 'The agent stopped; the scan goes on when it starts again.');
    }
    const is_done = wanted() === 'run';
    if (is_done) stood = undefined;
    return report(is_done ? 'done' : 'cancelled');
  }

  async function rootsOf({ scan, path }: ScanJob): Promise<readonly Buffer[]> {
    if (scan === 'full') return localRoots();
    return scan === 'quick' ? await quickRoots() : [bytesOfText(path ?? '/')];
  }

  /** Jobs one after the other. What was done is remembered, so that a job that the server still tells of is not done again. */
  async function work(): Promise<void> {
    const done = (await doneStore.read()) ?? [];
    const next = jobs.find(({ id, wanted }) => wanted !== 'pause' && !done.some((one) => one.id === id));
    if (next === undefined || is_closed) return;
    running = next.id;
    const wanted = () => jobs.find(({ id }) => id === next.id)?.wanted;
    const last = await runScan({ job_id: next.id, scan: next.scan, roots: await rootsOf(next), wanted });
    running = undefined;
    if (is_closed) return;
    await doneStore.write([...done, { id: next.id, state: last.state, last: { ...last, found: [] } }].slice(-100));
    await standing.remove();
    await work();
  }

  /** Of jobs that the server still tells of and that are over: it did not hear so, or the agent ended before it could say it. */
  async function sayOver(): Promise<void> {
    const told = new Set(jobs.map(({ id }) => id));
    for (const { id, last } of (await doneStore.read()) ?? [])
      if (last !== undefined && told.has(id)) say({ ...last, seq: parts.nextSeq() });
  }

  /** Its person wanted it back: watching does not take it away again at once. */
  async function keepRestored(path: Buffer): Promise<void> {
    const stats = await statForeign(path);
    if (stats === undefined) return;
    restored.set(path.toString('latin1'), stats);
    for (const [oldest] of restored) if (restored.size > RESTORED_MAXIMUM) restored.delete(oldest);
  }

  function isRestored({ path, stats }: FoundFile): boolean {
    const known = restored.get(path.toString('latin1'));
    return known !== undefined && isSame(stats, known);
  }

  async function carryOut({ id, finding_id, action }: FileOrder): Promise<void> {
    const result = action === 'restore' ? await quarantine.restore(finding_id) : { ok: true as const, path: undefined };
    if (result.ok && result.path !== undefined) await keepRestored(result.path);
    if (action === 'delete') {
      await quarantine.remove(finding_id);
      await found_files.forget(finding_id);
    }
    happened({
      event: 'order_done',
      order_id: id,
      ok: result.ok,
      message: result.ok ? null : lineOf(result.reason, LINE_LENGTH),
    });
  }

  const restored = new Map<string, Stats>();
  const orders_done = new Set<string>();
  const inTurn = (task: () => Promise<void>) => {
    busy = busy.then(task).catch((error: unknown) => log(`a scan failed: ${String(error)}`));
    return busy;
  };

  return {
    want(desired) {
      jobs = desired.scan_jobs;
      exclusions = desired.exclusions;
      for (const order of desired.file_orders) {
        if (orders_done.has(order.id) || parts.isSaid(order.id)) continue;
        orders_done.add(order.id);
        void carryOut(order).catch((error: unknown) => log(String(error)));
      }
      if (jobs.length > 0) void sayOver().catch((error: unknown) => log(String(error)));
      if (running === undefined && jobs.some(({ wanted }) => wanted !== 'pause')) void inTurn(work);
    },
    async scanNow(path, onReport) {
      const roots = path === null ? localRoots() : [Buffer.from(path)];
      const last = await runScan({
        ...{ job_id: null, scan: path === null ? 'full' : 'folder', roots, onReport },
        wanted: () => 'run',
      });
      await stopEngine();
      return last;
    },
    async readNew(file, lane) {
      if (is_closed) return 'gone';
      if (isRestored(file)) return 'read';
      users += 1;
      try {
        await makeOwnFolder(work_folder);
        const pool = startEngine(lane === 'small' ? 'new' : 'main');
        const signatures_version = lineOf(pool.status().signatures_version ?? '', 100);
        const facts = {
          ...{ job_id: null, scan: 'watch' as const, reason: null, signatures_version },
          progress: emptyProgress(),
        };
        const outcome = await readOne(file, pool, (one) => untold.keep(one, { ...facts, state: 'running' }));
        await calm(pool);
        if (outcome === 'gone') return 'gone';
        if (outcome === 'pending') return 'unread';
        if ('id' in outcome) {
          const progress = { ...emptyProgress(), files_read: 1, files_total: 1, is_counted: true, bytes_read: outcome.size };
          tell({ ...facts, state: 'done', progress, found: [outcome] });
        }
        return 'read';
      } finally {
        release();
      }
    },
    async signaturesChanged() {
      // An engine that does not run begins with them.
      for (const engine of Object.values(engines))
        if (!(await engine.reload(parts.signatures()))) log('the engine could not take the new signatures');
    },
    noted(seq) {
      // One report and no earlier one: what was lost with a connection is said again under another number.
      if (!unnoted.some((report) => report.seq === seq)) return;
      unnoted = unnoted.filter((report) => report.seq !== seq);
      keepUnnoted();
    },
    again() {
      void keeping.then(() => {
        unnoted = unnoted.map((report) => ({ ...report, seq: parts.nextSeq() }));
        for (const report of unnoted) say(report);
      });
    },
    async close() {
      is_closed = true;
      await stopEngine();
    },
  };
}
