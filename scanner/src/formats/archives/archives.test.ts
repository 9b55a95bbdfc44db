import { existsSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { tarEntry } from '#test/containers.ts';
import { type Examination, examinedTexts } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { PACKED_ARCHIVES } from '#test/packed-archives.ts';

/** `found`: EICAR stands in something that was taken out of the file. */
async function read(content: Buffer, name = 'file', needle = EICAR): Promise<Examination & { found: boolean }> {
  const examination = await examinedTexts(content, { name, on_disk: true });
  return { ...examination, found: examination.texts.slice(1).some((text) => text.includes(needle.toString('latin1'))) };
}

const HARMLESS = { name: 'a.txt', content: Buffer.from('harmless') };
const PACKED = { name: 'eicar.gz', content: gzipSync(EICAR) };

describe('archives of other programs are unpacked', () => {
  test.each([...PACKED_ARCHIVES])('%s', async (_, content) => {
    expect(await read(content)).toMatchObject({ found: true, unread: [] });
  });

  test('brotli, which has no magic, where it is named so', async () => {
    const packed = brotliCompressSync(Buffer.concat([EICAR, noise(100)]));
    expect(await read(packed, 'eicar.br')).toMatchObject({ found: true, unread: [] });
    const large = brotliCompressSync(Buffer.concat([EICAR, noise(100)]), {
      params: { [constants.BROTLI_PARAM_LARGE_WINDOW]: 1, [constants.BROTLI_PARAM_LGWIN]: 30 },
    });
    expect(await read(large, 'eicar.br')).toMatchObject({ found: true, unread: [] });
    expect(await read(noise(5000), 'noise.br')).toMatchObject({ unread: [], coverage: { members_total: 0 } });
  });

  test('an archive of wimlib that is made for pipes is not opened', async () => {
    const begin = Buffer.concat([Buffer.from('WLPWM\0\0\0'), noise(5000)]);
    expect(await read(begin)).toMatchObject({ unread: ['unsupported'] });
  });

  test.each([
    ['with', 'feffff'],
    ['without', '000000'],
  ])('a partition of a disk, %s cylinders', async (_, cylinders) => {
    const file_system = PACKED_ARCHIVES.get('fat') ?? Buffer.alloc(0);
    const disk = Buffer.alloc(1024 * 512);
    // Active, of FAT, and beyond what cylinders, heads and sectors can say.
    disk.write(`80${cylinders}06${cylinders}`, 446, 'hex');
    disk.writeUInt32LE(disk.length / 512, 454);
    disk.writeUInt32LE(file_system.length / 512, 458);
    disk.write('55aa', 510, 'hex');
    const { found, unread, threat_member } = await read(Buffer.concat([disk, file_system, Buffer.alloc(4096)]));
    expect({ found, unread }).toEqual({ found: true, unread: [] });
    expect(threat_member).toMatch(/eicar\.gz \/ eicar$/);
  });

  const UPX = '/usr/share/clamav-testfiles/clam-upx.exe';
  if (!existsSync(UPX)) process.stdout.write('skipped: the package clamav-testfiles, with a program by UPX, is not installed\n');
  test.runIf(existsSync(UPX))('a program by UPX', async () => {
    const [packed, text] = [readFileSync(UPX), Buffer.from('[CLAMAV]')];
    expect(packed.includes(text)).toBe(false);
    expect(await read(packed, 'clam-upx.exe', text)).toMatchObject({ found: true, unread: [] });
  });
});

describe('closed formats are pending:', () => {
  test.each([
    ['lrzip', Buffer.from('LRZI\0\x06'), 'unsupported'],
    ['rzip', Buffer.from('RZIP\x02\x01'), 'unsupported'],
    ['a disk by LUKS', Buffer.from('LUKS\xba\xbe\0\x02', 'latin1'), 'encrypted'],
    ['a disk by BitLocker', Buffer.from('\xeb\x58\x90-FVE-FS-', 'latin1'), 'encrypted'],
  ])('%s', async (_, magic, detail) => {
    expect((await read(Buffer.concat([magic, noise(4000)]))).unread).toContain(detail);
  });

  test('an image of a disk that is cut short', async () => {
    const cut = PACKED_ARCHIVES.get('qcow2')?.subarray(0, 9000) ?? Buffer.alloc(0);
    expect((await read(cut)).unread).toContain('damaged');
  });
});

describe('a tar archive', () => {
  test.each([
    ['less', '16 size=00000000\n'],
    ['more', '16 size=00000900\n'],
  ])('is read both ways where a record says %s than the header', async (_, record) => {
    const records = tarEntry({ name: 'pax', content: Buffer.from(record), type: 'x' });
    const archive = Buffer.concat([records, tarEntry(HARMLESS), tarEntry(PACKED), Buffer.alloc(1024)]);
    expect(await read(archive)).toMatchObject({ found: true });
  });
});

describe('a zip archive', () => {
  /** The directory of the second in place of the comment of the first, or the other way round: one file, two end records. */
  test('with two directories is read by both', async () => {
    const [one, other] = [zip([HARMLESS]), zip([PACKED])];
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const outer = Buffer.from(first);
      outer.writeUInt16LE(second.length, outer.length - 2);
      expect(await read(Buffer.concat([outer, second]))).toMatchObject({ found: true });
    }
  });

  test('with signatures of Android before its directory is claimed', async () => {
    const whole = zip([HARMLESS]);
    const at = whole.lastIndexOf('PK\x01\x02', undefined, 'latin1');
    const body = noise(3000);
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(body.length + 24));
    const block = Buffer.concat([size, body, size, Buffer.from('APK Sig Block 42')]);
    const end = Buffer.from(whole.subarray(at));
    end.writeUInt32LE(at + block.length, end.length - 6);
    expect(await read(Buffer.concat([whole.subarray(0, at), block, end]))).toMatchObject({ unread: [] });
  });
});

describe('7-Zip says where an archive ends, and', () => {
  test('bytes after an archive are read as a file of their own', async () => {
    const archive = PACKED_ARCHIVES.get('arj') ?? Buffer.alloc(0);
    expect(await read(Buffer.concat([archive, Buffer.alloc(100), zip([PACKED])]))).toMatchObject({ found: true, unread: [] });
  });

  test('so are bytes after a stream that knows its end only when it is unpacked', async () => {
    const first = PACKED_ARCHIVES.get('bzip2-empty') ?? Buffer.alloc(0);
    const followed = await read(Buffer.concat([first, Buffer.from('Some text behind it.\n'.repeat(9)), PACKED.content]));
    expect(followed).toMatchObject({ found: true, unread: [] });
    expect(followed.coverage.members_total).toBeGreaterThan(2);
  });
});
