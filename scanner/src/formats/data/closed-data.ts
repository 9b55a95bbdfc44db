import { closedByMarks, closedFormat, type Format, hexMark, mark, withBits } from '#scanner/formats/format.ts';
import { standsAt } from '#scanner/reading/content.ts';

// Databases and their dumps that nothing here opens.

const AVRO = mark('Obj\x01');
/** Blocks of Avro (specification 1.11, object container files), packed one by one. */
const AVRO_PACKED = /avro\.codec.{1,2}(?:deflate|snappy|bzip2|xz|zstandard)/s;
const AVRO_HEAD_BYTES = 16 * 1024;

function isPackedAvro(head: Buffer): boolean {
  return standsAt(head, AVRO.bytes, 0) && AVRO_PACKED.test(head.toString('latin1', 0, AVRO_HEAD_BYTES));
}

/** Their first bytes tell them. */
export const closedData: readonly Format[] = [
  closedByMarks('access', 'Access', [mark('Standard Jet DB\0', 4), mark('Standard ACE DB\0', 4)]),
  closedByMarks('ese', 'database of Windows (ESE)', [hexMark('efcdab89', 4)]),
  closedByMarks('sqlite-wal', 'log of a database (SQLite WAL)', [hexMark('377f0682'), hexMark('377f0683')]),
  closedByMarks('sqlite-journal', 'journal of a database (SQLite)', [hexMark('d9d505f920a163d7')]),
  closedByMarks('pg-dump', 'archive of pg_dump', [mark('PGDMP\x01')]),
  closedFormat({ id: 'avro-packed', title: 'packed Avro', recognise: withBits(96, isPackedAvro) }),
];
