import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, Unreadable } from '#scanner/reading/member.ts';
import { formulaOf, rkNumber } from './biff-formula.ts';
import type { Formula } from './xlm-formula.ts';
import { cellOf, parseFormula } from './xlm-parse.ts';
import { keyOf, type MacroSheet, type MacroText, macroText, newSheet } from './xlm-text.ts';

// Macro sheets of workbooks since Excel 2007: package parts as XML (MS-OFFMACRO2 2.2.1.2) or as binary records (MS-XLSB). Formulas, defined names and shared
// strings are in different parts, which are combined into one text.

/** Maximum size of one part, and of all kept parts together. Bytes. */
const PART_MAXIMUM = 8 * 1024 ** 2;
const PARTS_MAXIMUM = 32 * 1024 ** 2;
const LOOKED_BYTES = 2048;
const CELLS_MAXIMUM = 200_000;

const BEGIN_SHEET = 0x0181;
const RECORD = { row: 0, rk: 2, real: 5, text: 6, shared: 7, formula_text: 8, formula_error: 11, item: 19, name: 39 } as const;
/** Size of a formula's result, which precedes the formula, by record type. Bytes. */
const RESULT_BYTES: Readonly<Record<number, number>> = { 9: 8, 10: 1, 11: 1 };

type Kind = 'workbook' | 'macro sheet' | 'shared texts';

/**
 * The kind of a workbook part; undefined if macro sheets do not need it. The content decides where possible, because the author of a file chooses the part's
 * name.
 */
function kindOf(name: string, bytes: Buffer): Kind | undefined {
  if (bytes.length > 1 && bytes.readUInt16LE(0) === BEGIN_SHEET) return /macro/i.test(name) ? 'macro sheet' : undefined;
  if (/\.bin$/i.test(name))
    return /workbook\.bin$/i.test(name) ? 'workbook' : /sharedStrings\.bin$/i.test(name) ? 'shared texts' : undefined;
  const root = /<(?:\w{1,32}:)?(macrosheet|workbook|sst)[\s>]/i
    .exec(bytes.toString('latin1', 0, LOOKED_BYTES))?.[1]
    ?.toLowerCase();
  return root === 'macrosheet' ? 'macro sheet' : root === 'workbook' ? 'workbook' : root === 'sst' ? 'shared texts' : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function plain(xml: string): string {
  return xml.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : whole;
    },
  );
}

const textsIn = (xml: string): string =>
  [...xml.matchAll(/<(?:\w{1,32}:)?t(?:\s[^>]{0,200})?>([^<]*)</g)].map(([, text = '']) => plain(text)).join('');

/** Parses a sheet in XML. */
function sheetOfXml(name: string, xml: string, shared: readonly string[]): MacroSheet {
  const sheet = newSheet(name);
  // Each piece extends from one cell to the next.
  for (const inside of xml.split(/<(?:\w{1,32}:)?c\s/).slice(1)) {
    if (sheet.formulas.length + sheet.cells.size > CELLS_MAXIMUM) break;
    const attributes = inside.slice(0, inside.indexOf('>'));
    const place = /\br="([A-Za-z]{1,3}\d{1,7})"/.exec(attributes)?.[1];
    if (place === undefined) continue;
    const cell = cellOf(place);
    const kind = /\bt="(\w{1,16})"/.exec(attributes)?.[1];
    const formula = /<(?:\w{1,32}:)?f(?:\s[^>]{0,200})?>([^<]*)</.exec(inside)?.[1];
    const raw = /<(?:\w{1,32}:)?v(?:\s[^>]{0,200})?>([^<]*)</.exec(inside)?.[1];
    const value =
      kind === 's'
        ? shared[Number(raw)]
        : kind === 'inlineStr'
          ? textsIn(inside)
          : raw === undefined
            ? undefined
            : kind === undefined || kind === 'n'
              ? Number(raw)
              : plain(raw);
    if (formula !== undefined) sheet.formulas.push({ cell, formula: parseFormula(plain(formula)) });
    if (value !== undefined) (formula === undefined ? sheet.cells : sheet.saved).set(keyOf(cell), value);
  }
  return sheet;
}

