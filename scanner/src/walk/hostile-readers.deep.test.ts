import { readdirSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, processorTimeFor, SCAN_LIMITS, timeFor } from '#scanner/reading/limits.ts';
import { ole, pdf, tarEntry, uuencoded } from '#test/containers.ts';
import { type Examination, examined, examinedTexts } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { HOSTILE, oleCircles, packed, pdfLies, zipShared } from '#test/hostile-files.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { packWith7Zip } from '#test/seven-zip-pack.ts';

/** The readers' work for a file, without the rules. */
async function workFor(content: Buffer): Promise<{ work: number; examination: Examination }> {
  const budget = new Budget(SCAN_LIMITS, content.length);
  const examination = await examined(content, { match: () => [], budget, on_disk: true });
  return { work: budget.work, examination };
}

async function expectFound(bytes: Buffer): Promise<void> {
  const { texts } = await examinedTexts(bytes, { match: () => [], on_disk: true });
  expect(texts.some((text) => text.includes(EICAR.toString('latin1')))).toBe(true);
}

const KIB = 1024;
const MIB = 1024 ** 2;

// proves: attack-A.1-4
describe('readers need at most twice the work for twice the bytes, or end, for', () => {
  test.each([...HOSTILE])('%s', async (_, make) => {
    const once = await workFor(make(128 * KIB));
    const twice = await workFor(make(256 * KIB));
    expect(twice.work).toBeLessThan(2.5 * once.work + 64 * KIB);
  });

  test('a PDF whose streams are all as long as the rest of it', async () => {
    // There are as many bytes in all of them together as the square of its size: reading them is given up.
    expect((await workFor(pdfLies(512 * KIB))).examination.unread).toContain('time_limit');
  });

  test('a mailbox of empty mails', async () => {
    const { work, examination } = await workFor(Buffer.from('From a b\nX: a\n'.repeat(150_000)));
    expect(examination).toMatchObject({ unread: ['too_many_members'], coverage: { members_total: 10_001 } });
    // The first 10,000 mails are 150 KB; to look for the others again and again would be 4 MB each.
    expect(work).toBeLessThan(16 * MIB);
  });
});

describe('an OLE file', () => {
  // proves: attack-A.1-1
  test('a table that is one sector 109 times and chains in circles are damaged, and take no more than the file', async () => {
    const file = oleCircles();
    const before = process.memoryUsage().rss;
    const { work, examination } = await workFor(file);
    expect(examination.unread).toEqual(['damaged']);
    expect(work).toBeLessThan(32 * file.length);
    expect(examination.coverage.bytes_scanned).toBeLessThan(8 * file.length);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
  });

  // proves: attack-A.1-2
  test('is damaged where the list of its table leads back into itself', async () => {
    const file = ole([{ name: 'Data', content: noise(5000) }]);
    // The list continues in the sector 0, of which the last number is 0.
    file.writeUInt32LE(0, 68);
    file.writeUInt32LE(0, 512 + 508);
    // As if the header listed none of them.
    file.fill(0xff, 76, 512);
    // The purpose of sectors outside of every table is unknown.
    expect((await workFor(file)).examination.unread).toEqual(['damaged', 'unexplained']);
  });

  // proves: attack-A.1-2
  test('is damaged where small sectors lead back to themselves', async () => {
    const file = ole([{ name: 'Small', content: noise(1000) }], { mini: true });
    const list = (file.readUInt32LE(60) + 1) * 512;
    file.writeUInt32LE(0, list + 4);
    expect((await workFor(file)).examination.unread).toEqual(['damaged']);
  });

  // proves: attack-A.1-3
  test('that claims streams of 4 GiB gives what there is of them', async () => {
    const file = ole([{ name: 'Data', content: noise(5000) }]);
    const directory = (file.readUInt32LE(48) + 1) * 512;
    file.writeUInt32LE(0xffffffff, directory + 128 + 120);
    const { examination } = await workFor(file);
    expect(examination).toMatchObject({ unread: ['damaged'], coverage: { members_total: 1 } });
    expect(examination.coverage.bytes_scanned).toBeLessThan(3 * file.length);
  });

  test('streams that share their sectors are given up as damaged', async () => {
    const make = HOSTILE.get('an OLE file whose streams share their sectors');
    expect((await workFor(make?.(256 * KIB) ?? Buffer.alloc(0))).examination.unread).toEqual(['damaged']);
  });
});

