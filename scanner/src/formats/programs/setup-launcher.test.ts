import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { EICAR, noise } from '#test/files.ts';

const readNamed = (bytes: Buffer) => examined(bytes, { name: 'setup.exe' });

const KEY = [0xec, 0xca, 0x79, 0xf8];
/** As the launcher's builder hides it. */
function hidden(plain: Buffer, name: string, in_blocks: boolean): Buffer {
  const key = [...Buffer.from(name)].map((letter, index) => letter ^ (KEY[index % 4] ?? 0));
  const bytes = plain.map((byte, at) => {
    const mixed = byte ^ (key[(in_blocks ? at % 1024 : at) % key.length] ?? 0);
    return ((mixed << 4) | (mixed >> 4)) & 0xff;
  });
  return Buffer.from(bytes);
}

interface File {
  name: string;
  content: Buffer;
  flags?: number;
}

function setup(files: readonly File[], claimed?: number): Buffer {
  const head = Buffer.alloc(46);
  head.write('InstallShield\0', 'latin1');
  head.writeUInt16LE(claimed ?? files.length, 14);
  const parts = files.map(({ name, content, flags = 6 }) => {
    const record = Buffer.alloc(312);
    record.write(name, 'latin1');
    const packed = deflateSync(content);
    const bytes = (flags & 2) === 0 ? packed : hidden(packed, name, (flags & 4) !== 0);
    record.writeUInt32LE(flags, 260);
    record.writeUInt32LE(bytes.length, 268);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, ...parts]);
}

/** The program in front is any data that does not look like a text. */
const behindProgram = (bytes: Buffer) => Buffer.concat([noise(5_000, 3), Buffer.from('setupW.pdb\0'), bytes]);
const SETUP_INI = { name: 'Setup.ini', content: Buffer.from('[Startup]\r\nProduct=Words\r\n'.repeat(90)) };

describe('the files of a launcher of InstallShield', () => {
  test.each([
    ['hidden in blocks', 6],
    ['hidden in one go', 2],
    ['packed alone', 0],
  ])('are read: %s', async (_, flags) => {
    const other = { name: 'data.bin', content: noise(40_000, 9), flags };
    const file = behindProgram(setup([SETUP_INI, other, { name: 'clam.exe', content: EICAR, flags }]));
    const { threat, threat_member, unread } = await readNamed(file);
    expect({ threat, unread }).toEqual({ threat: 'EICAR-Test-File', unread: [] });
    expect(threat_member).toContain('clam.exe');
  });

  test('that are fewer than it says, or cut off, are damaged', async () => {
    expect((await readNamed(behindProgram(setup([SETUP_INI], 2)))).unread).toEqual(['damaged']);
    expect((await readNamed(behindProgram(setup([SETUP_INI]).subarray(0, -20)))).unread).toEqual(['damaged']);
  });

  test('that claim to be 4 GB end where the file does', async () => {
    const bytes = setup([{ name: 'a', content: EICAR }]);
    bytes.writeUInt32LE(0xffffffff, 46 + 268);
    const { unread, threat } = await readNamed(behindProgram(bytes));
    expect({ unread, threat }).toEqual({ unread: ['damaged'], threat: 'EICAR-Test-File' });
  });

  test('are not seen where a program only has the words, and newer records are reported as unopened', async () => {
    const words = Buffer.concat([Buffer.from('InstallShield\0\0\0\0\0\0\0Setup\0'), noise(600, 4)]);
    expect(await readNamed(behindProgram(words))).toMatchObject({ threat: null, unread: [], coverage: { members_total: 0 } });
    const newer = Buffer.concat([Buffer.from('ISSetupStream\0\x03\0\x04\0\0\0'), noise(600, 4)]);
    expect((await readNamed(behindProgram(newer))).unread).toEqual(['unsupported']);
  });
});
