// Superblocks of MINIX for tests.

const SUPERBLOCK_AT = 1024;
const MAGICS = [
  { at: 16, values: [0x137f, 0x138f, 0x2468, 0x2478] },
  { at: 24, values: [0x4d5a] },
] as const;

const file = Buffer.alloc(4096);

/** A file with the superblock. The next call reuses it. */
export function superblockFile(superblock: Buffer): Buffer {
  superblock.copy(file, SUPERBLOCK_AT);
  return file;
}

/** Files with these bytes as their superblock, and each magic in each byte order. Valid until the next one. */
export function* withMinixMagic(superblock: Buffer): Generator<Buffer> {
  for (const { at, values } of MAGICS)
    for (const value of values) {
      superblockFile(superblock).writeUInt16LE(value, SUPERBLOCK_AT + at);
      yield file;
      superblockFile(superblock).writeUInt16BE(value, SUPERBLOCK_AT + at);
      yield file;
    }
}
