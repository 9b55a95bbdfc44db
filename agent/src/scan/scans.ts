import { join } from 'node:path';
import { type Desired, type DeviceEvent, type ScanJob, type ScanReport, saidSchema } from '@palisade/contract/agent';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import { createStore, type Store } from '#agent/store.ts';
import { FileOrders } from './file-orders.ts';
import { createFoundFiles } from './found-files.ts';
import type { Lane } from './new-files.ts';
import { Quarantine } from './quarantine.ts';
import { createScanCheckpoint, type ScanCheckpoint } from './scan-checkpoint.ts';
import { lowerPriority, ScanEngines } from './scan-engines.ts';
import { type ScanFileParts, scanFile } from './scan-file.ts';
import { EMPTY_PROGRESS } from './scan-progress.ts';
import { rootsOf } from './scan-roots.ts';
import { runScan, type ScanTask, VERSION_LENGTH } from './scan-run.ts';
import { UnnotedFindings } from './unnoted-findings.ts';
import { UnsentFindings } from './unsent-findings.ts';
import { type FoundFile, localRoots } from './walk.ts';

/** Folders below the agent's state: sealed files, records of findings, and unsent findings. */
export const QUARANTINE_FOLDER = 'quarantine';
export const FOUND_FOLDER = 'found';
const UNSENT_FOLDER = 'untold';
const WORK_FOLDER = 'scan-work';
const DONE_MAXIMUM = 100;
const scanReportSchema = saidSchema.options[3];

export interface ScansParts {
  /** `/var/lib/palisade-agent` */
  state: string;
  /** The signatures in use. */
  signatures: () => SignatureFiles;
  say: (report: ScanReport) => void;
  happened: (event: DeviceEvent) => void;
  log: (line: string) => void;
  wait: (ms: number) => Promise<void>;
  /** Whether the result of a file order is reported but not yet confirmed by the server. */
  isSaid: (order_id: string) => boolean;
  /** Returns the next sequence number, which is unique over all reports of this agent. */
  nextSeq: () => number;
  /** Lowers the priority of an engine process. Tests replace it, because at low priority an engine would hardly run beside other test processes. */
  lowerPriority?: (pid: number) => Promise<void>;
}

/** Ended jobs with their last reports, which are sent again if the server missed them. */
const doneSchema = z.array(z.object({ id: z.string(), state: z.string(), last: scanReportSchema.optional() }));
type DoneJobs = z.infer<typeof doneSchema>;

/** Scans files on this computer: one job at a time, at the lowest priority. */
export class Scans {
  readonly #parts: ScansParts;
  readonly #work_folder: string;
  readonly #files: ScanFileParts;
  readonly #engines: ScanEngines;
  readonly #unsent: UnsentFindings;
  readonly #unnoted: UnnotedFindings;
  readonly #checkpoint: ScanCheckpoint;
  readonly #done: Store<DoneJobs>;
  readonly #orders: FileOrders;
  #jobs: readonly ScanJob[] = [];
  #exclusions: readonly string[] = [];
  /** The job in progress. */
  #running: string | undefined;
  /** The latest job work, running or queued. */
  #queue = Promise.resolve();
  #is_closed = false;

  constructor(parts: ScansParts) {
    const { state, log, happened, isSaid, nextSeq, signatures } = parts;
    const quarantine = new Quarantine(join(state, QUARANTINE_FOLDER));
    const found_files = createFoundFiles(join(state, FOUND_FOLDER));
    const work_folder = join(state, WORK_FOLDER);
    this.#parts = parts;
    this.#work_folder = work_folder;
    this.#files = { quarantine, found_files, work_folder, log };
    this.#engines = new ScanEngines({ signatures, work_folder, log, lowerPriority: parts.lowerPriority ?? lowerPriority });
    this.#unsent = new UnsentFindings(join(state, UNSENT_FOLDER), quarantine);
    this.#unnoted = new UnnotedFindings({ state, unsent: this.#unsent, nextSeq, log });
    this.#checkpoint = createScanCheckpoint(state);
    this.#done = createStore(join(state, 'scans-done.json'), doneSchema);
    this.#orders = new FileOrders({ quarantine, found_files, happened, isSaid, log });
  }

