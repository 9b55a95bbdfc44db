import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DeviceEvent, SAID_BYTES_MAXIMUM, type ScanJob, type ScanReport, saidSchema } from '@palisade/contract/agent';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import { eventually } from '@palisade/scanner/test/eventually';
import { fewSignatures } from '@palisade/scanner/test/few-signatures';
import { EICAR as EICAR_BYTES, zip } from '@palisade/scanner/test/files';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '#agent/ids.ts';
import { openForeign } from '#files/foreign.ts';
import { Scans } from './scans.ts';
import { packed } from './unnoted-findings.ts';

const EICAR = EICAR_BYTES.toString('latin1');
const SIGNATURES = join(fewSignatures(), 'rules');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-scan-'));
});

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('a scan', () => {
  let scans: Scans;
  let reports: ScanReport[];
  let events: DeviceEvent[];
  const lines: string[] = [];
  const lowered: number[] = [];
  const said_orders = new Set<string>();
  let waits = 0;
  let seq = 0;
  const job = (path: string, wanted: ScanJob['wanted'] = 'run'): ScanJob => ({ id: newId(), scan: 'folder', path, wanted });
  let signatures: SignatureFiles;
  const start = () => {
    scans = new Scans({
      state: join(root, 'state'),
      signatures: () => signatures,
      log: (line) => lines.push(line),
      nextSeq: () => (seq += 1),
      isSaid: (order_id) => said_orders.has(order_id),
      say: (report) => reports.push(report),
      happened: (event) => events.push(event),
      wait: (ms) => {
        waits += 1;
        return new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)));
      },
      lowerPriority: async (pid) => void lowered.push(pid),
    });
  };
  beforeEach(() => {
    reports = [];
    events = [];
    mkdirSync(join(root, 'files'));
    signatures = { rules_folder: SIGNATURES, feeds: [] };
    start();
  });
  afterEach(() => scans.close());
  const ended = (id: string, state: ScanReport['state']) =>
    vi.waitFor(() => expect(reports.filter(({ job_id }) => job_id === id).at(-1)?.state).toBe(state), {
      timeout: 100_000,
      interval: 20,
    });
  const nothing = { file_orders: [], exclusions: [] };

  it('finds a file in an archive, moves the archive to the quarantine and restores it when asked', async () => {
    for (let index = 0; index < 20; index += 1) writeFileSync(join(root, `files/${index}.txt`), `harmless ${index}`);
    const games = zip([{ name: 'eicar.com', content: EICAR_BYTES }]);
    writeFileSync(join(root, 'files/games.zip'), games);
    const first = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [first] });
    await ended(first.id, 'done');
    const found = reports.flatMap((report) => report.found);
    expect(found, JSON.stringify([reports.at(-1), lines])).toHaveLength(1);
    expect(found[0]).toMatchObject({ path: join(root, 'files/games.zip'), member: 'eicar.com', outcome: 'quarantined' });
    expect(existsSync(join(root, 'files/games.zip'))).toBe(false);
    const done = reports.at(-1)?.progress;
    const ended_at = reports.at(-1)?.at;
    expect([done?.files_read, done?.files_known, done?.files_total]).toEqual([21, 0, 21]);
    expect(lowered).not.toEqual([]);

    // A finding is repeated until it is confirmed, after a restart too.
    reports.length = 0;
    await scans.close();
    start();
    scans.resend();
    await eventually(() => expect(reports.flatMap((report) => report.found)).toEqual(found));
    scans.noted(seq);
    reports.length = 0;
    scans.resend();

    // The second time only what changed is read.
    writeFileSync(join(root, 'files/3.txt'), 'changed');
    const second = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [first, second] });
    await ended(second.id, 'done');
    // The first is not repeated, and is reported as over to a server that still sends it.
    expect(reports.filter(({ job_id }) => job_id === first.id)).toEqual([
      expect.objectContaining({ state: 'done', found: [], progress: done, at: ended_at }),
    ]);
    const again = reports.at(-1)?.progress;
    // The engine of a new scan says its edition with the first file that it reads.
    expect(again?.files_known).toBeGreaterThanOrEqual(18);
    expect((again?.files_known ?? 0) + (again?.files_read ?? 0)).toBe(20);

    const order = { id: newId(), finding_id: found[0]?.id ?? '', action: 'restore' as const };
    scans.want({ ...nothing, scan_jobs: [], file_orders: [order] });
    await eventually(() => expect(events).toEqual([{ event: 'order_done', order_id: order.id, ok: true, message: null }]));
    expect(readFileSync(join(root, 'files/games.zip')).equals(games)).toBe(true);

    // Of an order that was carried out the server is still to hear: another start of the agent does not try it again.
    await scans.close();
    start();
    said_orders.add(order.id);
    scans.want({ ...nothing, scan_jobs: [], file_orders: [order] });
    const other = { ...order, id: newId() };
    scans.want({ ...nothing, scan_jobs: [], file_orders: [order, other] });
    await eventually(() => expect(events).toHaveLength(2));
    expect(events[1]).toMatchObject({ order_id: other.id, ok: false });
  });

  /** As watching has a file looked at. */
  const look = (path: string) => {
    const bytes = Buffer.from(path);
    return scans.readNew({ path: bytes, stats: lstatSync(path, { bigint: true }), open: () => openForeign(bytes) }, 'small');
  };

  it('has findings confirmed report by report, and waits for no other one', async () => {
    for (const name of ['a', 'b']) {
      writeFileSync(join(root, `files/${name}`), EICAR);
      await look(join(root, `files/${name}`));
    }
    const [one, two] = reports.filter(({ found }) => found.length > 0);
    // The server noted something that came later than both.
    scans.noted(seq + 1);
    reports.length = 0;
    scans.noted(two?.seq ?? 0);
    scans.resend();
    await eventually(() => expect(reports).toHaveLength(1));
    expect(reports[0]?.found).toEqual(one?.found);
  });

  it("shortens hostile names to the contract's lengths, in frames that a server accepts", async () => {
    const part = '\u0001'.repeat(250);
    const deep = join(root, 'files', ...Array.from({ length: 14 }, () => part));
    mkdirSync(deep, { recursive: true });
    for (let index = 0; index < 15; index += 1) writeFileSync(join(deep, `${index}`), EICAR);
    // An archive in an archive in an archive: the finding in the innermost file names all three.
    const nested = ['', '.zip', '.zip'].reduce<Buffer>(
      (content, ending) => zip([{ name: `${'\u{1f600}'.repeat(1_000)}${ending}`, content }]),
      EICAR_BYTES,
    );
    writeFileSync(join(root, 'files/names.zip'), nested);
    const one = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one] });
    await ended(one.id, 'done');
    expect(reports.flatMap(({ found }) => found)).toHaveLength(16);
    for (const report of reports) {
      expect(saidSchema.safeParse(report).error?.issues).toBeUndefined();
      expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(SAID_BYTES_MAXIMUM);
    }
    const [first] = reports.filter(({ found }) => found.length > 0);
    if (first === undefined) throw new Error('nothing was found');
    const together = packed(
      Array.from({ length: 300 }, (_, index) => ({ ...first, seq: index, found: first.found.slice(0, 1) })),
    );
    expect(together.flatMap(({ found }) => found)).toHaveLength(300);
    for (const report of together) expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(SAID_BYTES_MAXIMUM);
  });

  it('reads new files beside a paused scan, and leaves restored ones alone', async () => {
    writeFileSync(join(root, 'files/a.txt'), 'harmless');
    const paused = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [paused] });
    await eventually(() => expect(reports.length).toBeGreaterThan(0));
    scans.want({ ...nothing, scan_jobs: [{ ...paused, wanted: 'pause' }] });
    const path = join(root, 'eicar.com');
    writeFileSync(path, EICAR);
    await look(join(root, 'files/a.txt'));
    expect(reports.filter(({ scan }) => scan === 'watch')).toEqual([]);
    await look(path);
    const [found] = reports.flatMap((report) => (report.scan === 'watch' ? report.found : []));
    expect(found).toMatchObject({ path, outcome: 'quarantined' });
    const order = { id: newId(), finding_id: found?.id ?? '', action: 'restore' as const };
    scans.want({ ...nothing, scan_jobs: [], file_orders: [order] });
    await eventually(() => expect(events).toHaveLength(1));
    await look(path);
    expect(existsSync(path)).toBe(true);
    writeFileSync(path, `${EICAR}\n`);
    await look(path);
    expect(existsSync(path)).toBe(false);
  });

  // proves: attack-E.7-1
  it('finds an infected file whose name is no UTF-8, and counts unread files', async () => {
    writeFileSync(Buffer.from(`${root}/files/n\u00ff.sh`, 'latin1'), EICAR);
    writeFileSync(join(root, 'files/large'), '');
    truncateSync(join(root, 'files/large'), 3 * 1024 ** 3);
    const one = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one] });
    await ended(one.id, 'done');
    const lastOf = ({ id }: ScanJob) => reports.filter(({ job_id }) => job_id === id).at(-1);
    expect(reports.flatMap(({ found }) => found)).toMatchObject([
      { path: `${root}/files/n\\xff.sh`, outcome: 'quarantined', threat: 'EICAR-Test-File' },
    ]);
    expect(lastOf(one)?.progress).toMatchObject({ files_read: 1, files_pending: 1, folders_unread: 0 });
    const left_open = readdirSync('/proc/self/fd').map((fd) => readLink(`/proc/self/fd/${fd}`));
    expect(left_open.filter((path) => path.startsWith(join(root, 'files')))).toEqual([]);
    const missing = job(join(root, 'no-such-folder'));
    scans.want({ ...nothing, scan_jobs: [missing] });
    await ended(missing.id, 'done');
    expect(lastOf(missing)?.progress).toMatchObject({ files_pending: 0, folders_unread: 1 });
  });

  // proves: device-fault-16
  it('counts a file that changes while it is read as not fully read, and reads it again the next time', async () => {
    const path = join(root, 'files/diary.txt');
    writeFileSync(path, 'harmless');
    let time = 0;
    const changing = setInterval(() => {
      time += 1;
      utimesSync(path, 1, time);
    }, 1);
    try {
      const first = job(join(root, 'files'));
      scans.want({ ...nothing, scan_jobs: [first] });
      await ended(first.id, 'done');
    } finally {
      clearInterval(changing);
    }
    expect(reports.at(-1)?.progress).toMatchObject({ files_read: 0, files_pending: 1, files_known: 0 });
    const second = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [second] });
    await ended(second.id, 'done');
    expect(reports.at(-1)?.progress).toMatchObject({ files_read: 1, files_pending: 0, files_known: 0 });
  });

  // proves: device-fault-17
  it('continues after a file that vanished while it was read, and does not count it', async () => {
    const path = join(root, 'files/a.bin');
    writeFileSync(path, '');
    // Long enough that it can be seen open.
    truncateSync(path, 128 * 1024 ** 2);
    const one = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one] });
    const opened = () => readdirSync('/proc/self/fd').some((fd) => readLink(`/proc/self/fd/${fd}`) === path);
    await eventually(() => expect(opened()).toBe(true));
    rmSync(path);
    await ended(one.id, 'done');
    expect(reports.at(-1)?.progress).toMatchObject({ files_total: 0, files_read: 0, files_pending: 0 });
  });

  // proves: device-fault-19
  it('continues with other signatures when they change, and forgets the results of the older ones', async () => {
    for (let index = 0; index < 200; index += 1) writeFileSync(join(root, `files/${index}.txt`), `a letter, the ${index}th`);
    const one = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one] });
    await eventually(() => expect(reports.at(-1)?.signatures_version).not.toBe(''));
    const before = reports.at(-1)?.signatures_version;
    const rules = join(root, 'rules');
    cpSync(SIGNATURES, rules, { recursive: true });
    const more =
      'rule Novel { meta: threat = "Novel" description = "A test." severity = "high" verdict = "infected" strings: $a = "a novel threat" condition: $a }';
    writeFileSync(join(rules, 'industry-test.yar'), `\n${more}\n`, { flag: 'a' });
    signatures = { rules_folder: rules, feeds: [] };
    await scans.signaturesChanged();
    writeFileSync(join(root, 'files/late.txt'), 'a novel threat');
    await ended(one.id, 'done');
    const again = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one, again] });
    await ended(again.id, 'done');
    expect(reports.flatMap(({ found }) => found).map(({ threat }) => threat)).toEqual(['Novel']);
    const last = reports.at(-1);
    expect(last?.signatures_version).not.toBe(before);
    // Each was read by the newer ones, in the first scan or in the second.
    const first = reports.findLast(({ job_id }) => job_id === one.id);
    expect((last?.progress.files_known ?? 0) + (last?.progress.files_read ?? 0)).toBeGreaterThanOrEqual(200);
    expect(last?.progress.files_known).toBeLessThanOrEqual(first?.progress.files_read ?? 0);
  });

  it('can be paused, resumed and cancelled', async () => {
    for (let index = 0; index < 300; index += 1) writeFileSync(join(root, `files/${index}.txt`), `harmless ${index}`);
    const one = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one] });
    await eventually(() => expect(reports.at(-1)?.state).toBe('running'));
    scans.want({ ...nothing, scan_jobs: [{ ...one, wanted: 'pause' }] });
    await ended(one.id, 'paused');
    expect(reports.at(-1)?.progress.files_read).toBeLessThan(300);
    const before = waits;
    await eventually(() => expect(waits).toBeGreaterThan(before + 2));
    expect(reports.filter(({ state }) => state === 'paused')).toHaveLength(1);
    scans.want({ ...nothing, scan_jobs: [{ ...one, wanted: 'cancel' }] });
    await ended(one.id, 'cancelled');
  });
});
