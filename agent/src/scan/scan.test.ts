import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  type BigIntStats,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DeviceEvent, SAID_BYTES_MAXIMUM, type ScanJob, type ScanReport, saidSchema } from '@palisade/contract/agent';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import { fewSignatures } from '@palisade/scanner/test/few-signatures';
import { EICAR as EICAR_BYTES, zip } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '#agent/ids.ts';
import { openForeign } from '#files/foreign.ts';
import { heldBytes } from '#test/held-bytes.ts';
import { Quarantine } from './quarantine.ts';
import { lowerPriority } from './scan-engines.ts';
import { Scans } from './scans.ts';
import { packed } from './unnoted-findings.ts';
import { openVerdicts } from './verdicts.ts';
import { countFiles, readMounts, walk } from './walk.ts';

const EICAR = EICAR_BYTES.toString('latin1');
const SIGNATURES = join(fewSignatures(), 'rules');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-scan-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const bytesOf = (paths: readonly string[]) => paths.map((path) => Buffer.from(path));

async function filesIn(roots: readonly string[], exclusions: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of walk({ roots: bytesOf(roots), exclusions: bytesOf(exclusions), goOn: async () => true }))
    found.push(path.toString('latin1').replace(root, ''));
  return found.sort();
}

describe('the walk', () => {
  // proves: device-fault-18
  it('reads each file once, follows no link and enters no excluded folder', async () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    mkdirSync(join(root, 'left'));
    for (const name of ['one', 'a/two', 'a/b/three', 'left/out']) writeFileSync(join(root, name), name);
    linkSync(join(root, 'one'), join(root, 'a/once-more'));
    symlinkSync(join(root, 'left'), join(root, 'a/link'));
    symlinkSync('/etc/passwd', join(root, 'a/passwd'));
    const found = await filesIn([root], [join(root, 'left/')]);
    expect(found.filter((name) => name === '/one' || name === '/a/once-more')).toHaveLength(1);
    expect(found.filter((name) => !['/one', '/a/once-more'].includes(name))).toEqual(['/a/b/three', '/a/two']);
  });

  it('reads files whose names are no UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'x');
    expect(await filesIn([root])).toEqual(['/\u00ff\u00feA']);
  });

  it('is counted ahead of by names alone, folder after folder, as far as it goes', async () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    mkdirSync(join(root, 'left'));
    for (const name of ['one', 'a/two', 'a/b/three', 'left/out']) writeFileSync(join(root, name), name);
    symlinkSync(join(root, 'left'), join(root, 'a/link'));
    const sums: number[] = [];
    const where = { roots: bytesOf([root, join(root, 'a/two')]), exclusions: bytesOf([join(root, 'left')]) };
    expect(await countFiles({ ...where, goOn: async () => true }, (files) => sums.push(files))).toBe(true);
    expect([sums.at(-1), sums.length]).toEqual([4, 4]);
    expect(await countFiles({ ...where, goOn: async () => sums.length < 6 }, (files) => sums.push(files))).toBe(false);
  });

  it('ends when its callback says so', async () => {
    for (let index = 0; index < 5; index += 1) mkdirSync(join(root, `${index}`));
    for (let index = 0; index < 5; index += 1) writeFileSync(join(root, `${index}/file`), '');
    let asked = 0;
    let seen = 0;
    for await (const _ of walk({ roots: bytesOf([root]), exclusions: [], goOn: async () => asked++ < 2 })) seen += 1;
    expect(seen).toBeLessThan(5);
  });

  it('takes local file systems, each part of one once', () => {
    const mountinfo = [
      '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
      '23 22 0:21 / /proc rw - proc proc rw',
      '24 22 8:2 / /home rw - xfs /dev/sda2 rw',
      '25 22 8:2 /maria /srv/maria rw - xfs /dev/sda2 rw',
      '26 22 0:50 / /mnt/nas rw - nfs4 nas:/ rw',
      '27 22 0:51 / /mnt/ssh rw - fuse.sshfs host: rw',
      '28 22 8:3 / /media/with\\040blank rw - vfat /dev/sdb1 rw',
      '29 22 0:5 / /dev rw - devtmpfs udev rw',
      '30 22 0:25 / /run/user/1000 rw - tmpfs tmpfs rw',
    ].join('\n');
    expect(readMounts(mountinfo)).toEqual(['/', '/home', '/media/with blank']);
  });
});

