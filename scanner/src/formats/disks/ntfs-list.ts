import type { ListedMember, ReadList } from '#scanner/formats/seven-zip/listed-members.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Lists files of NTFS from the master file table (Linux, fs/ntfs3/ntfs.h), to check that 7-Zip gives them. Only plain files with a single record are listed;
// compressed and system files, among others, are not.

const BOOT = struct('little', {
  jump_and_name: 11,
  sector_bytes: 'u16',
  cluster_sectors: 'u8',
  unused: 34,
  table_cluster: 'u64',
  mirror_cluster: 'u64',
  record_clusters: 'u8',
});
const RECORD = struct('little', {
  mark: 4,
  fixups_at: 'u16',
  fixups: 'u16',
  journal: 8,
  sequence: 'u16',
  links: 'u16',
  attributes_at: 'u16',
  flags: 'u16',
  used: 'u32',
  allocated: 'u32',
  base: 'u64',
});
const ATTRIBUTE = struct('little', {
  kind: 'u32',
  bytes: 'u32',
  is_elsewhere: 'u8',
  name_letters: 'u8',
  name_at: 'u16',
  flags: 'u16',
});
const MARK = Buffer.from('FILE');
const KIND = { list: 0x20, name: 0x30, data: 0x80, reparse: 0xc0, end: 0xffffffff } as const;
const FLAG = { in_use: 1, folder: 2 } as const;
const FIXED_BYTES = 512;
/** The first records describe the file system itself. */
const SYSTEM_RECORDS = 24;
const RECORDS_MAXIMUM = 100_000;
const RECORD_BYTES = { least: 512, most: 64 * 1024 } as const;
const RUNS_MAXIMUM = 10_000;

/** Decodes a size: a count of units, or the exponent of a power of two if the signed byte is negative. */
const sizeOf = (coded: number, unit: number) => (coded < 128 ? coded * unit : 2 ** (256 - coded));

/** A record with the original last bytes of its sectors restored; undefined if the fixup values do not match. */
function fixedRecord(bytes: Buffer): Buffer | undefined {
  const head = RECORD.read(bytes);
  if (head === undefined || !head.mark.equals(MARK)) return undefined;
  const { fixups_at, fixups } = head;
  if (fixups !== bytes.length / FIXED_BYTES + 1 || fixups_at + 2 * fixups > bytes.length) return undefined;
  const record = Buffer.from(bytes);
  const number = bytes.readUInt16LE(fixups_at);
  for (let sector = 1; sector < fixups; sector += 1) {
    const at = sector * FIXED_BYTES - 2;
    if (bytes.readUInt16LE(at) !== number) return undefined;
    record.writeUInt16LE(bytes.readUInt16LE(fixups_at + 2 * sector), at);
  }
  return record;
}

/** The attributes of a record, each with its bytes. */
function* attributesOf(
  record: Buffer,
): Generator<{ kind: number; is_elsewhere: boolean; is_named: boolean; flags: number; bytes: Buffer }> {
  for (let at = RECORD.read(record)?.attributes_at ?? record.length; ; ) {
    const head = ATTRIBUTE.read(record, at);
    if (head === undefined || head.kind === KIND.end || head.bytes < ATTRIBUTE.bytes) return;
    const bytes = record.subarray(at, at + head.bytes);
    const { kind, flags } = head;
    yield { kind, is_elsewhere: head.is_elsewhere !== 0, is_named: head.name_letters > 0, flags, bytes };
    at += head.bytes;
  }
}

/** The runs of a non-resident attribute. Clusters. */
function* runsOf(attribute: Buffer): Generator<{ start: number; clusters: number }> {
  let at = attribute.length >= 34 ? attribute.readUInt16LE(32) : attribute.length;
  let start = 0;
  for (let runs = 0; runs < RUNS_MAXIMUM; runs += 1) {
    const code = attribute[at] ?? 0;
    const [length_bytes, start_bytes] = [code & 15, code >> 4];
    const end = at + 1 + length_bytes + start_bytes;
    if (code === 0 || length_bytes < 1 || length_bytes > 6 || start_bytes < 1 || start_bytes > 6 || end > attribute.length)
      return;
    start += attribute.readIntLE(at + 1 + length_bytes, start_bytes);
    yield { start, clusters: attribute.readUIntLE(at + 1, length_bytes) };
    at = end;
  }
}

/** The size of the plain file that the record describes; undefined for other records. Bytes. */
function plainSize(record: Buffer): number | undefined {
  const head = RECORD.read(record);
  if (head === undefined || (head.flags & (FLAG.in_use | FLAG.folder)) !== FLAG.in_use || head.base !== 0) return undefined;
  let size: number | undefined;
  let has_name = false;
  for (const { kind, is_elsewhere, is_named, flags, bytes } of attributesOf(record)) {
    if (kind === KIND.list || kind === KIND.reparse) return undefined;
    has_name ||= kind === KIND.name;
    if (kind !== KIND.data || is_named) continue;
    if (flags !== 0 || size !== undefined || bytes.length < (is_elsewhere ? 56 : 20)) return undefined;
    size = is_elsewhere ? Number(bytes.readBigUInt64LE(48)) : bytes.readUInt32LE(16);
  }
  return has_name ? size : undefined;
}

/** The records of the table; undefined for damaged ones. The first record describes the table itself. */
function* recordsOf(reader: Reader): Generator<Buffer | undefined> {
  const boot = BOOT.read(reader.at(0, BOOT.bytes));
  if (boot === undefined) return;
  const cluster_bytes = boot.sector_bytes * sizeOf(boot.cluster_sectors, 1);
  const record_bytes = sizeOf(boot.record_clusters, cluster_bytes);
  const is_size = record_bytes >= RECORD_BYTES.least && record_bytes <= RECORD_BYTES.most && record_bytes % FIXED_BYTES === 0;
  if (!is_size || cluster_bytes < FIXED_BYTES) return;
  const first = fixedRecord(reader.at(boot.table_cluster * cluster_bytes, record_bytes));
  const table =
    first === undefined ? undefined : [...attributesOf(first)].find(({ kind, is_named }) => kind === KIND.data && !is_named);
  if (table === undefined || !table.is_elsewhere) return;
  for (const { start, clusters } of runsOf(table.bytes)) {
    const end = (start + clusters) * cluster_bytes;
    for (let at = start * cluster_bytes; at + record_bytes <= end; at += record_bytes) {
      const bytes = reader.at(at, record_bytes);
      if (bytes.length < record_bytes) return;
      yield fixedRecord(bytes);
    }
  }
}

/** The plain files of the table. 7-Zip also gives other files. */
export const listOfNtfs: ReadList = (reader) => {
  const listed: ListedMember[] = [];
  let number = 0;
  for (const record of recordsOf(reader)) {
    if (number >= RECORDS_MAXIMUM) return undefined;
    const size = number < SYSTEM_RECORDS || record === undefined ? undefined : plainSize(record);
    if (size !== undefined && size > 0) listed.push({ size, crc: undefined });
    number += 1;
  }
  return number === 0 ? undefined : listed;
};
