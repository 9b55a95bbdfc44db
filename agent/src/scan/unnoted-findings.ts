import { join } from 'node:path';
import { FINDINGS_MAXIMUM, type Found, type ScanReport, saidSchema } from '@palisade/contract/agent';
import { z } from 'zod';
import { createStore, type Store } from '#agent/store.ts';
import type { UnsentFindings } from './unsent-findings.ts';

/** Maximum reports with findings that wait for confirmation. Beyond it, reports of the same scan are merged. */
const REPORTS_MAXIMUM = 200;
/** Maximum bytes of the findings in one report as JSON, where a control character in a path takes six bytes. */
const FOUND_BYTES = 128 * 1024;
const scanReportSchema = saidSchema.options[3];

/** The first findings that fit into one report. */
export function fittingOf(found: readonly Found[]): Found[] {
  let bytes = 0;
  const fitting: Found[] = [];
  for (const file of found.slice(0, FINDINGS_MAXIMUM)) {
    bytes += Buffer.byteLength(JSON.stringify(file));
    if (fitting.length > 0 && bytes > FOUND_BYTES) break;
    fitting.push(file);
  }
  return fitting;
}

/** Merges consecutive reports of one scan; a merged report has the state of the later one. */
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

export interface UnnotedFindingsParts {
  /** The folder of the agent's state. */
  state: string;
  unsent: UnsentFindings;
  nextSeq: () => number;
  log: (line: string) => void;
}

/** Reports with findings that the server has not confirmed yet. They are kept on disk, so that a restart of the agent loses none. */
export class UnnotedFindings {
  readonly #parts: UnnotedFindingsParts;
  readonly #store: Store<unknown[]>;
  #reports: ScanReport[] = [];
  /** Resolves when the findings of a killed agent are recovered. No scan starts before, because their files may have temporary names. */
  readonly taken_up: Promise<void>;
  /** The latest write to disk, running or queued. */
  #writing: Promise<void>;

  constructor(parts: UnnotedFindingsParts) {
    this.#parts = parts;
    this.#store = createStore(join(parts.state, 'found.json'), z.array(z.unknown()));
    this.taken_up = this.#takeUp().catch(() => parts.log('what was found earlier could not be read from the disk'));
    this.#writing = this.taken_up;
  }

  add(report: ScanReport): void {
    const all = this.#reports.length < REPORTS_MAXIMUM ? [...this.#reports, report] : packed([...this.#reports, report]);
    if (all.length > REPORTS_MAXIMUM)
      this.#parts.log('more was found than can wait for the server: the oldest findings are forgotten');
    this.#reports = all.slice(-REPORTS_MAXIMUM);
    this.#write(report.found);
  }

  /** Removes a confirmed report. Earlier reports may have been lost with a connection, so they stay until they are confirmed. */
  noted(seq: number): void {
    if (!this.#reports.some((report) => report.seq === seq)) return;
    this.#reports = this.#reports.filter((report) => report.seq !== seq);
    this.#write();
  }

  /** Gives all reports new numbers and sends them again. */
  resend(say: (report: ScanReport) => void): void {
    void this.#writing.then(() => {
      this.#reports = this.#reports.map((report) => ({ ...report, seq: this.#parts.nextSeq() }));
      for (const report of this.#reports) say(report);
    });
  }

  /** Loads unconfirmed reports of earlier agent processes, and recovers findings of an agent that was killed before it reported them. */
  async #takeUp(): Promise<void> {
    const { unsent, nextSeq } = this.#parts;
    const kept = ((await this.#store.read()) ?? []).flatMap((one) => scanReportSchema.safeParse(one).data ?? []);
    const known = new Set(kept.flatMap(({ found }) => found.map(({ id }) => id)));
    const taken_up = await unsent.takeUp();
    const more = taken_up
      .filter(({ found }) => !found.some(({ id }) => known.has(id)))
      .map((report): ScanReport => ({ ...report, kind: 'scan_report', seq: nextSeq() }));
    this.#reports = [...kept, ...more, ...this.#reports];
    if (more.length > 0) await this.#store.write(this.#reports);
    for (const { found } of taken_up) for (const { id } of found) await unsent.forget(id);
  }

  /** @param said findings whose own records are no longer needed once the reports are on the disk */
  #write(said: readonly Found[] = []): void {
    this.#writing = this.#writing
      .then(async () => {
        await this.#store.write(this.#reports);
        for (const { id } of said) await this.#parts.unsent.forget(id);
      })
      .catch(() => this.#parts.log('what was found could not be kept on the disk'));
  }
}