describe('clean files', () => {
  // proves: device-fault-18
  it('is remembered for very many files, with a bounded memory, and for one edition alone', async () => {
    const files = 200_000;
    const stats = lstatSync(root, { bigint: true });
    // As the walk gives them: the stats that identify a file.
    const statsOf = (index: number): BigIntStats => {
      stats.ino = BigInt(index);
      stats.size = 1_000n + BigInt(index);
      return stats;
    };
    const verdicts = await openVerdicts(root, 'engine 1');
    const before = heldBytes();
    for (let index = 0; index < files; index += 1) verdicts.remember(statsOf(index));
    await verdicts.save();
    // The agent's unit may take 1 GB.
    expect((heldBytes() - before) / files).toBeLessThan(600);
    const again = await openVerdicts(root, 'engine 1');
    expect([0, 1, files - 1].map((index) => again.isKnown(statsOf(index)))).toEqual([true, true, true]);
    expect(again.isKnown(statsOf(files))).toBe(false);
    expect((await openVerdicts(root, 'engine 2')).isKnown(statsOf(1))).toBe(false);
  });
});

describe('the quarantine', () => {
  const stats = (path: string) => lstatSync(path, { bigint: true });

  it('seals a file and puts it back as it was', async () => {
    const path = Buffer.from(join(root, 'found'));
    writeFileSync(path, EICAR);
    chmodSync(path, 0o640);
    const folder = join(root, 'quarantine');
    const quarantine = new Quarantine(folder);
    const id = newId();
    expect(await quarantine.take(id, path, stats(path.toString()))).toEqual({ ok: true });
    expect(existsSync(path)).toBe(false);
    const sealed = readFileSync(join(folder, `${id}.sealed`));
    expect([sealed.includes('EICAR'), sealed.length]).toEqual([false, EICAR.length + 28]);
    expect(lstatSync(join(folder, 'key')).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'something else');
    expect(JSON.stringify(await quarantine.restore(id))).toContain('Another file has its name');
    expect(readFileSync(path, 'utf8')).toBe('something else');
    rmSync(path);
    expect(await quarantine.restore(id)).toEqual({ ok: true, path });
    expect([readFileSync(path, 'utf8'), lstatSync(path).mode & 0o777]).toEqual([EICAR, 0o640]);
    expect(readdirSync(folder)).toEqual(['key']);
    expect(readdirSync(root).sort()).toEqual(['found', 'quarantine']);
  });

  it('restores no file that was changed while it was sealed', async () => {
    const path = Buffer.from(join(root, 'found'));
    const quarantine = new Quarantine(join(root, 'quarantine'));
    const id = newId();
    writeFileSync(path, EICAR);
    await quarantine.take(id, path, stats(path.toString()));
    const sealed = join(root, 'quarantine', `${id}.sealed`);
    const bytes = readFileSync(sealed);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    writeFileSync(sealed, bytes);
    expect(await quarantine.restore(id)).toMatchObject({ ok: false });
    expect(readdirSync(root)).toEqual(['quarantine']);
  });

  // proves: device-fault-16
  it('takes no file that changed or vanished meanwhile, and no link in its place', async () => {
    const path = Buffer.from(join(root, 'found'));
    const quarantine = new Quarantine(join(root, 'quarantine'));
    writeFileSync(path, EICAR);
    const before = stats(path.toString());
    writeFileSync(path, `${EICAR} and more`);
    expect(JSON.stringify(await quarantine.take(newId(), path, before))).toContain('changed');
    expect(existsSync(path)).toBe(true);
    rmSync(path);
    expect(JSON.stringify(await quarantine.take(newId(), path, before))).toContain('gone');
    symlinkSync('/etc/passwd', path);
    expect(await quarantine.take(newId(), path, before)).toMatchObject({ ok: false });
    expect(existsSync('/etc/passwd')).toBe(true);
    expect(readdirSync(join(root, 'quarantine')).filter((name) => name.endsWith('.sealed'))).toEqual([]);
  });

  // As another user, the folders above belong to another user in the namespace, and no file is taken out of those.
  const can_mount = process.getuid?.() === 0 && spawnSync('unshare', ['-rm', 'true']).status === 0;
  // proves: device-fault-15
  needing('root', can_mount).test('leaves a file where it is when the disk is full, and says so', () => {
    mkdirSync(join(root, 'small'));
    writeFileSync(join(root, 'found'), Buffer.alloc(1024 ** 2, EICAR));
    const script = `
      import { lstatSync } from 'node:fs';
      import { Quarantine } from '${new URL('./quarantine.ts', import.meta.url).pathname}';
      const path = '${join(root, 'found')}';
      const taken = await new Quarantine('${join(root, 'small')}').take('${newId()}', Buffer.from(path), lstatSync(path, { bigint: true }));
      process.stdout.write(JSON.stringify(taken));`;
    writeFileSync(join(root, 'full.ts'), script);
    const said = execFileSync(
      'unshare',
      [
        '-rm',
        'sh',
        '-c',
        `mount -t tmpfs -o size=200k none "${join(root, 'small')}" && exec "${process.execPath}" "${join(root, 'full.ts')}"`,
      ],
      { encoding: 'utf8' },
    );
    expect(JSON.parse(said)).toEqual({ ok: false, reason: 'There is no room on the disk to seal it, so it lies where it was.' });
    expect(lstatSync(join(root, 'found')).size).toBe(1024 ** 2);
  });
});

