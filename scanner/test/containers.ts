import { deflateSync } from 'node:zlib';
import { LARGE_PIECES, zip } from './files.ts';

/** One file of a tar archive with its header (POSIX.1-2001, ustar), of any type and magic. */
export function tarEntry(entry: { name: string; content: Buffer; type?: string; magic?: string }): Buffer {
  const { name, content, type = '0', magic = 'ustar\x0000' } = entry;
  const head = Buffer.alloc(512);
  head.write(name, 0, 'latin1');
  head.write('0000644\0', 100, 'latin1');
  head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  head.write('00000000000\0        ', 136, 'latin1');
  head.write(type, 156, 'latin1');
  head.write(magic, 257, 'latin1');
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

const BOUNDARY = 'a-boundary';

/** A mail with one attachment. */
export function mail(name: string, body: string, encoding: string): Buffer {
  return Buffer.from(
    [
      'From: anna@example.com',
      'To: berta@example.com',
      'Subject: the file',
      'MIME-Version: 1.0',
      `Content-Type: multipart/mixed;\r\n boundary="${BOUNDARY}"`,
      '',
      'This is a mail of several parts.',
      `--${BOUNDARY}`,
      'Content-Type: text/plain',
      '',
      'Hello.',
      `--${BOUNDARY}`,
      `Content-Type: application/octet-stream; name="${name}"`,
      `Content-Transfer-Encoding: ${encoding}`,
      `Content-Disposition: attachment; filename="${name}"`,
      '',
      body,
      `--${BOUNDARY}--`,
      '',
    ].join('\r\n'),
  );
}

/** A mail with the file between its lines, as before MIME. */
export function uuencoded(name: string, content: Buffer): Buffer {
  const character = (six: number) => String.fromCharCode(six === 0 ? 0x60 : six + 0x20);
  const rows: string[] = [];
  for (let at = 0; at < content.length; at += 45) {
    const row = content.subarray(at, at + 45);
    let line = character(row.length);
    for (let group = 0; group < row.length; group += 3) {
      const bits = ((row[group] ?? 0) << 16) | ((row[group + 1] ?? 0) << 8) | (row[group + 2] ?? 0);
      line += [18, 12, 6, 0].map((shift) => character((bits >> shift) & 0x3f)).join('');
    }
    rows.push(line);
  }
  const text = `From: anna@example.com\nSubject: the file\n\nHello.\n\nbegin 644 ${name}\n${rows.join('\n')}\n\`\nend\n`;
  return Buffer.from(text, 'latin1');
}

export function mailbox(mails: readonly Buffer[]): Buffer {
  const start = Buffer.from('From anna@example.com Fri Nov 20 11:00:00 2026\n');
  return Buffer.concat(mails.flatMap((one) => [start, one, Buffer.from('\n')]));
}

export function docx(name: string, content: Buffer): Buffer {
  return zip([
    {
      name: '[Content_Types].xml',
      content: Buffer.from('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'),
    },
    { name: 'word/document.xml', content: Buffer.from('<w:document/>') },
    { name: `word/embeddings/${name}`, content },
  ]);
}

/** A PDF with an attached file that is packed, and behind other filters where they are named. */
export function pdf(content: Buffer, extra: { filter?: string; bytes?: Buffer; trailer?: string } = {}): Buffer {
  const packed = extra.bytes ?? deflateSync(content, LARGE_PIECES);
  const filter = extra.filter ?? '/FlateDecode';
  return Buffer.concat([
    Buffer.from(`%PDF-1.5\n1 0 obj\n<</Type /EmbeddedFile /Filter ${filter} /Length ${packed.length}>>\nstream\n`),
    packed,
    Buffer.from(`\nendstream\nendobj\ntrailer\n<</Root 1 0 R ${extra.trailer ?? ''}>>\n%%EOF\n`),
  ]);
}

/** The runs of one compressed container (MS-OVBA 2.4.1) that repeats nothing: each byte a literal. */
export function vbaCompressed(source: string): Buffer {
  const bytes = Buffer.from(source, 'latin1');
  const chunks: Buffer[] = [Buffer.from([1])];
  for (let start = 0; start < bytes.length; start += 3600) {
    const chunk = bytes.subarray(start, start + 3600);
    const tokens: Buffer[] = [];
    for (let at = 0; at < chunk.length; at += 8) tokens.push(Buffer.from([0]), chunk.subarray(at, at + 8));
    const data = Buffer.concat(tokens);
    const header = Buffer.alloc(2);
    header.writeUInt16LE(0xb000 | (data.length - 1));
    chunks.push(header, data);
  }
  return Buffer.concat(chunks);
}

/**
 * An OLE file (MS-CFB, version 3) with these streams: each in sectors of its own, or, with `mini`, those below 4 KiB in the small sectors that the root
 * holds.
 */
export function ole(streams: readonly { name: string; content: Buffer }[], { mini = false, sector_shift = 9 } = {}): Buffer {
  const SECTOR = 2 ** sector_shift;
  const MINI = 64;
  const CUTOFF = 4096;
  const END = 0xfffffffe;
  const sectorsOf = (bytes: number) => Math.ceil(bytes / SECTOR);
  const sectors: Buffer[] = [];
  /** Successor of each sector; those of the table itself are last. */
  const table: number[] = [];
  const add = (bytes: Buffer) => {
    const start = sectors.length;
    const count = sectorsOf(bytes.length);
    for (let index = 0; index < count; index += 1) {
      sectors.push(Buffer.concat([bytes.subarray(index * SECTOR, (index + 1) * SECTOR)], SECTOR));
      table.push(index + 1 === count ? END : start + index + 1);
    }
    return count === 0 ? END : start;
  };
  const directory = Buffer.alloc(sectorsOf((streams.length + 1) * 128) * SECTOR);
  const entry = (index: number, name: string, type: number, start: number, size: number) => {
    const at = index * 128;
    directory.write(name, at, 62, 'utf16le');
    directory.writeUInt16LE(Math.min(name.length, 31) * 2 + 2, at + 64);
    directory[at + 66] = type;
    for (const link of [68, 72, 76]) directory.writeUInt32LE(0xffffffff, at + link);
    directory.writeUInt32LE(start, at + 116);
    directory.writeUInt32LE(size, at + 120);
  };
  const small: Buffer[] = [];
  const small_table: number[] = [];
  for (const [index, { name, content }] of streams.entries()) {
    if (!mini || content.length >= CUTOFF) {
      entry(index + 1, name, 2, add(content), content.length);
      continue;
    }
    const count = Math.ceil(content.length / MINI);
    entry(index + 1, name, 2, count === 0 ? END : small_table.length, content.length);
    small.push(Buffer.concat([content], count * MINI));
    for (let left = count; left > 0; left -= 1) small_table.push(left === 1 ? END : small_table.length + 1);
  }
  const small_bytes = Buffer.concat(small);
  entry(0, 'Root Entry', 5, add(small_bytes), small_bytes.length);
  const small_list = Buffer.alloc(sectorsOf(small_table.length * 4) * SECTOR, 0xff);
  for (const [index, next] of small_table.entries()) small_list.writeUInt32LE(next, index * 4);
  const small_list_start = add(small_list);
  const directory_start = add(directory);
  let table_sectors = 1;
  while (table_sectors * (SECTOR / 4) < sectors.length + table_sectors) table_sectors += 1;
  const table_start = sectors.length;
  for (let count = 0; count < table_sectors; count += 1) table.push(0xfffffffd);
  const fat = Buffer.alloc(table_sectors * SECTOR, 0xff);
  for (const [index, next] of table.entries()) fat.writeUInt32LE(next, index * 4);
  const header = Buffer.alloc(SECTOR);
  header.write('d0cf11e0a1b11ae1', 0, 'hex');
  header.writeUInt16LE(sector_shift === 9 ? 3 : 4, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(sector_shift, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(table_sectors, 44);
  header.writeUInt32LE(directory_start, 48);
  header.writeUInt32LE(mini ? CUTOFF : 0, 56);
  header.writeUInt32LE(small_list_start, 60);
  header.writeUInt32LE(small_list.length / SECTOR, 64);
  header.writeUInt32LE(END, 68);
  header.fill(0xff, 76, 512);
  // As many as the header lists: 109 of them are a table of 7 MB, or of 450 with sectors of 4 KiB.
  for (let index = 0; index < Math.min(109, table_sectors); index += 1) header.writeUInt32LE(table_start + index, 76 + index * 4);
  return Buffer.concat([header, ...sectors, fat]);
}
