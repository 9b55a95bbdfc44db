import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Found, saidSchema } from '@palisade/contract/agent';
import { idSchema } from '@palisade/contract/fields';
import { createStore, type Store } from '#agent/store.ts';
import { type ForeignFile, openForeign } from '#files/foreign.ts';
import { kernelLink } from '#files/kernel.ts';
import { bytesOfText } from '#files/name-text.ts';
import { ownNames } from '#files/own-state.ts';
import type { Quarantine } from './quarantine.ts';

const reportSchema = saidSchema.options[3];

/** The report of one finding, without its number. */
type FindingReport = Omit<(typeof reportSchema)['_output'], 'kind' | 'seq'>;

/** Whether another agent process is still working on the finding: a scan by hand runs beside the service. */
function isOfRunningAgent(pid: number): boolean {
  return pid !== process.pid && kernelLink(`/proc/${pid}/exe`) === process.execPath;
}

/** Whether the path still holds the bytes that were found: another file may have come to the same path since. */
async function isStillThere({ path, size, file_hash }: Found): Promise<boolean> {
  let file: ForeignFile | undefined;
  try {
    file = await openForeign(bytesOfText(path));
    if (file.stats.size !== BigInt(size)) return false;
    const hash = createHash('sha256');
    for await (const part of file.chunks()) hash.update(part);
    return hash.digest('hex') === file_hash;
  } catch {
    return false;
  } finally {
    await file?.close();
  }
}

const nameOf = (id: string, pid: number) => `${id}.${pid}.json`;

/**
 * A record of each finding from before its file is quarantined until its report is on the disk. An agent that was killed between the two sends the report at its next
 * start. Each record is one small file.
 */
export class UnsentFindings {
  readonly #folder: string;
  readonly #quarantine: Pick<Quarantine, 'read' | 'remove' | 'finishRemoval'>;

  constructor(folder: string, quarantine: Pick<Quarantine, 'read' | 'remove' | 'finishRemoval'>) {
    this.#folder = folder;
    this.#quarantine = quarantine;
  }

  /** Call it before the file is quarantined. */
  async keep(file: Found, report: Omit<FindingReport, 'found'>): Promise<void> {
    await this.#record(nameOf(file.id, process.pid)).write({ kind: 'scan_report', seq: 0, ...report, found: [file] });
  }

  /** Call it when the report is on the disk, or there is nothing to report. */
  async forget(id: string): Promise<void> {
    await this.#record(nameOf(id, process.pid)).remove();
  }

  /** Reports of killed agents whose files are whole in the quarantine and no longer at their paths. The next scan finds the others again. */
  async takeUp(): Promise<FindingReport[]> {
    const reports: FindingReport[] = [];
    for (const name of await ownNames(this.#folder)) {
      const report = await this.#takeUpOne(name);
      if (report !== undefined) reports.push(report);
    }
    return reports;
  }

  async #takeUpOne(name: string): Promise<FindingReport | undefined> {
    const [id = '', pid = ''] = name.split('.');
    if (!idSchema.safeParse(id).success || name !== nameOf(id, Number(pid)) || isOfRunningAgent(Number(pid))) return undefined;
    const kept = await this.#record(name).read();
    const [file] = kept?.found ?? [];
    const is_taken = kept !== undefined && file?.id === id && !(await isStillThere(file)) && (await this.#isSealedWhole(id));
    if (is_taken) await this.#quarantine.finishRemoval(id);
    // The file is still there and is found again, or another program removed it.
    if (file?.id === id && !is_taken) await this.#quarantine.remove(id);
    // The record belongs to this process until the report is sent.
    if (is_taken) await this.#record(nameOf(id, process.pid)).write(kept);
    if (!is_taken || name !== nameOf(id, process.pid)) await this.#record(name).remove();
    return is_taken ? kept : undefined;
  }

  /** Whether the whole file is sealed: an agent that was killed may have left a part. */
  async #isSealedWhole(id: string): Promise<boolean> {
    const read = await this.#quarantine.read(id);
    if (read === undefined) return false;
    try {
      for await (const _ of read());
      return true;
    } catch {
      return false;
    }
  }

  #record(name: string): Store<(typeof reportSchema)['_output']> {
    return createStore(join(this.#folder, name), reportSchema);
  }
}
