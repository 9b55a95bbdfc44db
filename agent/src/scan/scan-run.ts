import { availableParallelism, loadavg } from 'node:os';
import {
  type DeviceScanState,
  FINDINGS_MAXIMUM,
  type Found,
  type ScanJob,
  type ScanProgressOnDevice,
  type ScanReport,
} from '@palisade/contract/agent';
import type { YaraPool } from '@palisade/scanner/yara-pool';
import { lineOf } from '#agent/line.ts';
import { kernelNames, kernelText } from '#files/kernel.ts';
import { bytesOfText, wirePath } from '#files/name-text.ts';
import type { ScanCheckpoint } from './scan-checkpoint.ts';
import type { ScanEngines } from './scan-engines.ts';
import { type ScanFileParts, scanFile } from './scan-file.ts';
import {
  afterCount,
  afterFile,
  afterSeen,
  afterUnreadFolder,
  atEnd,
  EMPTY_TALLY,
  type ScanTally,
  shownProgress,
  withEstimate,
  withPath,
} from './scan-progress.ts';
import { fittingOf } from './unnoted-findings.ts';
import type { UnsentFindings } from './unsent-findings.ts';
import { openVerdicts, type Verdicts } from './verdicts.ts';
import { countFiles, type FoundFile, type WalkOptions, walk } from './walk.ts';

/** Files in progress concurrently: while the engine process scans one, the next is read from disk and hashed. */
const AT_ONCE = 2;
const REPORT_EVERY_MS = 1_000;
/** Interval of checkpoints: a killed scan repeats at most this much work. In ms. */
const SAVE_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 5_000;
export const VERSION_LENGTH = 100;

/** The files to scan, and the job if there is one. */
export interface ScanTask {
  job_id: string | null;
  scan: ScanReport['scan'];
  roots: readonly Buffer[];
  /** Undefined for a job that the server has withdrawn. */
  wanted: () => ScanJob['wanted'] | undefined;
  onReport?: (report: ScanReport) => void;
}

export interface ScanRunParts {
  /** The folder of the agent's state. */
  state: string;
  /** Folders of the agent that are not scanned. */
  own_folders: readonly string[];
  exclusions: () => readonly string[];
  engines: ScanEngines;
  checkpoint: ScanCheckpoint;
  unsent: UnsentFindings;
  files: ScanFileParts;
  isClosed: () => boolean;
  /** Adds a sequence number to a report, and sends it. */
  say: (report: Omit<ScanReport, 'kind' | 'seq'>) => ScanReport;
  wait: (ms: number) => Promise<void>;
  log: (line: string) => void;
}

function isOnBattery(): boolean {
  const names = kernelNames('/sys/class/power_supply');
  return names.some((name) => kernelText(`/sys/class/power_supply/${name}/status`).trim() === 'Discharging');
}

/** The reason why a full scan should wait; undefined if it need not. */
function reasonToWait(): string | undefined {
  if (isOnBattery()) return 'This computer runs on its battery.';
  return (loadavg()[0] ?? 0) > 4 * availableParallelism() ? 'This computer is very busy.' : undefined;
}

/** Scans the files of one task. @returns its last report */
export async function runScan(parts: ScanRunParts, task: ScanTask): Promise<ScanReport> {
  const { job_id } = task;
  const pool = await parts.engines.start('main');
  const checkpoint = job_id === null ? undefined : await parts.checkpoint.read(job_id);
  return new ScanRun(parts, task, pool, checkpoint).run();
}

class ScanRun {
  readonly #parts: ScanRunParts;
  readonly #task: ScanTask;
  readonly #pool: YaraPool;
  /** Progress of the same job in an earlier agent process. */
  #checkpoint: ScanProgressOnDevice | undefined;
  #tally: ScanTally = EMPTY_TALLY;
  /** Findings that are not reported yet. */
  #found: Found[] = [];
  #signatures_version = '';
  #verdicts: Verdicts | undefined;
  /** Edition of engine and signatures; empty until the engine has reported it. */
  #edition = '';
  #renewing = Promise.resolve();
  readonly #reading = new Set<Promise<void>>();
  #is_over = false;
  #is_paused = false;
  #began_at = 0;
  #waited_ms = 0;
  #reported_at = 0;
  #saved_at = performance.now();
  /** Time of the last check of the computer's load. */
  #looked_at = 0;

