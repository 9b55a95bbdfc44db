import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ScanReport, saidSchema, scanProgressOnDeviceSchema } from '@palisade/contract/agent';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '#agent/ids.ts';

const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join('');
const PROGRAM = new URL('../../test/run-scan.ts', import.meta.url).pathname;
const FILES = 8_000;
const FILES_IN_FOLDER = 100;
const INFECTED_EVERY = 400;

let root: string;
let tree: string;
const running = new Set<ChildProcess>();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-killed-'));
  tree = join(root, 'tree');
});
afterEach(() => {
  for (const child of running) kill(child);
  rmSync(root, { recursive: true, force: true });
});

/** Children of a process, and theirs. */
function below(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
  return [...children, ...children.flatMap(below)];
}

/** The agent and its engine, at once and without a word. */
function kill(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const all = [pid, ...below(pid)];
  for (const one of all) process.kill(one, 'SIGKILL');
}

const pathOf = (index: number) => join(tree, `${Math.floor(index / FILES_IN_FOLDER)}`, `${index}.txt`);
const seenOf = ({ progress }: ScanReport) => progress.files_read + progress.files_known + progress.files_pending;
const standingSchema = z.object({ progress: scanProgressOnDeviceSchema });
/** Number of files that the agent had noted as seen when it was killed. */
function standingKept(): number {
  const path = join(root, 'state/scan-standing.json');
  if (!existsSync(path)) return 0;
  const { files_read, files_known, files_pending } = standingSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).progress;
  return files_read + files_known + files_pending;
}
const verdictsKept = () =>
  readFileSync(join(root, 'state/verdicts.txt'), 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line.includes(' '));

// proves: device-fault-21
it('continues where it was after it and its engine were killed in the middle, three times, and reports each finding once', async () => {
  for (let index = 0; index < FILES; index += 1) {
    if (index % FILES_IN_FOLDER === 0) mkdirSync(join(tree, `${index / FILES_IN_FOLDER}`), { recursive: true });
    writeFileSync(pathOf(index), index % INFECTED_EVERY === 0 ? EICAR : `a harmless letter, the ${index}th`);
  }
  const infected = Array.from({ length: FILES / INFECTED_EVERY }, (_, index) => pathOf(index * INFECTED_EVERY));
  const id = newId();
  const heard: ScanReport[][] = [];

  async function scan(until: (last: ScanReport | undefined) => boolean): Promise<ScanReport[]> {
    const child = spawn(process.execPath, [PROGRAM, join(root, 'state'), tree, id], { stdio: ['pipe', 'pipe', 'pipe'] });
    running.add(child);
    const reports: ScanReport[] = [];
    heard.push(reports);
    let said = '';
    const isReached = () => until(reports.findLast(({ job_id }) => job_id === id));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
    createInterface(child.stdout).on('line', (line) => {
      const frame = saidSchema.parse(JSON.parse(line));
      if (frame.kind === 'scan_report') reports.push(frame);
      // The scan waits, so that it is never over before the test looked.
      if (isReached()) kill(child);
      else child.stdin.write('.');
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await vi.waitFor(() => expect(isReached(), said).toBe(true), { timeout: 200_000, interval: 1 });
    kill(child);
    await ended;
    running.delete(child);
    return reports;
  }
  const isGone = (path: string) => !existsSync(path);

  // As soon as a file was taken away, before it was reported.
  await scan(() => infected.some(isGone));
  const taken = infected.filter(isGone).length;
  const second = await scan((last) => last !== undefined && seenOf(last) >= FILES / 4 && standingKept() > 0);
  expect(second.flatMap(({ found }) => found).length).toBeGreaterThanOrEqual(taken);
  const [stood_second, kept_second] = [standingKept(), verdictsKept().length];
  const third = await scan((last) => last !== undefined && seenOf(last) >= FILES / 2);
  const [stood, kept] = [standingKept(), verdictsKept().length];
  expect(kept).toBeGreaterThan(kept_second);
  // Until its last finding is stored for a repeated report.
  const untold = () => readdirSync(join(root, 'state/untold'));
  const fourth = await scan((last) => last?.state === 'done' && untold().length === 0);

  // The shown number never decreases: not while it walks past known files, nor before its engine is up.
  const shown = (reports: readonly ScanReport[]) => reports.filter(({ found }) => found.length === 0).map(seenOf);
  expect(Math.min(...shown(third))).toBeGreaterThanOrEqual(stood_second);
  expect(Math.min(...shown(fourth).slice(0, -1))).toBeGreaterThanOrEqual(stood);
  const last = fourth.at(-1)?.progress;
  expect(last?.files_known).toBeGreaterThanOrEqual(kept - 1);
  expect(last?.files_pending).toBe(0);
  expect((last?.files_known ?? 0) + (last?.files_read ?? 0)).toBeGreaterThanOrEqual(FILES - infected.length);

  // A verdict for each, once.
  const keys = verdictsKept().map((line) => line.slice(0, line.indexOf(' ')));
  expect([keys.length, new Set(keys).size]).toEqual([FILES - infected.length, FILES - infected.length]);
  expect(infected.filter((path) => existsSync(path))).toEqual([]);
  const found = new Map(heard.flat().flatMap((report) => report.found.map((file) => [file.id, file] as const)));
  expect([...found.values()].map(({ path }) => path).sort()).toEqual(infected.toSorted());
  expect([...found.values()].every(({ outcome }) => outcome === 'quarantined')).toBe(true);
  const sealed = readdirSync(join(root, 'state/quarantine')).filter((name) => name.endsWith('.sealed'));
  expect(sealed.map((name) => name.replace('.sealed', '')).sort()).toEqual([...found.keys()].sort());
}, 400_000);
