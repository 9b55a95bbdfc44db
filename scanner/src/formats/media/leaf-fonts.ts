import { u16, u32 } from '#scanner/formats/leaf-walk.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Finds the ends of fonts.

/** The end of a font (OpenType, "Table directory"): after its last table, padded to four bytes. */
export function fontEnd(reader: Reader, start: number): number {
  const count = u16(reader.at(start + 4, 2), 0, false);
  const tables = reader.at(start + 12, count * 16);
  let end = start + 12 + tables.length;
  for (let at = 0; at + 16 <= tables.length; at += 16) {
    const tail = u32(tables, at + 8, false) + u32(tables, at + 12, false);
    end = Math.max(end, Math.min(Math.ceil(tail / 4) * 4, Math.max(tail, reader.size)));
  }
  return end;
}

export function walkFonts(reader: Reader, head: Buffer): number {
  const count = Math.min(u32(head, 8, false), 1024);
  const places = reader.at(12, count * 4);
  let end = 12 + places.length;
  for (let at = 0; at + 4 <= places.length; at += 4) end = Math.max(end, fontEnd(reader, u32(places, at, false)));
  return end;
}

export const isFont = (head: Buffer) =>
  u16(head, 4, false) > 0 && u16(head, 4, false) < 100 && /^[A-Z][A-Za-z0-9/ ]{3}$/.test(head.toString('latin1', 12, 16));
