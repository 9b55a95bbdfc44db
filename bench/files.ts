// Makes EICAR, zips, and EICAR in each container.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { ROOT } from './server.ts';

/** The EICAR test file, put together here, so that no file of the project is one. */
export const EICAR = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS', '-TEST-FILE!$H+H*'].join(''),
  'latin1',
);

interface ZipMember {
  name: string;
  content: Buffer;
}

/**
 * A zip (APPNOTE 4.3) of members that are deflated, or stored as they are. `zip64`: the local headers say their sizes in the extra field alone, as `cat file | zip e.zip -`
 * has it.
 */
export function zip(members: readonly ZipMember[], options: { zip64?: boolean; is_stored?: boolean } = {}): Buffer {
  const { zip64 = false, is_stored = false } = options;
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of members) {
    const packed = is_stored ? content : deflateRawSync(content, { level: 1 });
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(zip64 ? 45 : 20, 0);
    fields.writeUInt16LE(is_stored ? 0 : 8, 4);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.from(fields);
    let extra = Buffer.alloc(0);
    if (zip64) {
      local.writeUInt32LE(0xffffffff, 14);
      local.writeUInt32LE(0xffffffff, 18);
      extra = Buffer.alloc(20);
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(16, 2);
      extra.writeUInt32LE(content.length, 4);
      extra.writeUInt32LE(packed.length, 12);
      local.writeUInt16LE(extra.length, 24);
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const piece = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), local, Buffer.from(name), extra, packed]);
    locals.push(piece);
    centrals.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail, Buffer.from(name));
    offset += piece.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}

function tar(name: string, content: Buffer): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-tar-'));
  try {
    writeFileSync(join(folder, name), content);
    return execFileSync('tar', ['-C', folder, '-cf', '-', name]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mail(name: string, content: Buffer): Buffer {
  return Buffer.from(
    [
      'From: anna@example.com',
      'To: berta@example.com',
      'Subject: the file',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary="a-boundary"',
      '',
      '--a-boundary',
      'Content-Type: text/plain',
      '',
      'Hello.',
      '--a-boundary',
      `Content-Type: application/octet-stream; name="${name}"`,
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment; filename="${name}"`,
      '',
      content.toString('base64'),
      '--a-boundary--',
      '',
    ].join('\r\n'),
  );
}

/** EICAR in a 7z archive, from the fixtures of the server's tests, where each byte is masked. */
function sevenZip(): Buffer {
  const fixtures: unknown = JSON.parse(readFileSync(join(ROOT, 'scanner/test/packed-eicar.json'), 'utf8'));
  const { masked } = z.object({ '7z': z.object({ masked: z.string() }) }).parse(fixtures)['7z'];
  return Buffer.from(Buffer.from(masked, 'base64').map((byte) => byte ^ 0x5a));
}

/** EICAR in every container that the detection matrix names. */
export function eicarContainers(): Map<string, Buffer> {
  const file = { name: 'eicar.com', content: EICAR };
  return new Map([
    ['plain', EICAR],
    ['zip', zip([file])],
    ['zip64', zip([file], { zip64: true })],
    ['nested zip', zip([{ name: 'b.zip', content: zip([{ name: 'a.zip', content: zip([file]) }]) }])],
    ['tar', tar('eicar.com', EICAR)],
    ['gz', gzipSync(EICAR)],
    ['tar.gz', gzipSync(tar('eicar.com', EICAR))],
    ['7z', sevenZip()],
    ['eml', mail('eicar.com', EICAR)],
    [
      'docx',
      zip([
        { name: '[Content_Types].xml', content: Buffer.from('<Types/>') },
        { name: 'word/document.xml', content: Buffer.from('<w:document/>') },
        { name: 'word/embeddings/eicar.com', content: EICAR },
      ]),
    ],
  ]);
}