describe('a file that is small only while it is packed', () => {
  // proves: attack-A.2-1
  test.each([
    ['ASCII85 zeros in a PDF', packed(pdf(Buffer.alloc(0), { filter: '/ASCII85Decode', bytes: Buffer.alloc(15 * MIB, 'z') }))],
    [
      'padding of base64 in a mail',
      packed(
        Buffer.concat([Buffer.from('From: a\nSubject: a\nContent-Transfer-Encoding: base64\n\n'), Buffer.alloc(15 * MIB, '=')]),
      ),
    ],
    [
      'a list of filters',
      packed(pdf(Buffer.alloc(0), { filter: `[${'/ASCII85Decode '.repeat(1_000_000)}]`, bytes: Buffer.from('z') })),
    ],
  ])('takes no memory: %s', async (_, file) => {
    expect(file.length).toBeLessThan(64 * KIB);
    const before = process.memoryUsage().rss;
    const { examination } = await workFor(file);
    expect(examination.threat).toBeNull();
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
  });
});

describe('a zip', () => {
  test('a directory that names one member again and again is a bomb, or has too many', async () => {
    const { examination } = await workFor(zipShared(MIB, 0));
    expect(['bomb', 'too_many_members']).toContain(examination.unread[0]);
    expect(examination.coverage.bytes_scanned).toBeLessThan(600 * MIB);
  });

  test('ends before 7-Zip is asked, too', async () => {
    expect((await workFor(zipShared(MIB, 14))).examination.unread[0]).toBe('bomb');
  });
});

