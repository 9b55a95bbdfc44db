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
import { textFormOf } from '#scanner/text/text-encoding.ts';
import { RAR_MARK } from './seven-zip-archives.ts';

// Archives that ordinary programs open and nothing here does.

const ACE = mark('**ACE**', 7);
const ISC = mark('ISc(');
const LHARC_METHODS = ['-lz4-', '-lz5-', '-lz7-', '-lz8-', '-lzs-', '-pc1-', '-pm0-', '-pm1-', '-pm2-', '-pms-'];

const ARC_HEAD_BYTES = 29;
const ARC_NAME = /^[\w!#$%&'()@^`{}~-]{1,8}(?:\.[\w!#$%&'()@^`{}~-]{0,3})?\0/;

/** The first head of an ARC archive: its mark, a method from 2 on (terminfo begins with the mark and 1), a name with its end; and behind its file the next mark, as far as that is seen. */
function isArc(head: Buffer): boolean {
  const method = head[1] ?? 0;
  if (head.length < ARC_HEAD_BYTES || head[0] !== 0x1a || method < 2 || method > 11) return false;
  const next = ARC_HEAD_BYTES + head.readUInt32LE(15);
  return ARC_NAME.test(head.toString('latin1', 2, 15)) && next < 2 ** 31 && (next >= head.length || head[next] === 0x1a);
}

/** The beginning of a slice of dar (libdar, header.cpp): its magic, a label, whether it is the last one, and an extension. */
function isDar(head: Buffer): boolean {
  return (
    head.length > 16 &&
    head.readUInt32BE(0) === 0x7b &&
    'TNE'.includes(String.fromCharCode(head[14] ?? 0)) &&
    'NST'.includes(String.fromCharCode(head[15] ?? 0))
  );
}

/** Only the first part of a split archive has a mark: the others are recognised by name alone. */
function isLaterPart(name: string): boolean {
  const number = /\.(?:7z|zip|rar|tar|tgz|gz|bz2|xz|zst|lz4|arj|lzh|cab|iso|wim|exe)\.(\d{3})$/i.exec(name)?.[1];
  return (number !== undefined && Number(number) > 1) || /\.(?:z(?:0[2-9]|[1-5]\d)|r\d\d)$/i.test(name);
}

/** Their first bytes tell them. */
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
  closedFormat({ id: 'arc', title: 'ARC', recognise: withBits(40, isArc) }),
];

/** They count only if no other format is found in the file. */
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
