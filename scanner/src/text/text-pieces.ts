// Extracts the visible text of an XML document: a word that was edited in the middle is split over two or three elements.

const LESS = 0x3c;
const GREATER = 0x3e;
const AMPERSAND = 0x26;
const SLASH = 0x2f;
const NEWLINE = 0x0a;
/** Tags of WordprocessingML, DrawingML, SpreadsheetML and OpenDocument, of their document properties, of Gnumeric and of early Pages. */
const MARKS: readonly Buffer[] = [
  '<w:t>',
  '<w:t ',
  '<a:t>',
  '<text:p',
  '<text:span',
  '<w:instrText',
  '<w:delText',
  '<t>',
  '<t xml:space',
  '<dc:description',
  '<dc:subject',
  '<dc:title',
  '<cp:keywords',
  '<vt:lpwstr',
  '<oddHeader',
  '<oddFooter',
  '<meta:user-defined',
  '<gnm:Cell',
  '<Data ss:Type',
  '<ss:Data',
  '<sf:p',
].map((mark) => Buffer.from(mark));
/** Elements that begin a line, or a cell. */
const BREAKS =
  /^\/?(?:w:(?:p|br|cr|tab|tc)|a:(?:p|br|tc)|text:(?:p|h|line-break|tab)|table:table-cell|si|row|oddHeader|oddFooter|Data|(?:dc|cp|vt|meta|gnm|ss|sf):[A-Za-z-]{1,20})[\s/>]/;
const NAME_BYTES = 24;
const ENTITIES: ReadonlyMap<string, number> = new Map([
  ['amp', 0x26],
  ['lt', LESS],
  ['gt', GREATER],
  ['quot', 0x22],
  ['apos', 0x27],
]);
const ENTITY = /^&(?:#(\d{1,3})|#x([0-9a-f]{1,2})|(amp|lt|gt|quot|apos));/i;

/** Start of the visible text, after the document's properties. */
const BODIES: readonly Buffer[] = ['<w:body', '<office:body', '<a:p>', '<a:p ', '<Worksheet '].map((mark) => Buffer.from(mark));

/** The visible text of a document, without the indentation of its XML; undefined for other documents. */
export function textOfBody(xml: Buffer): Buffer | undefined {
  const starts = BODIES.map((mark) => xml.indexOf(mark)).filter((start) => start >= 0);
  if (starts.length === 0) return undefined;
  const body = textOfPieces(xml.subarray(Math.min(...starts)));
  return body && Buffer.from(body.toString('latin1').replaceAll(/\n[ \t\n]{0,64}/g, '\n'), 'latin1');
}

/** The text without tags, with a line for each paragraph; undefined for other documents. Works in one pass. */
export function textOfPieces(xml: Buffer): Buffer | undefined {
  if (!MARKS.some((mark) => xml.includes(mark))) return undefined;
  const target = Buffer.allocUnsafe(xml.length);
  let length = 0;
  for (let at = 0; at < xml.length; ) {
    const byte = xml[at] ?? 0;
    if (byte === LESS) {
      const end = xml.indexOf(GREATER, at);
      if (end < 0) break;
      const name = xml.toString('latin1', at + 1, Math.min(end + 1, at + 1 + NAME_BYTES));
      // An opening tag begins a line; a closing tag does so only after text.
      if (BREAKS.test(name) && (xml[at + 1] !== SLASH || length > 0) && target[length - 1] !== NEWLINE)
        target[length++] = NEWLINE;
      at = end + 1;
      continue;
    }
    if (byte === AMPERSAND) {
      const [whole, decimal, digits, entity] = ENTITY.exec(xml.toString('latin1', at, at + 8)) ?? [];
      const code =
        entity !== undefined
          ? ENTITIES.get(entity.toLowerCase())
          : digits !== undefined
            ? Number.parseInt(digits, 16)
            : Number(decimal);
      if (whole !== undefined && code !== undefined && code < 256) {
        target[length++] = code;
        at += whole.length;
        continue;
      }
    }
    target[length++] = byte;
    at += 1;
  }
  return target.subarray(0, length);
}

/** Removes blanks and empty lines around a text: rules recognise a document's text by its first bytes. */
export function trimmed(text: Buffer): Buffer {
  let [start, end] = [0, text.length];
  while (start < end && (text[start] ?? 0) <= 0x20) start += 1;
  while (end > start && (text[end - 1] ?? 0) <= 0x20) end -= 1;
  return text.subarray(start, end);
}