describe('7-Zip', () => {
  // proves: attack-A.2-4
  test.each([
    ['an LZMA file that claims a dictionary of 2 GiB', lzmaClaims(0x80000000)],
    ['an LZMA file that claims a dictionary of 512 MiB', lzmaClaims(0x20000000)],
  ])('is not given the memory for %s', async (_, file) => {
    const before = process.memoryUsage().rss;
    const { examination } = await workFor(file);
    expect(examination.unread.length).toBeGreaterThan(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  test('may unpack more files than a process may have open', async () => {
    const files: Record<string, Buffer> = Object.fromEntries<Buffer>([
      ['0', Buffer.alloc(17 * MIB)],
      ...Array.from({ length: 3000 }, (_, index): [string, Buffer] => [`file-${index}`, Buffer.from(`${index}`)]),
    ]);
    const archive = await packWith7Zip(files, ['-t7z', '-mx=0']);
    const open = readdirSync('/proc/self/fd').length;
    let most = 0;
    const { unread, coverage } = await examined(archive, {
      on_disk: true,
      match: () => {
        most = Math.max(most, readdirSync('/proc/self/fd').length);
        return [];
      },
    });
    expect({ unread, members: coverage.members_total }).toEqual({ unread: [], members: 3001 });
    expect(most - open).toBeLessThan(50);
  });
});

/** EICAR by LZMA, with another size of its dictionary. */
function lzmaClaims(dictionary: number): Buffer {
  const file = Buffer.from(PACKED_EICAR.get('lzma') ?? Buffer.alloc(0));
  file.writeUInt32LE(dictionary, 1);
  return file;
}

describe('a tar archive', () => {
  test("with a folder that has a size ends, and the folder's bytes are read as a file and as the next member", async () => {
    const folder_with_size = tarEntry({ name: 'eicar.com', content: EICAR, type: '5' });
    const as_file = await workFor(Buffer.concat([folder_with_size, Buffer.alloc(1024)]));
    expect(as_file.examination).toMatchObject({ unread: [], coverage: { members_total: 1, members_scanned: 1 } });
    const inner = tarEntry({ name: 'inner', content: EICAR });
    const as_member = await workFor(Buffer.concat([tarEntry({ name: 'folder', content: inner, type: '5' }), Buffer.alloc(1024)]));
    // As a file it is a tar itself.
    expect(as_member.examination).toMatchObject({ unread: [], coverage: { members_total: 3, members_scanned: 3 } });
  });

  test('ends where the next header is in the middle of a block', async () => {
    const whole = tarEntry({ name: 'eicar.com', content: EICAR });
    const { examination } = await workFor(
      Buffer.concat([whole.subarray(0, 512 + 100), tarEntry({ name: 'b', content: EICAR }), Buffer.alloc(900)]),
    );
    expect(examination.unread).toEqual(['damaged']);
  });

  // proves: attack-A.1-3
  test.each([
    ['all sevens', '777777777777'],
    ['base 256', Buffer.from('80ffffffffffffffffffffff', 'hex').toString('latin1')],
    ['negative', Buffer.from('ffffffffffffffffffffffff', 'hex').toString('latin1')],
  ])('that claims a size of %s is damaged, and read as far as it goes', async (_, size) => {
    const { examination } = await workFor(withChecksum(Buffer.from(tarEntry({ name: 'a', content: EICAR })), size));
    expect(examination.unread).toEqual(['damaged']);
  });

  test('an extended header that is longer than any is damaged', async () => {
    const file = tarEntry({ name: 'pax', content: Buffer.alloc(3 * MIB, '1'), type: 'x' });
    const { work, examination } = await workFor(
      Buffer.concat([file, tarEntry({ name: 'a', content: EICAR }), Buffer.alloc(1024)]),
    );
    expect(examination).toMatchObject({ unread: ['damaged'], coverage: { members_total: 1 } });
    // Twice the length is twice the work: 4.2 to 4.4 of them, at any length.
    expect(work).toBeLessThan(5 * file.length);
  });
});

/** A header of tar with another size, and the sum that goes with it. */
function withChecksum(file: Buffer, size: string): Buffer {
  file.write(size, 124, 'latin1');
  file.fill(0x20, 148, 156);
  const sum = file.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  file.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return file;
}

describe('a file that programs read differently is read both ways', () => {
  const attachment = `Content-Type: application/zip\nContent-Transfer-Encoding: base64\n\n${Buffer.from(packed(EICAR)).toString('base64')}\n`;
  const parts = `Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHello.\nFrom now on it is text.\n--b\n${attachment}--b--\n`;

  test.each([
    ['a mail that begins with a line of a mailbox, and has another in its text', `From a b\nX-A: b\n${parts}`],
    ['a mailbox of which the first mail is none', `From a b\nno header\n\nFrom a b\nX-A: b\nSubject: a\n${attachment}`],
    [
      'a header that ends at a line that is none',
      `From: a\nSubject: b\nContent-Transfer-Encoding: base64\n${attachment.split('\n')[3]}\n`,
    ],
    [
      'a boundary with brackets',
      `From: a\nSubject: b\n${parts.replace('boundary=b', 'boundary="b(1)"').replaceAll('--b', '--b(1)')}`,
    ],
    [
      'padding of base64 where nothing can be padded',
      `From: a\nSubject: b\nContent-Transfer-Encoding: base64\n\nQ=UJD==\n${attachment.split('\n')[3]}\n`,
    ],
    ['uuencode with a long name', uuencoded('a'.repeat(5000), packed(EICAR)).toString('latin1')],
    [
      'uuencode in a text that is no mail',
      uuencoded('a.zip', packed(EICAR))
        .toString('latin1')
        .replace(/^.*?\n\n/s, 'A text.\n'),
    ],
  ])('%s', async (_, text) => {
    await expectFound(Buffer.from(text, 'latin1'));
  });

  // proves: attack-A.2-2
  test.each([
    ['a filter that another object names', '/Filter 7 0 R'],
    ['no filter that can be told', '/Type/X'],
    ['a bracket in a text between', '/Filter/FlateDecode /X ( obj)'],
  ])('a packed stream in a PDF with %s', async (_, dictionary) => {
    const head = Buffer.from(`%PDF-1.5\n1 0 obj\n<<${dictionary}>>\nstream\n`);
    await expectFound(Buffer.concat([head, deflateSync(EICAR), Buffer.from('\nendstream\nendobj\n')]));
  });

  test('LZMA with an unusual dictionary', async () => {
    const { examination } = await workFor(lzmaClaims(0xfb0000));
    expect(examination).toMatchObject({ unread: [], coverage: { members_total: 1, members_scanned: 1 } });
  });

  test('bytes that only look like LZMA are no archive', async () => {
    const file = Buffer.alloc(500);
    file[0] = 0x5d;
    expect((await workFor(file)).examination.unread).toEqual([]);
  });
});

describe('a limit of time', () => {
  test('is shorter for a small file, and never longer than it was set', () => {
    expect(timeFor(SCAN_LIMITS, 1000)).toBeLessThanOrEqual(25_000);
    expect(timeFor(SCAN_LIMITS, 1024 ** 3)).toBe(SCAN_LIMITS.time_ms);
    expect(timeFor({ ...SCAN_LIMITS, time_ms: 100 }, 1000)).toBe(100);
    // Of the processor a small file gets less than ten seconds.
    expect(processorTimeFor(SCAN_LIMITS, 10 * MIB)).toBeLessThanOrEqual(8000);
    expect(processorTimeFor(SCAN_LIMITS, 1024 ** 3)).toBe(SCAN_LIMITS.time_ms);
  });

  // proves: attack-A.2-4
  test('counts work, so that a reader that is led in circles ends', () => {
    const budget = new Budget(SCAN_LIMITS, 1000);
    expect(() => {
      for (let turn = 0; turn < 1000; turn += 1) budget.spend(MIB);
    }).toThrow('time_limit');
    expect(budget.work).toBeLessThan(100 * MIB);
  });
});

test('an archive of 20,000 members ends at 10,000, and says how many were read', async () => {
  const archive = zip(Array.from({ length: 20_000 }, (_, index) => ({ name: `${index}`, content: Buffer.from('x') })));
  const limits = { ...SCAN_LIMITS, time_ms: Number.POSITIVE_INFINITY };
  const budget = new Budget(limits, archive.length);
  expect(await examined(archive, { match: () => [], limits, budget })).toMatchObject({
    unread: ['too_many_members'],
    coverage: { members_total: 10_001, members_scanned: 10_000 },
  });
});
