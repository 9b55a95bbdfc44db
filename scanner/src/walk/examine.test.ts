import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { docx, mail, mailbox, ole, pdf, tarEntry, vbaCompressed } from '#test/containers.ts';
import { examined } from '#test/examined.ts';
import { EICAR, LARGE_PIECES, noise, zip, zipBomb } from '#test/files.ts';
import { LEAF_SAMPLES } from '#test/leaf-samples.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { containersOf } from '#test/samples/index.ts';
import type { Progress } from './examination.ts';

const MIB = 1024 ** 2;

const PROGRAM = LEAF_SAMPLES.get('PE') ?? Buffer.alloc(0);
const LOCKED = [...PACKED_EICAR].filter(([name]) => /encrypted|aes|zipcrypto/.test(name));
const OPEN = [...PACKED_EICAR].filter(([name]) => !/encrypted|aes|zipcrypto/.test(name));

describe('EICAR is found in', () => {
  test.each(OPEN)('%s', async (name, content) => {
    expect(await examined(content, { name, on_disk: true })).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test.each([
    ['7z', PACKED_EICAR.get('7z')],
    ['bzip2', PACKED_EICAR.get('bzip2')],
    ['cab', containersOf(EICAR).get('cab, stored')],
    ['mail', mail('eicar.com', EICAR.toString('base64'), 'base64')],
    ['docx', docx('eicar.com', EICAR)],
  ])('a %s within a zip behind a program', async (_, content = Buffer.alloc(0)) => {
    const program = Buffer.concat([PROGRAM, zip([{ name: 'a', content }])]);
    expect(await examined(program)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test('a 7z archive behind a program', async () => {
    const program = Buffer.concat([Buffer.from('MZ'), noise(5000), PACKED_EICAR.get('7z') ?? Buffer.alloc(0)]);
    expect(await examined(program)).toMatchObject({
      threat: 'EICAR-Test-File',
      threat_member: 'rest at 5002 / eicar.com',
      unread: [],
    });
  });
});

test.each([0, 8])('the file inside is named, also where the bytes of the archive match (method %i)', async (method) => {
  const script = Buffer.from(`<?php eval($_POST['a']); ?>`);
  const archive = zip([
    { name: 'a.txt', content: Buffer.from('harmless') },
    { name: 'docs/run.php', content: script, method },
  ]);
  expect(await examined(archive)).toMatchObject({ threat_member: 'docs/run.php' });
});

describe('password-protected files', () => {
  test.each(LOCKED)('is unread as encrypted: %s', async (_, content) => {
    expect(await examined(content)).toMatchObject({ threat: null, unread: ['encrypted'] });
  });

  test('is an encrypted Office document or PDF, too', async () => {
    const document = ole([{ name: 'EncryptedPackage', content: noise(5000) }]);
    expect(await examined(document)).toMatchObject({ unread: ['encrypted'], coverage: { encrypted: 1 } });
    expect(await examined(pdf(EICAR, { trailer: '/Encrypt 5 0 R' }))).toMatchObject({ unread: ['encrypted'] });
  });
});

describe('a zip archive with wrong claims', () => {
  const file = { name: 'eicar.com', content: EICAR };
  const harmless = { name: 'a.txt', content: Buffer.from('harmless') };

  test('gives away a member that its directory leaves out', async () => {
    const whole = zip([file, harmless]);
    const shown = zip([harmless]);
    const first = whole.indexOf('PK\x03\x04', 4, 'latin1');
    // The local header of the first member stays, the directory knows the second alone.
    const hidden = Buffer.concat([whole.subarray(0, first), shown]);
    expect(await examined(hidden)).toMatchObject({ threat: 'EICAR-Test-File', coverage: { members_total: 2 } });
  });

  test('is read both ways where its headers contradict each other', async () => {
    const archive = zip([{ ...file, method: 0 }]);
    const central = archive.lastIndexOf('PK\x01\x02', undefined, 'latin1');
    const claims = (at: number, value: number) => {
      const bent = Buffer.from(archive);
      bent.writeUInt16LE(value, at);
      return bent;
    };
    // The directory says encrypted, then deflated; the local header says neither.
    expect(await examined(claims(central + 8, 1))).toMatchObject({ threat: 'EICAR-Test-File', unread: ['encrypted'] });
    expect(await examined(claims(central + 10, 8))).toMatchObject({ threat: 'EICAR-Test-File', unread: ['damaged'] });
    // The other way round.
    expect(await examined(claims(6, 1))).toMatchObject({ threat: 'EICAR-Test-File', unread: ['encrypted'] });
  });

  test('is damaged where the checksum of a member is wrong', async () => {
    const archive = zip([harmless]);
    archive.writeUInt32LE(1, 14);
    archive.writeUInt32LE(1, archive.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 16);
    expect(await examined(archive)).toMatchObject({ threat: null, unread: ['damaged'] });
  });

  test('is read as far as it goes when it is cut short', async () => {
    const archive = zip([file, { name: 'noise', content: noise(50_000) }, { name: 'more', content: noise(50_000) }]);
    const cut = await examined(archive.subarray(0, 30_000));
    expect(cut).toMatchObject({ threat: 'EICAR-Test-File', unread: ['damaged'], coverage: { members_total: 2 } });
    // Raw bytes, and the present part of the second member.
    expect(cut.coverage.bytes_scanned).toBeGreaterThan(59_000);
  });

  test('that announces sizes of its own is not believed', async () => {
    const archive = zip([{ name: 'zeros', content: Buffer.alloc(40 * MIB) }]);
    archive.writeUInt32LE(10, archive.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 24);
    expect(await examined(archive)).toMatchObject({ unread: ['bomb'] });
  });
});

describe('a tar archive', () => {
  const packed = gzipSync(EICAR);
  const harmless = tarEntry({ name: 'a.txt', content: Buffer.from('harmless') });
  const END_OF_TAR = Buffer.alloc(1024);

  test.each([
    ['a type that its own standard does not know', 'Z', ['unsupported']],
    ['a sparse file of GNU', 'S', ['unsupported']],
    ['the second part of a file on several tapes', 'M', ['unsupported']],
  ])('is read with %s', async (_, type, unread) => {
    const archive = Buffer.concat([tarEntry({ name: 'eicar.gz', content: packed, type }), harmless, END_OF_TAR]);
    expect(await examined(archive)).toMatchObject({
      threat: 'EICAR-Test-File',
      threat_member: 'eicar.gz / eicar',
      unread,
      coverage: { members_total: 3, members_scanned: 3 },
    });
  });

  test('is pending where its files have holes that are not filled in', async () => {
    const pax = (record: string) =>
      tarEntry({ name: 'pax', content: Buffer.from(`${record.length + 4} ${record}\n`), type: 'x' });
    const archive = Buffer.concat([pax('GNU.sparse.size=5000'), harmless, END_OF_TAR]);
    expect(await examined(archive)).toMatchObject({ threat: null, unread: ['unsupported'] });
    expect(await examined(Buffer.concat([pax('comment=nothing else'), harmless, END_OF_TAR]))).toMatchObject({ unread: [] });
  });
});

describe('macros', () => {
  const MACRO = [
    'Attribute VB_Name = "ThisDocument"',
    'Sub Document_Open()',
    `  Shell "power${'shell'} -w hidden -enc AAAA", 0`,
    'End Sub',
    '',
  ].join('\r\n');
  const module = Buffer.concat([noise(700), vbaCompressed(MACRO)]);

  test('of an OLE document are read as source, wherever in their stream they begin', async () => {
    expect(await examined(ole([{ name: 'ThisDocument', content: module }]))).toMatchObject({
      threat: 'Macro.Office.AutoRunShell',
      threat_member: 'ThisDocument (macro)',
      unread: [],
    });
  });

  test('of a docm are, too', async () => {
    const document = docx('vbaProject.bin', ole([{ name: 'ThisDocument', content: module }]));
    expect(await examined(document)).toMatchObject({
      threat: 'Macro.Office.AutoRunShell',
      threat_member: 'word/embeddings/vbaProject.bin / ThisDocument (macro)',
    });
  });

  test('are no reason to take noise for one', async () => {
    expect(await examined(ole([{ name: 'Data', content: noise(50_000) }]))).toMatchObject({
      threat: null,
      unread: [],
      coverage: { members_total: 1 },
    });
  });

  test('in an OLE file with a circle in its chain of sectors end', async () => {
    const document = ole([{ name: 'Data', content: noise(5000) }]);
    // The second sector of the stream points back to the first.
    document.writeUInt32LE(0, document.length - 512 + 4);
    expect(await examined(document)).toMatchObject({ threat: null, unread: ['damaged'] });
  });
});

describe('a PDF', () => {
  const LAUNCH = `<</Type/Action /S /Launch /Win << /F (cmd.${'exe'}) /P (/c calc) >> >>`;

  test('is read with its streams unpacked', async () => {
    const hidden = pdf(EICAR, { filter: '/Fl#61teDecode', bytes: deflateSync(Buffer.from(LAUNCH)) });
    const plain = Buffer.from(hidden.toString('latin1').replace('/EmbeddedFile', '/ObjStm'), 'latin1');
    expect(await examined(plain)).toMatchObject({
      threat: 'Exploit.PDF.LaunchCommand',
      threat_member: 'unpacked streams',
      unread: [],
    });
  });
});

describe('mail', () => {
  test.each([['with the padding of base64 in its middle', (text: string) => text.replace('WDVPIVAl', 'WDVPIVA=\r\nJQ==')]])(
    '%s is read as a mail program would',
    async (_, bend) => {
      const whole = mail('eicar.com', EICAR.toString('base64'), 'base64').toString('latin1');
      const bent = bend(whole);
      expect(bent).not.toBe(whole);
      expect(await examined(Buffer.from(bent, 'latin1'))).toMatchObject({
        threat: 'EICAR-Test-File',
        threat_member: 'eicar.com',
      });
    },
  );

  test('of many mails gives each as a member', async () => {
    const many = mailbox(Array.from({ length: 30 }, (_, index) => mail(`${index}.txt`, 'hello', '7bit')));
    // Thirty mails, each with its text and its attachment.
    expect(await examined(many)).toMatchObject({
      threat: null,
      unread: [],
      coverage: { members_total: 90, members_scanned: 90 },
    });
  });
});

describe('a limit', () => {
  /** 315 MB of zeros, by bzip2. */
  const bzip2OfZeros = Buffer.concat(
    new Array<Buffer>(7).fill(
      Buffer.from(
        'QlpoOTFBWSZTWQ4J4t8BX45AAMAAAAggADCATUZCoCWpCoCXMUFZJlNZl6e+HAAJ2sAEwAAAAQAIIAAwzAmqaZIhW1REK8XckU4UJCLtHuiA',
        'base64',
      ),
    ),
  );
  const zeros = Buffer.alloc(300 * MIB);
  const gzipOfZeros = gzipSync(zeros, LARGE_PIECES);
  const bombs: [string, Buffer][] = [
    ['zip', zipBomb()],
    ['gzip', gzipOfZeros],
    ['zip of gzip', zip([{ name: 'a.gz', content: gzipOfZeros }])],
    ['bzip2', bzip2OfZeros],
    ['PDF', pdf(zeros)],
    [
      'PDF, packed twice',
      pdf(EICAR, { filter: '[/FlateDecode /FlateDecode]', bytes: deflateSync(deflateSync(zeros, LARGE_PIECES)) }),
    ],
    [
      'PDF, with a bad header of its stream',
      pdf(EICAR, { bytes: Buffer.concat([noise(2), deflateRawSync(zeros, LARGE_PIECES)]) }),
    ],
  ];
  test.each(bombs)('stops a bomb early: %s', async (_, bomb) => {
    const before = process.memoryUsage().rss;
    const examination = await examined(bomb);
    expect(examination.unread).toEqual(['bomb']);
    expect(examination.coverage.bytes_scanned).toBeLessThan(100 * MIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  test('ends an archive of more members, and says how many were read', async () => {
    const archive = zip(Array.from({ length: 1_000 }, (_, index) => ({ name: `${index}`, content: Buffer.from('x') })));
    const limits = { members: 500, time_ms: Number.POSITIVE_INFINITY };
    expect(await examined(archive, { limits })).toMatchObject({
      unread: ['too_many_members'],
      coverage: { members_total: 501, members_scanned: 500 },
    });
  });

  test('on members and bytes holds inside of 7-Zip, too', async () => {
    const archive = PACKED_EICAR.get('7z') ?? Buffer.alloc(0);
    expect((await examined(archive, { limits: { members: 1 } })).unread).toEqual(['too_many_members']);
    const few = { unpacked_bytes: 30 };
    expect((await examined(archive, { limits: few })).unread).toEqual(['too_large']);
    expect((await examined(PACKED_EICAR.get('xz') ?? Buffer.alloc(0), { limits: few })).unread).toEqual(['too_large']);
  });
});

describe('progress', () => {
  async function progressOf(content: Buffer): Promise<Progress[]> {
    const told: Progress[] = [];
    await examined(content, { on_disk: true, onProgress: (progress) => told.push(progress) });
    return told;
  }

  test('of a large file is the share of it that was matched', async () => {
    const shares = (await progressOf(noise(80 * MIB))).map(({ share }) => share);
    expect(shares[0]).toBe(0);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(new Set(shares).size).toBeGreaterThan(3);
  });

  test('of an archive is the number of members read, of as many as it says it has', async () => {
    const entries = Array.from({ length: 7 }, (_, index) => ({ name: `${index}.txt`, content: Buffer.from(`text ${index}`) }));
    const told = (await progressOf(zip(entries))).filter(({ members_found }) => members_found > 0);
    expect(told.map(({ members_found }) => members_found)).toEqual(told.map(() => 7));
    expect(new Set(told.map(({ members_read }) => members_read))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
    // One that lies about it.
    const lying = zip(entries);
    lying.writeUInt16LE(60_000, lying.length - 12);
    expect((await progressOf(lying)).every(({ members_found }) => members_found <= SCAN_LIMITS.members)).toBe(true);
  });
});

describe('bent bytes', () => {
  test('never make it throw, hang or leave something behind', { timeout: 120_000 }, async () => {
    const seeds = [...PACKED_EICAR.values(), ...containersOf(EICAR).values()];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.option(fc.nat()),
        async (seed, changes, cut) => {
          const bent = Buffer.from(seed);
          for (const [at, byte] of changes) bent[at % bent.length] = byte;
          await examined(cut === null ? bent : bent.subarray(0, cut % bent.length));
        },
      ),
      { numRuns: 150 },
    );
  });
});
