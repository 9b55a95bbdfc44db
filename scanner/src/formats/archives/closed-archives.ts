import {
  byMarks,
  closedByMarks,
  closedFormat,
  closedWhereUnknown,
  type Format,
  hexMark,
  mark,
  oneOf,
  patternOf,
  whereUnknown,
  withBits,
} from '#scanner/formats/format.ts';
import { struct } from '#scanner/reading/struct.ts';
import { textFormOf } from '#scanner/text/text-encoding.ts';
import { RAR_MARK } from './seven-zip-archives.ts';

// Archive formats that ordinary programs open and this scanner recognises but cannot open.

const ACE = mark('**ACE**', 7);
const ISC = mark('ISc(');
const UNITY = mark('UnityFS\0');
const GODOT = mark('GDPC');
const LHARC_METHODS = ['-lz4-', '-lz5-', '-lz7-', '-lz8-', '-lzs-', '-pc1-', '-pm0-', '-pm1-', '-pm2-', '-pms-'];

const ARC_NAME = /^[\w!#$%&'()@^`{}~-]{1,8}(?:\.[\w!#$%&'()@^`{}~-]{0,3})?\0/;
const ARC_HEAD = struct('little', {
  mark: 'u8',
  method: 'u8',
  name: 13,
  packed: 'u32',
  date: 'u16',
  time: 'u16',
  crc: 'u16',
  size: 'u32',
});
const ARC_MARK = 0x1a;
const ARC_STORED = 2;
/** Maximum size of a file in ARC, which is an archive format of DOS. Bytes. */
const ARC_BYTES_MAXIMUM = 2 ** 28;

/** Whether the fields are a valid DOS date and time, or the date is absent (0). */
function isDosTime(date: number, time: number): boolean {
  const [month, day] = [(date >> 5) & 15, date & 31];
  if (date === 0) return true;
  return month >= 1 && month <= 12 && day >= 1 && time >> 11 < 24 && ((time >> 5) & 63) < 60 && (time & 31) < 30;
}

/**
 * Whether the bytes begin with an ARC header: its magic, a method of 2 or more (terminfo files begin with the magic and 1), a file name that ends with a zero,
 * a valid time, and a packed size that does not exceed the unpacked size. If the examined bytes reach past the file, the next magic must follow it.
 */
function isArc(head: Buffer): boolean {
  const fields = head[0] === ARC_MARK ? ARC_HEAD.read(head) : undefined;
  if (fields === undefined || fields.method < ARC_STORED || fields.method > 11) return false;
  const { packed, size } = fields;
  if (!ARC_NAME.test(fields.name.toString('latin1')) || !isDosTime(fields.date, fields.time)) return false;
  const is_size = fields.method === ARC_STORED ? packed === size : packed <= size;
  const next = ARC_HEAD.bytes + packed;
  return is_size && size <= ARC_BYTES_MAXIMUM && (next >= head.length || head[next] === ARC_MARK);
}

/** Whether the bytes begin with the header of a dar slice (libdar, header.cpp): its magic, a label, a flag for the last slice, and an extension flag. */
function isDar(head: Buffer): boolean {
  return (
    head.length > 16 &&
    head.readUInt32BE(0) === 0x7b &&
    'TNE'.includes(String.fromCharCode(head[14] ?? 0)) &&
    'NST'.includes(String.fromCharCode(head[15] ?? 0))
  );
}

/** Only the first part of a split archive has a magic; later parts are recognised by their file names. */
function isLaterPart(name: string): boolean {
  const number = /\.(?:7z|zip|rar|tar|tgz|gz|bz2|xz|zst|lz4|arj|lzh|cab|iso|wim|exe)\.(\d{3})$/i.exec(name)?.[1];
  return (number !== undefined && Number(number) > 1) || /\.(?:z(?:0[2-9]|[1-5]\d)|r\d\d)$/i.test(name);
}

/** Formats that are recognised by their first bytes. */
export const closedArchives: readonly Format[] = [
  closedFormat({
    id: 'ace',
    title: 'ACE',
    recognise: byMarks([ACE]),
    carve: [
      {
        pattern: `${patternOf(ACE)} ?? ?? ${oneOf(0, 0x0b)}`,
        back: ACE.at,
        proves: (reader, at) => reader.at(at + 4, 1)[0] === 0,
      },
    ],
  }),
  closedByMarks('alz', 'ALZ', [mark('ALZ\x01')]),
  closedByMarks('egg', 'EGG', [mark('EGGA')]),
  closedByMarks('stuffit', 'StuffIt', [mark('StuffIt (c)'), mark('StuffIt!')]),
  closedByMarks('zpaq', 'ZPAQ', [mark('7kSt')]),
  closedByMarks('zoo', 'ZOO', [hexMark('dca7c4fd', 20)]),
  closedByMarks('rar-unknown', 'RAR of a new kind', [RAR_MARK]),
  closedFormat({
    id: 'installshield',
    title: 'InstallShield',
    recognise: byMarks([ISC]),
    carve: [{ pattern: `${patternOf(ISC)} ?? ?? ?? (00|01|02|04) ?? ?? ?? ?? 00 02 00 00` }],
  }),
  closedFormat({
    id: 'unity',
    title: 'bundle of Unity',
    recognise: byMarks([UNITY]),
    carve: [{ pattern: `${patternOf(UNITY)} 00 00 00 ${oneOf(6, 8)}` }],
  }),
  // The pattern checks the version of the pack and the version of the engine.
  closedFormat({
    id: 'godot-pack',
    title: 'pack of Godot',
    recognise: byMarks([1, 2, 3].map((version) => mark(`GDPC${String.fromCharCode(version)}\0\0\0`))),
    carve: [{ pattern: `${patternOf(GODOT)} ${oneOf(1, 3)} 00 00 00 ${oneOf(2, 9)} 00 00 00` }],
  }),
  closedFormat({ id: 'arc', title: 'ARC', recognise: withBits(32, isArc) }),
];

/** Formats that are recognised only if the file matches no other format. */
export const unknownArchives: readonly Format[] = [
  closedWhereUnknown(
    'lharc',
    'LHarc or PMarc',
    LHARC_METHODS.map((method) => mark(method, 2)),
  ),
  closedWhereUnknown('freearc', 'FreeArc', [mark('ArC\x01')]),
  closedWhereUnknown('wim-pipable', 'pipable archive of wimlib', [mark('WLPWM\0\0\0')]),
  closedWhereUnknown('kgb', 'KGB', [mark('KGB_arch -')]),
  closedWhereUnknown('apple-archive', 'Apple Archive', [mark('AA01'), mark('YAA1')]),
  closedFormat({ id: 'dar', title: 'dar', recogniseBeside: whereUnknown(34, ({ head }) => isDar(head)) }),
];

export const laterPart = closedFormat({
  id: 'later-part',
  title: 'a later part of a split archive',
  recogniseBeside: ({ first, name, head }) =>
    first === undefined && isLaterPart(name) && textFormOf(head) === undefined ? 16 : 0,
  traits: { is_named_after_file: true },
});