/** The records of a binary part (MS-XLSB 2.1.4). */
function* recordsOf(bytes: Buffer): Generator<{ type: number; body: Buffer }> {
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++] ?? 0;
    const type = first < 0x80 ? first : (first & 0x7f) | (((bytes[at++] ?? 0) & 0x7f) << 7);
    let size = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++] ?? 0;
      size |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    const body = bytes.subarray(at, at + size);
    yield { type, body };
    at += Math.max(size, body.length);
  }
}

/** Reads a text after its length in characters (MS-XLSB 2.5.168). */
function wideText(body: Buffer, at: number): { text: string; after: number } {
  const end = at + 4 + 2 * (at + 4 <= body.length ? body.readUInt32LE(at) : 0);
  return { text: body.toString('utf16le', at + 4, end), after: end };
}

const formulaAt = (body: Buffer, at: number): Formula | undefined =>
  at + 4 > body.length ? undefined : formulaOf(body.subarray(at + 4, at + 4 + body.readUInt32LE(at)), 'xlsb', () => undefined);

function sheetOfRecords(name: string, bytes: Buffer, shared: readonly string[]): MacroSheet {
  const sheet = newSheet(name);
  let row = 0;
  for (const { type, body } of recordsOf(bytes)) {
    if (sheet.formulas.length + sheet.cells.size > CELLS_MAXIMUM) break;
    if (type === RECORD.row && body.length >= 4) row = body.readUInt32LE(0);
    if (body.length < 8 || type > RECORD.formula_error) continue;
    const cell = { row, column: body.readUInt32LE(0) };
    if (type === RECORD.text) sheet.cells.set(keyOf(cell), wideText(body, 8).text);
    else if (type === RECORD.shared && body.length >= 12) sheet.cells.set(keyOf(cell), shared[body.readUInt32LE(8)] ?? '');
    else if (type === RECORD.real && body.length >= 16) sheet.cells.set(keyOf(cell), body.readDoubleLE(8));
    else if (type === RECORD.rk && body.length >= 12) sheet.cells.set(keyOf(cell), rkNumber(body.readInt32LE(8)));
    else if (type >= RECORD.formula_text) {
      const saved = type === RECORD.formula_text ? wideText(body, 8) : undefined;
      if (saved !== undefined) sheet.saved.set(keyOf(cell), saved.text);
      const formula = formulaAt(body, (saved?.after ?? 8 + (RESULT_BYTES[type] ?? 0)) + 2);
      if (formula !== undefined) sheet.formulas.push({ cell, formula });
    }
  }
  return sheet;
}

/** The defined names of a workbook (ECMA-376 part 1, 18.2.5; MS-XLSB 2.4.711). */
function namesOf(bytes: Buffer): { name: string; formula: Formula | undefined }[] {
  if (bytes[0] !== 0x83) {
    const names = bytes.toString('utf8').matchAll(/<(?:\w{1,32}:)?definedName\s([^>]{0,800})>([^<]*)</g);
    return [...names].map(([, attributes = '', inside = '']) => ({
      name: plain(/\bname="([^"]{0,300})"/.exec(attributes)?.[1] ?? ''),
      formula: parseFormula(plain(inside)),
    }));
  }
  const names: { name: string; formula: Formula | undefined }[] = [];
  for (const { type, body } of recordsOf(bytes)) {
    if (type !== RECORD.name) continue;
    const { text, after } = wideText(body, 9);
    names.push({ name: text, formula: formulaAt(body, after) });
  }
  return names;
}

function sharedOf(bytes: Buffer): string[] {
  if (bytes[0] === 0x9f)
    return [...recordsOf(bytes)].filter(({ type }) => type === RECORD.item).map(({ body }) => wideText(body, 1).text);
  const items = bytes.toString('utf8').split(/<(?:\w{1,32}:)?si[\s>]/);
  return items.slice(1).map(textsIn);
}

