import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Found, saidSchema } from '@palisade/contract/agent';
import { idSchema } from '@palisade/contract/fields';
import { createStore } from '#agent/store.ts';
import { type ForeignFile, openForeign } from '#files/foreign.ts';
import { kernelLink } from '#files/kernel.ts';
import { bytesOfText } from '#files/name-text.ts';
import { ownNames } from '#files/own-state.ts';
import type { Quarantine } from './quarantine.ts';

const reportSchema = saidSchema.options[3];

/** What a finding will be said in: a report with that one finding. */
type Telling = Omit<(typeof reportSchema)['_output'], 'kind' | 'seq'>;

/**
 * Findings between the moment before their files are taken away and the moment when what is said of them is on the disk: an agent that is killed between the two says
 * them at its next start. One small file each, of which there are seldom any.
 */
export interface Untold {
  /** Before the file is taken away. */
  keep(file: Found, telling: Omit<Telling, 'found'>): Promise<void>;
  /** What is said of it is kept elsewhere, or there is nothing to say. */
  forget(id: string): Promise<void>;
  /** Of an agent that was killed: those whose files are in the quarantine as a whole, and not where they were. What lies where it was is found again. */
  takeUp(): Promise<Telling[]>;
}

/** Whether another agent is at it: a scan by hand runs beside the service. */
function isAtIt(pid: number): boolean {
  return pid !== process.pid && kernelLink(`/proc/${pid}/exe`) === process.execPath;
}

/** Whether the bytes that were found lie there still: something else may have come to the same path since. */
async function lies({ path, size, file_hash }: Found): Promise<boolean> {
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

export function createUntold(folder: string, quarantine: Pick<Quarantine, 'read' | 'remove'>): Untold {
  const nameOf = (id: string, pid: number) => `${id}.${pid}.json`;
  const record = (name: string) => createStore(join(folder, name), reportSchema);

  /** Whether the whole file is sealed: an agent that was killed may have left a part. */
  async function isWhole(id: string): Promise<boolean> {
    const parts = await quarantine.read(id);
    if (parts === undefined) return false;
    try {
      for await (const _ of parts());
      return true;
    } catch {
      return false;
    }
  }

  async function takeUpOne(name: string): Promise<Telling | undefined> {
    const [id = '', pid = ''] = name.split('.');
    if (!idSchema.safeParse(id).success || name !== nameOf(id, Number(pid)) || isAtIt(Number(pid))) return undefined;
    const kept = await record(name).read();
    const [file] = kept?.found ?? [];
    const is_taken = kept !== undefined && file?.id === id && !(await lies(file)) && (await isWhole(id));
    // It lies where it was, and is found again, or is gone without us.
    if (file?.id === id && !is_taken) await quarantine.remove(id);
    // Under this agent's number, until it is said.
    if (is_taken) await record(nameOf(id, process.pid)).write(kept);
    if (!is_taken || name !== nameOf(id, process.pid)) await record(name).remove();
    return is_taken ? kept : undefined;
  }

  return {
    keep: (file, telling) =>
      record(nameOf(file.id, process.pid)).write({ kind: 'scan_report', seq: 0, ...telling, found: [file] }),
    forget: (id) => record(nameOf(id, process.pid)).remove(),
    async takeUp() {
      const told: Telling[] = [];
      for (const name of await ownNames(folder)) {
        const one = await takeUpOne(name);
        if (one !== undefined) told.push(one);
      }
      return told;
    },
  };
}
