import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ole } from '#test/containers.ts';
import { examined } from '#test/examined.ts';
import { EICAR, zip } from '#test/files.ts';

test('behind a picture of Windows, in a comment of it', async () => {
  const record = (type: number, body: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(type, 0);
    head.writeUInt32LE(8 + body.length, 4);
    return Buffer.concat([head, body]);
  };
  const header = Buffer.alloc(80);
  header.write(' EMF', 32, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(EICAR.length);
  const file = Buffer.concat([record(1, header), record(70, Buffer.concat([length, EICAR])), record(14, Buffer.alloc(12))]);
  file.writeUInt32LE(file.length, 48);
  expect((await examined(file)).threat_member).toBe('comment at 100');
});

describe('OpenPGP', () => {
  test('is pending where it is encrypted, in letters too', async () => {
    // A password's packet, version 4, AES-256, and the packet that it opens.
    const file = Buffer.concat([
      Buffer.from('c30d040903081122334455667788ff', 'hex'),
      Buffer.from([0xd2, 40, 1]),
      Buffer.alloc(39, 0x5a),
    ]);
    expect((await examined(file)).unread).toEqual(['encrypted']);
    const armour = `-----BEGIN PGP MESSAGE-----\n\n${file.toString('base64')}\n-----END PGP MESSAGE-----\n`;
    expect((await examined(Buffer.from(armour))).unread).toEqual(['encrypted']);
  });

  test('is nothing where there is only a key or a signature', async () => {
    const armour =
      '-----BEGIN PGP SIGNATURE-----\n\niHUEARYKAB0WIQTestTestTestTestTestTestTestTestTest\n=abcd\n-----END PGP SIGNATURE-----\n';
    expect(await examined(Buffer.from(armour))).toMatchObject({ threat: null, unread: [] });
  });
});

describe('an Office document behind a password', () => {
  const files = z
    .record(z.string(), z.base64())
    .parse(JSON.parse(readFileSync(new URL('../../../test/locked-office.json', import.meta.url), 'utf8')));
  const fileOf = (name: string) => inflateSync(Buffer.from(files[name] ?? '', 'base64'));

  test.each(['agile', 'standard'])("is opened where it is Excel's own: %s", async (name) => {
    expect(await examined(fileOf(name))).toMatchObject({ threat: 'EICAR-Test-File', coverage: { encrypted: 0 } });
  });

  test('is opened with the password that was given, and pending without it', async () => {
    const file = fileOf('agile, another password');
    expect(await examined(file)).toMatchObject({ threat: null, unread: ['encrypted'], coverage: { encrypted: 1 } });
    expect((await examined(file, { password: 'secret' })).threat).toBe('EICAR-Test-File');
  });
});

test('a section of OneNote that is packed for the way is pending', async () => {
  const section = Buffer.alloc(2000);
  section.write('e4525c7b8cd8a74daeb15378d02996d3', 'hex');
  section.write('3fdd9a101b91f549a5d01791edc8aed8', 48, 'hex');
  expect((await examined(section)).unread).toEqual(['unsupported']);
});

test('sectors that no stream of an OLE file uses are examined as they are, and are no fault', async () => {
  const file = ole([
    { name: 'First', content: Buffer.alloc(6000, 'a') },
    { name: 'Second', content: zip([{ name: 'eicar.com', content: EICAR }]) },
  ]);
  const directory = (file.readUInt32LE(48) + 1) * 512;
  // The second stream was deleted: its sectors are still there.
  file[directory + 2 * 128 + 66] = 0;
  expect((await examined(file)).threat).toBe('EICAR-Test-File');
});