  /** Applies the jobs, orders and exclusions of a desired state. */
  want(desired: Pick<Desired, 'scan_jobs' | 'file_orders' | 'exclusions'>): void {
    const { log } = this.#parts;
    this.#jobs = desired.scan_jobs;
    this.#exclusions = desired.exclusions;
    this.#orders.want(desired.file_orders);
    if (this.#jobs.length > 0) void this.#sayDoneAgain().catch((error: unknown) => log(String(error)));
    if (this.#running !== undefined || this.#jobs.every(({ wanted }) => wanted === 'pause')) return;
    this.#queue = this.#queue.then(() => this.#work()).catch((error: unknown) => log(`a scan failed: ${String(error)}`));
  }

  /** Scans one file or folder now without a job; the whole computer if `path` is null. */
  async scanNow(path: string | null, onReport: (report: ScanReport) => void): Promise<ScanReport> {
    const roots = path === null ? localRoots() : [Buffer.from(path)];
    const scan = path === null ? 'full' : 'folder';
    const last = await this.#run({ job_id: null, scan, roots, onReport, wanted: () => 'run' });
    await this.#engines.stop();
    return last;
  }

  /** Scans a file that was just written, also during a job. A restored file is skipped until it changes. */
  async readNew(file: FoundFile, lane: Lane): Promise<'read' | 'unread' | 'gone'> {
    if (this.#is_closed) return 'gone';
    if (this.#orders.isRestored(file)) return 'read';
    await this.#unnoted.taken_up;
    return this.#engines.use(async () => {
      const pool = await this.#engines.start(lane === 'small' ? 'new' : 'main');
      const signatures_version = lineOf(pool.status().signatures_version ?? '', VERSION_LENGTH);
      const facts = { job_id: null, scan: 'watch' as const, reason: null, signatures_version };
      const outcome = await scanFile(this.#files, pool, file, (one) =>
        this.#unsent.keep(one, { ...facts, progress: EMPTY_PROGRESS, state: 'running' }),
      );
      await this.#engines.lowerPriority(pool);
      if (outcome === 'gone') return 'gone';
      if (outcome === 'pending') return 'unread';
      if ('id' in outcome) {
        const progress = { ...EMPTY_PROGRESS, files_read: 1, files_total: 1, is_counted: true, bytes_read: outcome.size };
        this.#say({ ...facts, state: 'done', progress, found: [outcome] });
      }
      return 'read';
    });
  }

  /** Reloads the signatures in running engines. */
  async signaturesChanged(): Promise<void> {
    await this.#engines.reload();
  }

  /** Handles the server's confirmation of a report. */
  noted(seq: number): void {
    this.#unnoted.noted(seq);
  }

  /** Sends unconfirmed findings again. */
  resend(): void {
    this.#unnoted.resend(this.#parts.say);
  }

  async close(): Promise<void> {
    this.#is_closed = true;
    await this.#engines.close();
  }

  /** Runs the jobs in sequence. Ended jobs are stored, so that a job that the server still lists does not run again. */
  async #work(): Promise<void> {
    const done = (await this.#done.read()) ?? [];
    const next = this.#jobs.find(({ id, wanted }) => wanted !== 'pause' && !done.some((one) => one.id === id));
    if (next === undefined || this.#is_closed) return;
    const { id, scan } = next;
    this.#running = id;
    const wanted = () => this.#jobs.find((job) => job.id === id)?.wanted;
    const last = await this.#run({ job_id: id, scan, roots: await rootsOf(next), wanted });
    this.#running = undefined;
    if (this.#is_closed) return;
    await this.#done.write([...done, { id, state: last.state, last: { ...last, found: [] } }].slice(-DONE_MAXIMUM));
    await this.#checkpoint.remove();
    await this.#work();
  }

  async #run(task: ScanTask): Promise<ScanReport> {
    await this.#unnoted.taken_up;
    const { state, wait, log } = this.#parts;
    const parts = {
      state,
      own_folders: [join(state, QUARANTINE_FOLDER), this.#work_folder],
      exclusions: () => this.#exclusions,
      engines: this.#engines,
      checkpoint: this.#checkpoint,
      unsent: this.#unsent,
      files: this.#files,
      isClosed: () => this.#is_closed,
      say: (report: Omit<ScanReport, 'kind' | 'seq'>) => this.#say(report),
      wait,
      log,
    };
    return await this.#engines.use(() => runScan(parts, task));
  }

  /** Sends the last reports of ended jobs again if the server still lists the jobs: it has not received the reports. */
  async #sayDoneAgain(): Promise<void> {
    const { say, nextSeq } = this.#parts;
    const named = new Set(this.#jobs.map(({ id }) => id));
    for (const { id, last } of (await this.#done.read()) ?? [])
      if (last !== undefined && named.has(id)) say({ ...last, seq: nextSeq() });
  }

  #say(report: Omit<ScanReport, 'kind' | 'seq'>): ScanReport {
    const numbered: ScanReport = {
      kind: 'scan_report',
      seq: this.#parts.nextSeq(),
      at: new Date().toISOString(),
      ...report,
    };
    if (numbered.found.length > 0) this.#unnoted.add(numbered);
    this.#parts.say(numbered);
    return numbered;
  }
}
