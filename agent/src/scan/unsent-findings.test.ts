import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Found } from '@palisade/contract/agent';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { newId } from '#agent/ids.ts';
import { Quarantine } from './quarantine.ts';
import { UnsentFindings } from './unsent-findings.ts';

const BYTES = 'what was found';
/** Of a process that has ended: no such number is given out. */
const DEAD = 2 ** 22 + 1;

let root: string;
let path: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-unsent-'));
  path = join(root, 'found.txt');
});

const counts = { files_read: 1, files_known: 0, files_pending: 0, folders_unread: 0, files_total: 1, bytes_read: BYTES.length };
const report: Parameters<UnsentFindings['keep']>[1] = {
  job_id: null,
  scan: 'full',
  state: 'running',
  reason: null,
  signatures_version: '1',
  progress: { ...counts, is_counted: true, bytes_per_second: 0, seconds_left: 0, path: null },
};

/** A file that was found, noted and sealed by an agent that was killed before it could say so. */
async function killedAfterSealing() {
  const quarantine = new Quarantine(join(root, 'quarantine'));
  const notes = join(root, 'unsent');
  const unsent = new UnsentFindings(notes, quarantine);
  writeFileSync(path, BYTES);
  linkSync(path, join(root, 'same-file'));
  const file: Found = {
    id: newId(),
    path,
    size: BYTES.length,
    file_hash: createHash('sha256').update(BYTES).digest('hex'),
    threat: 'EICAR_Test_File',
    member: null,
    outcome: 'quarantined',
    reason: null,
    found_at: new Date().toISOString(),
  };
  await unsent.keep(file, report);
  for (const name of readdirSync(notes))
    renameSync(join(notes, name), join(notes, name.replace(`.${process.pid}.`, `.${DEAD}.`)));
  expect(await quarantine.take(file.id, Buffer.from(path), lstatSync(path, { bigint: true }))).toEqual({ ok: true });
  return { quarantine, unsent, file, sealed: join(root, 'quarantine', `${file.id}.sealed`) };
}

describe('findings of an agent that was killed before it reported them', () => {
  it('are reported by the next one', async () => {
    const { quarantine, unsent, file } = await killedAfterSealing();
    expect(await unsent.takeUp()).toMatchObject([{ found: [file] }]);
    expect(await quarantine.read(file.id)).toBeDefined();
  });

  it('are reported, and stay sealed, though another file has come to the path', async () => {
    const { quarantine, unsent, file } = await killedAfterSealing();
    writeFileSync(path, 'something else');
    expect(await unsent.takeUp()).toMatchObject([{ found: [file] }]);
    expect(await quarantine.read(file.id)).toBeDefined();
    expect(readFileSync(path, 'utf8')).toBe('something else');
  });

  it('is removed where it was killed between hiding the file and removing it', async () => {
    const { unsent, file } = await killedAfterSealing();
    const record = z
      .object({ removal: z.object({ job: z.object({ set_aside: z.string() }) }) })
      .parse(JSON.parse(readFileSync(join(root, 'quarantine', `${file.id}.json`), 'utf8')));
    const hidden = join(root, record.removal.job.set_aside);
    renameSync(join(root, 'same-file'), hidden);
    expect(await unsent.takeUp()).toMatchObject([{ found: [file] }]);
    expect(existsSync(hidden)).toBe(false);
  });

  it('is left to the scan where it lies still, and what was sealed of it goes', async () => {
    const { quarantine, unsent, file } = await killedAfterSealing();
    writeFileSync(path, BYTES);
    expect(await unsent.takeUp()).toEqual([]);
    expect(await quarantine.read(file.id)).toBeUndefined();
    expect(await unsent.takeUp()).toEqual([]);
  });

  it('are not reported if only a part of the file is sealed', async () => {
    const { quarantine, unsent, file, sealed } = await killedAfterSealing();
    truncateSync(sealed, lstatSync(sealed).size - 1);
    expect(await unsent.takeUp()).toEqual([]);
    expect(await quarantine.read(file.id)).toBeUndefined();
  });
});
