import { along, text, u16, u32, u64 } from '#scanner/formats/leaf-walk.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Finds the ends of program files and of files that start programs.

const MODULE_SIGNATURE = text('~Module signature appended~\n');

const HEADERS_MAXIMUM = 65_535;

/** The end of an ELF file: headers, segments and sections (gABI, chapters 4 and 5), and the signature of a kernel module after them. */
export function walkElf(reader: Reader, head: Buffer): number | undefined {
  const is_wide = head[4] === 2;
  const little = head[5] === 1;
  if ((head[4] !== 1 && !is_wide) || (head[5] !== 1 && head[5] !== 2)) return undefined;
  const word = (bytes: Buffer, at: number) => (is_wide ? u64(bytes, at, little) : u32(bytes, at, little));
  const tables = is_wide
    ? { programs: word(head, 32), sections: word(head, 40), sizes: 54 }
    : { programs: word(head, 28), sections: word(head, 32), sizes: 42 };
  const [program_bytes, programs, section_bytes, sections] = [0, 2, 4, 6].map((at) => u16(head, tables.sizes + at, little));
  let end = is_wide ? 64 : 52;
  const take = (from: number, bytes: number) => {
    if (from + bytes <= reader.size) end = Math.max(end, from + bytes);
    else if (from < reader.size) end = reader.size;
  };
  const each = (from: number, bytes: number | undefined, count: number | undefined, use: (entry: Buffer) => void) => {
    if (from === 0 || bytes === undefined || bytes < (is_wide ? 40 : 32) || count === undefined) return;
    const table = reader.at(from, bytes * Math.min(count, HEADERS_MAXIMUM));
    take(from, table.length);
    for (let at = 0; at + bytes <= table.length; at += bytes) use(table.subarray(at, at + bytes));
  };
  each(tables.programs, program_bytes, programs, (entry) => take(word(entry, is_wide ? 8 : 4), word(entry, is_wide ? 32 : 16)));
  const NO_BITS = 8;
  each(tables.sections, section_bytes, sections, (entry) => {
    if (u32(entry, 4, little) !== NO_BITS) take(word(entry, is_wide ? 24 : 16), word(entry, is_wide ? 32 : 20));
  });
  const tail = reader.at(reader.size - MODULE_SIGNATURE.length, MODULE_SIGNATURE.length);
  if (!tail.equals(MODULE_SIGNATURE)) return end;
  // The number before the magic is the length of the signature (Linux, module_signature.h).
  const signature = u32(reader.at(reader.size - MODULE_SIGNATURE.length - 4, 4), 0, false);
  return end + signature + 12 + MODULE_SIGNATURE.length >= reader.size ? reader.size : end;
}

const CERTIFICATES = 4;

/** The end of a PE file: headers, sections, symbol table and signatures ("Attribute Certificate Table"). For a DOS program, its pages. */
export function walkProgram(reader: Reader, head: Buffer): number | undefined {
  if (head.length < 64) return undefined;
  const start = head.readUInt32LE(0x3c);
  const header = reader.at(start, 24);
  if (header.length < 24 || header.readUInt32LE(0) !== 0x4550) return walkDos(head);
  const optional_bytes = header.readUInt16LE(20);
  const optional = reader.at(start + 24, optional_bytes);
  const sections = reader.at(start + 24 + optional_bytes, header.readUInt16LE(6) * 40);
  let end = Math.max(
    start + 24 + optional_bytes + sections.length,
    u32(optional, 60, true) <= 65_536 ? u32(optional, 60, true) : 0,
  );
  for (let at = 0; at + 40 <= sections.length; at += 40) {
    const bytes = sections.readUInt32LE(at + 16);
    if (bytes > 0) end = Math.max(end, sections.readUInt32LE(at + 20) + bytes);
  }
  const symbols = header.readUInt32LE(12);
  if (symbols > 0 && symbols < reader.size) {
    const names = symbols + header.readUInt32LE(16) * 18;
    end = Math.max(end, names + u32(reader.at(names, 4), 0, true));
  }
  const directories = u16(optional, 0, true) === 0x20b ? 112 : 96;
  const certificates = directories + CERTIFICATES * 8;
  const [place, bytes] = [u32(optional, certificates, true), u32(optional, certificates + 4, true)];
  // Signatures are at the end of a program, after data that was appended before signing. They count only if they directly follow the program.
  if (place > 0 && place <= Math.ceil(end / 8) * 8 + 8 && place + bytes <= reader.size) end = Math.max(end, place + bytes);
  return end;
}

function walkDos(head: Buffer): number | undefined {
  const [last, pages] = [u16(head, 2, true), u16(head, 4, true)];
  if (pages === 0 || last > 512) return undefined;
  return (pages - 1) * 512 + (last === 0 ? 512 : last);
}