/** The members of a package, followed by the text of its macro sheets, if it has any. */
export async function* withMacroSheets(members: AsyncGenerator<Member>, budget: Budget): AsyncGenerator<Member> {
  const parts: { kind: Kind; name: string; bytes: Buffer }[] = [];
  let kept = 0;
  /** Kinds of parts that exceeded the limits. */
  const missed = new Set<Kind>();
  const mayKeep = (kind: Kind, bytes: number): boolean => {
    const has_room = bytes <= PART_MAXIMUM && kept + bytes <= PARTS_MAXIMUM;
    if (!has_room) missed.add(kind);
    return has_room;
  };
  const keep = (kind: Kind, name: string, bytes: Buffer) => {
    kept += bytes.length;
    parts.push({ kind, name, bytes });
  };
  /** Passes the stream of a part through unchanged, and keeps it if macro sheets need it. */
  async function* watched(name: string, stream: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const chunks: Buffer[] = [];
    let size = 0;
    let kind: Kind | undefined;
    try {
      for await (const chunk of stream) {
        if (Buffer.isBuffer(chunk)) {
          if (size === 0) kind = kindOf(name, chunk.subarray(0, LOOKED_BYTES));
          size += chunk.length;
          if (kind !== undefined && !mayKeep(kind, size)) {
            kind = undefined;
            chunks.length = 0;
          }
          if (kind !== undefined) chunks.push(chunk);
        }
        yield chunk;
      }
    } finally {
      if (kind !== undefined) keep(kind, name, Buffer.concat(chunks));
    }
  }
  let failure: unknown;
  try {
    for await (const member of members) {
      yield !/\.(xml|bin)$/i.test(member.name) || member.closed !== undefined
        ? member
        : {
            ...member,
            read: async () => {
              const body = await member.read();
              if ('stream' in body) return { ...body, stream: watched(member.name, body.stream) };
              if (!('bytes' in body.content)) {
                if (/macrosheet/i.test(member.name)) missed.add('macro sheet');
                return body;
              }
              const bytes = body.content.bytes.subarray(0, body.content.size);
              const kind = kindOf(member.name, bytes.subarray(0, LOOKED_BYTES));
              if (kind !== undefined && mayKeep(kind, bytes.length)) keep(kind, member.name, bytes);
              return body;
            },
          };
    }
  } catch (error) {
    failure = error;
  }
  const made = parts.some(({ kind }) => kind === 'macro sheet') ? textOf(parts, budget) : undefined;
  if (made !== undefined) {
    if (made.is_cut || missed.size > 0) missed.add('macro sheet');
    const bytes = Buffer.from(made.text);
    budget.addUnpacked(bytes.length, bytes.length, kept);
    yield { name: 'macro sheets', kind: 'view', read: () => ({ content: { size: bytes.length, bytes } }) };
  }
  if (failure !== undefined) throw failure;
  // Without a macro sheet, the other parts are not needed.
  if (missed.has('macro sheet')) throw new Unreadable('too_large');
}

function textOf(parts: readonly { kind: Kind; name: string; bytes: Buffer }[], budget: Budget): MacroText | undefined {
  const of = (wanted: Kind) => parts.filter(({ kind }) => kind === wanted);
  for (const { bytes } of parts) budget.spend(bytes.length * 2);
  const shared = of('shared texts').flatMap(({ bytes }) => sharedOf(bytes));
  const sheets = of('macro sheet').map(({ name, bytes }) =>
    bytes.readUInt16LE(0) === BEGIN_SHEET
      ? sheetOfRecords(name, bytes, shared)
      : sheetOfXml(name, bytes.toString('utf8'), shared),
  );
  const made = macroText(
    sheets,
    of('workbook').flatMap(({ bytes }) => namesOf(bytes)),
    budget,
  );
  const is_full = ({ formulas, cells }: MacroSheet) => formulas.length + cells.size > CELLS_MAXIMUM;
  return made === undefined ? undefined : { text: made.text, is_cut: made.is_cut || sheets.some(is_full) };
}
