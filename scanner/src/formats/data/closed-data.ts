import { byMarks, closedByMarks, closedFormat, type Format, hexMark, mark, withBits } from '#scanner/formats/format.ts';
import { standsAt } from '#scanner/reading/content.ts';

// Databases and dumps that this scanner recognises but cannot open.

const AVRO = mark('Obj\x01');
/** Detects object container files of Avro (specification 1.11) whose blocks are compressed. */
const AVRO_PACKED = /avro\.codec.{1,2}(?:deflate|snappy|bzip2|xz|zstandard)/s;
const AVRO_HEAD_BYTES = 16 * 1024;

function isPackedAvro(head: Buffer): boolean {
  return standsAt(head, AVRO.bytes, 0) && AVRO_PACKED.test(head.toString('latin1', 0, AVRO_HEAD_BYTES));
}

/** Packet captures: pcap in both byte orders, with microseconds, nanoseconds or extended headers, version 2 (draft-ietf-opsawg-pcap). */
const PCAP = ['a1b2c3d4', 'a1b23c4d', 'a1b2cd34'].flatMap((magic) => [
  hexMark(`${magic}0002`),
  { at: 0, bytes: Buffer.concat([Buffer.from(magic, 'hex').reverse(), Buffer.from([2, 0])]) },
]);

/** Whether a pcapng section header begins here (draft-ietf-opsawg-pcapng): the block type and the byte-order magic. */
function isPcapNg(head: Buffer): boolean {
  return (
    head.length > 12 && head.readUInt32BE(0) === 0x0a0d0d0a && [head.readUInt32LE(8), head.readUInt32BE(8)].includes(0x1a2b3c4d)
  );
}

/** Formats that are recognised by their first bytes. */
export const closedData: readonly Format[] = [
  closedByMarks('access', 'Access', [mark('Standard Jet DB\0', 4), mark('Standard ACE DB\0', 4)]),
  closedByMarks('ese', 'database of Windows (ESE)', [hexMark('efcdab89', 4)]),
  closedByMarks('sqlite-wal', 'log of a database (SQLite WAL)', [hexMark('377f0682'), hexMark('377f0683')]),
  closedByMarks('sqlite-journal', 'journal of a database (SQLite)', [hexMark('d9d505f920a163d7')]),
  closedByMarks('pg-dump', 'archive of pg_dump', [mark('PGDMP\x01')]),
  closedFormat({
    id: 'capture',
    title: 'capture of packets',
    recognise: (head) => (isPcapNg(head) ? 64 : byMarks(PCAP)(head)),
  }),
  closedFormat({
    id: 'redis',
    title: 'dump of Redis',
    recognise: withBits(72, (head) => /^REDIS\d{4}/.test(head.toString('latin1', 0, 9))),
  }),
  closedFormat({ id: 'avro-packed', title: 'packed Avro', recognise: withBits(96, isPackedAvro) }),
];