/** The end of a Mach-O file: its segments and symbol tables (loader.h). */
export function walkMach(reader: Reader, head: Buffer): number | undefined {
  const little = head[3] === 0xfe;
  const is_wide = (little ? head[0] : head[3]) === 0xcf;
  const count = u32(head, 16, little);
  const commands = reader.at(is_wide ? 32 : 28, Math.min(u32(head, 20, little), 1024 ** 2));
  let end = (is_wide ? 32 : 28) + commands.length;
  let at = 0;
  for (let index = 0; index < count && at + 8 <= commands.length; index += 1) {
    const command = u32(commands, at, little);
    const bytes = u32(commands, at + 4, little);
    if (bytes < 8) break;
    if (command === 0x19) end = Math.max(end, u64(commands, at + 40, little) + u64(commands, at + 48, little));
    if (command === 1) end = Math.max(end, u32(commands, at + 32, little) + u32(commands, at + 36, little));
    if (command === 2) end = Math.max(end, u32(commands, at + 16, little) + u32(commands, at + 20, little));
    at += bytes;
  }
  return end;
}

/**
 * The end of a Java class file or a macOS universal binary, which share a magic. The next field is a class version of 45 or more, or a small number of
 * architectures.
 */
export function walkCafe(reader: Reader, head: Buffer): number | undefined {
  if (u16(head, 6, false) >= 45) return walkJava(reader);
  let end = 8;
  for (let index = 0; index < Math.min(u32(head, 4, false), 44); index += 1) {
    const part = reader.at(8 + index * 20, 20);
    end = Math.max(end, u32(part, 8, false) + u32(part, 12, false));
  }
  return end;
}

/** Size of each type of constant without its tag (Java virtual machine specification, 4.4). Bytes. */
const JAVA_CONSTANTS: Readonly<Record<number, number>> = {
  3: 4,
  4: 4,
  5: 8,
  6: 8,
  7: 2,
  8: 2,
  9: 4,
  10: 4,
  11: 4,
  12: 4,
  15: 3,
  16: 2,
  17: 4,
  18: 4,
  19: 2,
  20: 2,
};

/** The end of a class file (4.1): constants, interfaces, fields, methods and attributes. Undefined if it is invalid. */
function walkJava(reader: Reader): number | undefined {
  let at = 8;
  const short = () => {
    const value = u16(reader.at(at, 2), 0, false);
    at += 2;
    return value;
  };
  const constants = short();
  for (let index = 1; index < constants && at < reader.size; index += 1) {
    const tag = reader.at(at, 3);
    const bytes = tag[0] === 1 ? 2 + u16(tag, 1, false) : JAVA_CONSTANTS[tag[0] ?? 0];
    if (bytes === undefined) return undefined;
    at += 1 + bytes;
    if (tag[0] === 5 || tag[0] === 6) index += 1;
  }
  at += 6;
  const interfaces = short();
  at += 2 * interfaces;
  const attributes = () => {
    for (let count = short(); count > 0 && at < reader.size; count -= 1) at += 6 + u32(reader.at(at + 2, 4), 0, false);
  };
  for (const _ of ['fields', 'methods']) {
    for (let count = short(); count > 0 && at < reader.size; count -= 1) {
      at += 6;
      attributes();
    }
  }
  attributes();
  return at;
}

/** The order of section ids in a module (core specification, 5.5.2). */
const WASM_ORDER = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];

/** The end of a WebAssembly module: sections with an id and a length in LEB128. */
export function walkWasm(reader: Reader): number {
  let before = 0;
  return along(reader, 8, (at) => {
    const head = reader.at(at, 6);
    const rank = WASM_ORDER.indexOf(head[0] ?? 255);
    // Sections occur once, in this order; custom sections (0) may be anywhere.
    if (head[0] !== 0 && rank < before) return undefined;
    if (head[0] !== 0) before = rank + 1;
    let length = 0;
    for (let index = 1; index < head.length; index += 1) {
      const byte = head[index] ?? 0;
      length += (byte & 0x7f) * 2 ** (7 * (index - 1));
      if (byte < 128) return at + index + 1 + length;
    }
    return undefined;
  });
}

/** The end of a shortcut (MS-SHLLINK 2): header, target, link information, five texts, and blocks up to one of less than 4 bytes. */
export function walkShortcut(reader: Reader, head: Buffer): number {
  const flags = u32(head, 20, true);
  const has = (bit: number) => (flags & (1 << bit)) !== 0;
  let at = 76;
  if (has(0)) at += 2 + u16(reader.at(at, 2), 0, true);
  if (has(1)) at += u32(reader.at(at, 4), 0, true);
  for (const bit of [2, 3, 4, 5, 6]) if (has(bit)) at += 2 + u16(reader.at(at, 2), 0, true) * (has(7) ? 2 : 1);
  const blocks = along(reader, at, (from) => {
    const size = u32(reader.at(from, 4), 0, true);
    return size < 4 ? undefined : from + size;
  });
  return Math.min(reader.size, blocks + 4);
}

/** The end of the header of a Chrome extension (CRX2 or CRX3). The zip archive after it is examined separately. */
export function walkCrx(_reader: Reader, head: Buffer): number | undefined {
  const version = u32(head, 4, true);
  return version === 3 ? 12 + u32(head, 8, true) : version === 2 ? 16 + u32(head, 8, true) + u32(head, 12, true) : undefined;
}
