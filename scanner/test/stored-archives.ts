import { crc32 } from 'node:zlib';

// Archives without compression, as tests write them.

/** RAR 5.0 without compression (technote): the main header, a file each, the end. */
export function rar5Of(files: ReadonlyMap<string, Buffer>): Buffer {
  const number = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)]);
  const u32 = (value: number) => [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
  const block = (body: number[]) => {
    const sized = Buffer.from([...number(body.length), ...body]);
    return Buffer.concat([Buffer.from(u32(crc32(sized))), sized]);
  };
  const parts = [...files].flatMap(([name, bytes]) => [
    block([
      2,
      2,
      ...number(bytes.length),
      4,
      ...number(bytes.length),
      0x20,
      ...u32(crc32(bytes)),
      0,
      0,
      name.length,
      ...Buffer.from(name),
    ]),
    bytes,
  ]);
  return Buffer.concat([Buffer.from('526172211a070100', 'hex'), block([1, 0, 0]), ...parts, block([5, 0, 0])]);
}

/** RAR 2.0 without compression (unrar, headers.hpp). */
export function rar4Of(files: ReadonlyMap<string, Buffer>): Buffer {
  const block = (type: number, flags: number, rest: Buffer) => {
    const head = Buffer.alloc(7 + rest.length);
    head[2] = type;
    head.writeUInt16LE(flags, 3);
    head.writeUInt16LE(head.length, 5);
    rest.copy(head, 7);
    head.writeUInt16LE(crc32(head.subarray(2)) & 0xffff, 0);
    return head;
  };
  const parts = [...files].flatMap(([name, bytes]) => {
    const rest = Buffer.alloc(25 + name.length);
    rest.writeUInt32LE(bytes.length, 0);
    rest.writeUInt32LE(bytes.length, 4);
    rest.writeUInt32LE(crc32(bytes), 9);
    rest[17] = 20;
    rest[18] = 0x30;
    rest.writeUInt16LE(name.length, 19);
    rest.writeUInt32LE(0x20, 21);
    rest.write(name, 25, 'latin1');
    return [block(0x74, 0x8000, rest), bytes];
  });
  return Buffer.concat([
    Buffer.from('526172211a0700', 'hex'),
    block(0x73, 0, Buffer.alloc(6)),
    ...parts,
    block(0x7b, 0x4000, Buffer.alloc(0)),
  ]);
}

/** CRC-16 of ARC, as LHA has it. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xa001;
  }
  return crc;
}

/** LHA of level 0 (LHa for UNIX, header.doc.md). */
export function lzhOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const parts = [...files].flatMap(([name, bytes]) => {
    const head = Buffer.alloc(24 + name.length);
    head[0] = head.length - 2;
    head.write('-lh0-', 2, 'latin1');
    head.writeUInt32LE(bytes.length, 7);
    head.writeUInt32LE(bytes.length, 11);
    head[19] = 0x20;
    head[21] = name.length;
    head.write(name, 22, 'latin1');
    head.writeUInt16LE(crc16(bytes), 22 + name.length);
    head[1] = head.subarray(2).reduce((sum, byte) => sum + byte, 0) & 0xff;
    return [head, bytes];
  });
  return Buffer.concat([...parts, Buffer.alloc(1)]);
}

/** SZDD of Microsoft's COMPRESS with letters alone: eight behind each byte of flags. */
export function szddOf(content: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head.write('SZDD\x88\xf0\x27\x33A', 'latin1');
  head.writeUInt32LE(content.length, 10);
  const parts: Buffer[] = [head];
  for (let at = 0; at < content.length; at += 8) parts.push(Buffer.from([0xff]), content.subarray(at, at + 8));
  return Buffer.concat(parts);
}