it('an engine has the lowest priority for processor and disk', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    await lowerPriority(pid);
    expect(getPriority(pid)).toBe(constants.priority.PRIORITY_LOW);
    expect(execFileSync('ionice', ['-p', `${pid}`], { encoding: 'utf8' })).toContain('idle');
  } finally {
    child.kill('SIGKILL');
  }
});

describe('a scan', () => {
  let scans: Scans;
  let reports: ScanReport[];
  let events: DeviceEvent[];
  const lines: string[] = [];
  const lowered: number[] = [];
  const said_orders = new Set<string>();
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
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20))),
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
    await vi.waitFor(() => expect(reports.flatMap((report) => report.found)).toEqual(found));
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
    await vi.waitFor(() => expect(events).toEqual([{ event: 'order_done', order_id: order.id, ok: true, message: null }]));
    expect(readFileSync(join(root, 'files/games.zip')).equals(games)).toBe(true);

    // Of an order that was carried out the server is still to hear: another start of the agent does not try it again.
    await scans.close();
    start();
    said_orders.add(order.id);
    scans.want({ ...nothing, scan_jobs: [], file_orders: [order] });
    const other = { ...order, id: newId() };
    scans.want({ ...nothing, scan_jobs: [], file_orders: [order, other] });
    await vi.waitFor(() => expect(events).toHaveLength(2));
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
    await vi.waitFor(() => expect(reports).toHaveLength(1));
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
    await vi.waitFor(() => expect(reports.length).toBeGreaterThan(0));
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
    await vi.waitFor(() => expect(events).toHaveLength(1));
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
    await vi.waitFor(() => expect(opened()).toBe(true), { timeout: 20_000, interval: 1 });
    rmSync(path);
    await ended(one.id, 'done');
    expect(reports.at(-1)?.progress).toMatchObject({ files_total: 0, files_read: 0, files_pending: 0 });
  });

  // proves: device-fault-19
  it('continues with other signatures when they change, and forgets the results of the older ones', async () => {
    for (let index = 0; index < 200; index += 1) writeFileSync(join(root, `files/${index}.txt`), `a letter, the ${index}th`);
    const one = job(join(root, 'files'));
    scans.want({ ...nothing, scan_jobs: [one] });
    await vi.waitFor(() => expect(reports.at(-1)?.signatures_version).not.toBe(''), { timeout: 20_000, interval: 5 });
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
    await vi.waitFor(() => expect(reports.at(-1)?.state).toBe('running'), { timeout: 20_000 });
    scans.want({ ...nothing, scan_jobs: [{ ...one, wanted: 'pause' }] });
    await ended(one.id, 'paused');
    expect(reports.at(-1)?.progress.files_read).toBeLessThan(300);
    scans.want({ ...nothing, scan_jobs: [{ ...one, wanted: 'cancel' }] });
    await ended(one.id, 'cancelled');
  });
});