  constructor(parts: ScanRunParts, task: ScanTask, pool: YaraPool, checkpoint: ScanProgressOnDevice | undefined) {
    this.#parts = parts;
    this.#task = task;
    this.#pool = pool;
    this.#checkpoint = checkpoint;
  }

  async run(): Promise<ScanReport> {
    this.#report('running');
    const where = this.#where();
    this.#began_at = performance.now();
    const counting = this.#count(where);
    await this.#readAll(where);
    await this.#finish(counting);
    return this.#conclude();
  }

  #where(): Omit<WalkOptions, 'goOn'> {
    const { exclusions, own_folders } = this.#parts;
    return {
      roots: this.#task.roots,
      exclusions: [...exclusions().map(bytesOfText), ...own_folders.map((path) => Buffer.from(path))],
      onUnread: (_path, kind) => {
        this.#tally = kind === 'file' ? afterFile(afterSeen(this.#tally), 'pending', 0) : afterUnreadFolder(this.#tally);
      },
      // A requested folder that does not exist counts as unread.
      onMissing: () => {
        if (this.#task.scan === 'folder') this.#tally = afterUnreadFolder(this.#tally);
      },
    };
  }

  /** Counts the files concurrently, so that scanning starts at once. */
  #count(where: Omit<WalkOptions, 'goOn'>): Promise<boolean> {
    const counting = countFiles(
      { ...where, goOn: () => Promise.resolve(!this.#is_over && !this.#parts.isClosed()) },
      (files_counted) => (this.#tally = { ...this.#tally, files_counted }),
    );
    void counting
      .then((is_whole) => (this.#tally = afterCount(this.#tally, is_whole)))
      .catch((error: unknown) => this.#parts.log(`the files could not be counted: ${String(error)}`));
    return counting;
  }

  async #readAll(where: Omit<WalkOptions, 'goOn'>): Promise<void> {
    for await (const file of walk({ ...where, goOn: () => this.#goOn() })) {
      if (!(await this.#goOn())) break;
      this.#tally = afterSeen(this.#tally);
      await this.#renew();
      if (this.#verdicts?.isKnown(file.stats)) this.#tally = afterFile(this.#tally, 'known', 0);
      else await this.#beginReading(file);
      this.#tally = withEstimate(this.#tally, performance.now() - this.#began_at - this.#waited_ms);
      if (this.#found.length >= FINDINGS_MAXIMUM || performance.now() - this.#reported_at >= REPORT_EVERY_MS)
        this.#report('running');
      if (performance.now() - this.#saved_at >= SAVE_EVERY_MS) await this.#save();
    }
  }

  /** Starts to scan a file, and resolves when the next one may start. */
  async #beginReading(file: FoundFile): Promise<void> {
    this.#tally = withPath(this.#tally, wirePath(file.path));
    // Opened now, while the walk holds the folder open.
    const open = await file.open().then(
      (handle) => () => Promise.resolve(handle),
      (error: unknown) => () => Promise.reject(error),
    );
    const reading = this.#read({ ...file, open })
      .catch((error: unknown) => this.#parts.log(`a file could not be scanned: ${String(error)}`))
      .finally(() => this.#reading.delete(reading));
    this.#reading.add(reading);
    // The first file is scanned alone: then the engine reports its edition, which selects the verdicts of earlier scans.
    if (this.#reading.size >= (this.#edition === '' ? 1 : AT_ONCE)) await Promise.race(this.#reading);
  }

  async #read(file: FoundFile): Promise<void> {
    const outcome = await scanFile(this.#parts.files, this.#pool, file, (finding) =>
      this.#parts.unsent.keep(finding, this.#facts('running', null)),
    );
    await this.#renew();
    if (typeof outcome === 'object' && 'clean_by' in outcome && outcome.clean_by === this.#edition)
      this.#verdicts?.remember(file.stats);
    this.#tally = afterFile(this.#tally, typeof outcome === 'object' ? 'read' : outcome, Number(file.stats.size));
    if (typeof outcome === 'object' && 'id' in outcome) this.#found = [...this.#found, outcome];
  }

  /** Waits for the last files, and reports findings until the rest fits into the last report. */
  async #finish(counting: Promise<boolean>): Promise<void> {
    await Promise.all(this.#reading);
    while (fittingOf(this.#found).length < this.#found.length) this.#report('running');
    this.#is_over = true;
    await counting.catch(() => false);
    await this.#verdicts?.save();
    this.#tally = atEnd(this.#tally);
  }

  async #conclude(): Promise<ScanReport> {
    if (this.#parts.isClosed()) {
      await this.#saveCheckpoint();
      return this.#report('queued', 'The agent stopped; the scan goes on when it starts again.');
    }
    const is_done = this.#task.wanted() === 'run';
    if (is_done) this.#checkpoint = undefined;
    return this.#report(is_done ? 'done' : 'cancelled');
  }

  /** Waits while the scan is paused, or a full scan waits for power or load. @returns whether the scan continues */
  async #goOn(): Promise<boolean> {
    const asked_at = performance.now();
    try {
      return await this.#mayGoOn();
    } finally {
      this.#waited_ms += performance.now() - asked_at;
    }
  }

  async #mayGoOn(): Promise<boolean> {
    const { isClosed, wait } = this.#parts;
    const { wanted, scan } = this.#task;
    for (;;) {
      if (isClosed() || wanted() === 'cancel' || wanted() === undefined) return false;
      if (wanted() === 'pause') {
        if (!this.#is_paused) this.#report('paused');
        this.#is_paused = true;
        await wait(LOOK_EVERY_MS / 10);
        continue;
      }
      this.#is_paused = false;
      if (scan !== 'full' || performance.now() - this.#looked_at < LOOK_EVERY_MS) return true;
      const reason = reasonToWait();
      this.#looked_at = performance.now();
      if (reason === undefined) return true;
      this.#report('waiting', reason);
      await wait(LOOK_EVERY_MS);
      this.#looked_at = 0;
    }
  }

  /** Opens the verdicts of the engine's edition whenever the edition has changed. Calls run in sequence. */
  #renew(): Promise<void> {
    this.#renewing = this.#renewing.catch(() => undefined).then(() => this.#renewNow());
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    const edition = this.#pool.edition() ?? '';
    if (edition === this.#edition || edition === '') return;
    this.#edition = edition;
    await this.#verdicts?.save();
    this.#verdicts = await openVerdicts(this.#parts.state, edition);
    this.#signatures_version = lineOf(this.#pool.status().signatures_version ?? '', VERSION_LENGTH);
    await this.#parts.engines.lowerPriority(this.#pool);
  }

  async #save(): Promise<void> {
    this.#saved_at = performance.now();
    await this.#verdicts?.save();
    await this.#saveCheckpoint();
  }

  async #saveCheckpoint(): Promise<void> {
    const { job_id } = this.#task;
    if (job_id !== null) await this.#parts.checkpoint.write(job_id, this.#shown()).catch(() => undefined);
  }

  #shown(): ScanProgressOnDevice {
    return shownProgress(this.#tally.progress, this.#checkpoint);
  }

  #facts(state: DeviceScanState, reason: string | null): Omit<ScanReport, 'kind' | 'seq' | 'found'> {
    const { job_id, scan } = this.#task;
    return { job_id, scan, state, reason, signatures_version: this.#signatures_version, progress: this.#shown() };
  }

  #report(state: DeviceScanState, reason: string | null = null): ScanReport {
    const found = fittingOf(this.#found);
    const report = this.#parts.say({ ...this.#facts(state, reason), found });
    this.#found = this.#found.slice(found.length);
    this.#reported_at = performance.now();
    this.#task.onReport?.(report);
    return report;
  }
}
