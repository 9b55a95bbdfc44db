import { closedByMarks, closedFormat, closedWhereUnknown, type Format, mark, withBits } from '#scanner/formats/format.ts';
import { standsAt } from '#scanner/reading/content.ts';
import { GZIP_ID } from './compressed.ts';

// Compressed streams that this scanner recognises but cannot unpack.

/** Whether the header is gzip with a reserved method (RFC 1952, 2.3.1). The magic has only two bytes, so the flags, extra flags and system are checked too. */
function isGzipOfAnotherMethod(head: Buffer): boolean {
  const [method = 8, flags = 0xff] = head.subarray(GZIP_ID.bytes.length);
  const [extra = 0xff, system = 0xff] = head.subarray(8, 10);
  return standsAt(head, GZIP_ID.bytes, GZIP_ID.at) && method < 8 && flags < 0x20 && [0, 2, 4].includes(extra) && system <= 13;
}

/** Formats that are recognised by their first bytes. */
export const closedStreams: readonly Format[] = [
  closedByMarks('lrzip', 'lrzip', [mark('LRZI')]),
  closedByMarks('rzip', 'rzip', [mark('RZIP\x02')]),
  closedByMarks('pbzx', 'pbzx (Apple)', [mark('pbzx')]),
  closedByMarks('kwaj', 'file of COMPRESS (KWAJ)', [mark('KWAJ\x88\xf0\x27\xd1')]),
  closedFormat({ id: 'gzip-unknown', title: 'gzip of an unknown method', recognise: withBits(34, isGzipOfAnotherMethod) }),
];

/** Formats that are recognised only if the file matches no other format. */
export const unknownStreams: readonly Format[] = [
  closedWhereUnknown('bzip3', 'bzip3', [mark('BZ3v1')]),
  closedWhereUnknown('lzfse', 'LZFSE', [mark('bvx2'), mark('bvx1')]),
  closedWhereUnknown('lzvn', 'LZVN', [mark('bvxn')]),
  closedWhereUnknown('szdd-qbasic', 'file of COMPRESS (QBasic)', [mark('SZ \x88\xf0\x27\x33\xd1')]),
];
