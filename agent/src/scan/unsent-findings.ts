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

/** The report of one finding, without its sequence number. */
type FindingReport = Omit<(typeof reportSchema)['_output'], 'kind' | 'seq'>;

/** Whether another agent process still handles the finding: `palisade-agent scan` can run beside the service. */
function isOfRunningAgent(pid: number): boolean {
  return pid !== process.pid && kernelLink(`/proc/${pid}/exe`) === process.execPath;
}

/** Whether the path still holds the bytes that were found, and not a different file. */
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
 * A record of each finding, from before its file is quarantined until its report is on disk. If the agent is killed in between, the report is sent at the next
 * start. Each record is one small file.
 */
export class UnsentFindings {
  readonly #folder: string;
  readonly #quarantine: Pick<Quarantine, 'read' | 'remove' | 'finishRemoval'>;

  constructor(folder: string, quarantine: Pick<Quarantine, 'read' | 'remove' | 'finishRemoval'>) {
    this.#folder = folder;
    this.#quarantine = quarantine;
  }

  /** Stores a finding. To be called before its file is quarantined. */
  async keep(file: Found, report: Omit<FindingReport, 'found'>): Promise<void> {
    await this.#record(nameOf(file.id, process.pid)).write({ kind: 'scan_report', seq: 0, ...report, found: [file] });
  }

  /** Removes the record. To be called when the report is on disk, or there is nothing to report. */
  async forget(id: string): Promise<void> {
    await this.#record(nameOf(id, process.pid)).remove();
  }

  /** Returns reports of killed agents whose files are completely quarantined and no longer at their paths. The next scan finds the other files again. */
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
    // The file is still at its path and will be found again, or another program removed it.
    if (file?.id === id && !is_taken) await this.#quarantine.remove(id);
    // Under the id of this process until the report is sent.
    if (is_taken) await this.#record(nameOf(id, process.pid)).write(kept);
    if (!is_taken || name !== nameOf(id, process.pid)) await this.#record(name).remove();
    return is_taken ? kept : undefined;
  }

  /** Whether the sealed file is complete: a killed agent may have left a partial one. */
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
