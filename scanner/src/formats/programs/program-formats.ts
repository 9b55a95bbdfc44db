import { byMarks, type Format, format, hexMark, mark } from '#scanner/formats/format.ts';
import { sizedAt } from '#scanner/formats/leaf-walk.ts';
import { walkCafe, walkCrx, walkElf, walkMach, walkProgram, walkShortcut, walkWasm } from './leaf-programs.ts';

// Programs and files that start programs: where they end.

const ELF = mark('\x7fELF');
const MZ = mark('MZ');
const SCRIPT = mark('#!');

/** Minimum header size of a PE file. The offset of `PE\0\0` is at 0x3c (PE format, "MS-DOS stub"); older programs have no such field. Bytes. */
const MZ_HEAD_BYTES = 64;

/** Minimum version of a Java class file. macOS universal binaries share its magic and have a small number of architectures in this field. */
const JAVA_VERSION_LEAST = 45;

const MACH_64 = hexMark('cffaedfe');
const MACH_32 = hexMark('cefaedfe');
const isLittleMach = byMarks([MACH_64, MACH_32]);

export const isProgramHead = (head: Buffer): boolean => byProgramMarks(head) > 0;
const byProgramMarks = byMarks([MZ, ELF, SCRIPT]);

export const programs: readonly Format[] = [
  format({
    id: 'pe',
    media_type: (head) => (head.length >= MZ_HEAD_BYTES ? 'application/vnd.microsoft.portable-executable' : undefined),
    leaf: { marks: [MZ], walk: walkProgram },
    limits: null,
  }),
  format({
    id: 'java',
    media_type: (head) => (head.length >= 8 && head.readUInt16BE(6) >= JAVA_VERSION_LEAST ? 'application/java-vm' : undefined),
    leaf: { marks: [hexMark('cafebabe')], walk: walkCafe },
    limits: null,
  }),
  format({ id: 'elf', media_type: 'application/x-elf', leaf: { marks: [ELF], walk: walkElf }, limits: null }),
  format({
    id: 'mach-o',
    media_type: (head) => (isLittleMach(head) > 0 ? 'application/x-mach-binary' : undefined),
    leaf: { marks: [MACH_64, MACH_32, hexMark('feedfacf'), hexMark('feedface')], walk: walkMach },
    limits: null,
  }),
  format({ id: 'dex', leaf: { marks: [mark('dex\n03')], walk: sizedAt(32, true) }, limits: null }),
  format({ id: 'wasm', media_type: 'application/wasm', leaf: { marks: [mark('\0asm')], walk: walkWasm }, limits: null }),
  format({ id: 'flash', leaf: { marks: [mark('FWS')], walk: sizedAt(4, true) }, limits: null }),
  format({ id: 'crx', leaf: { marks: [mark('Cr24')], walk: walkCrx }, limits: null }),
  format({
    id: 'shortcut',
    media_type: 'application/x-ms-shortcut',
    // MS-SHLLINK 2.1: the size of the header and the class id of a shortcut.
    leaf: { marks: [hexMark('4c0000000114020000000000c000000000000046')], walk: walkShortcut },
    limits: null,
  }),
  format({ id: 'script', media_type: 'text/x-script', leaf: { marks: [SCRIPT] }, limits: null }),
];
