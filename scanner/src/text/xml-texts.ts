// Extracts the texts of an XML document as a parser gives them (XML 1.0, 2.4, 2.7 and 4.6): texts between tags, CDATA sections and values of attributes, with entities resolved. Otherwise
// a rule about the first bytes of a text would not match between tags, and `&lt;` would hide a `<`.

const LESS = 0x3c;
const GREATER = 0x3e;
const AMPERSAND = 0x26;
/** No rule matches a shorter text. Bytes. */
const LEAST = 33;
const HEAD_BYTES = 1024;
const DOCUMENT = /^(?:\xef\xbb\xbf)?\s{0,64}<\?xml[\s?]/;
/** HTML pages are not read as documents: they show such texts to readers, as listings. */
const PAGE = /<!doctype html|<html[\s>]/i;
const CDATA = Buffer.from('<![CDATA[');
const CDATA_END = Buffer.from(']]>');
const COMMENT = Buffer.from('<!--');
const COMMENT_END = Buffer.from('-->');
const ATTRIBUTE = /=\s{0,8}(?:"([^"]{33,})"|'([^']{33,})')/g;
/** The attributes of a longer tag are not read. Bytes. */
const TAG_BYTES_MAXIMUM = 1024 ** 2;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi;

/** Resolves the entities of a text in Latin-1; characters beyond ASCII become UTF-8. */
function resolved(text: string): string {
  return text.replaceAll(ENTITY, (whole, decimal?: string, digits?: string, name?: string) => {
    if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? whole;
    const code = decimal === undefined ? Number.parseInt(digits ?? '', 16) : Number(decimal);
    if (code < 0x80) return String.fromCharCode(code);
    return code > 0x10ffff ? whole : Buffer.from(String.fromCodePoint(code)).toString('latin1');
  });
}

/** Characters that commands and scripts contain, and sentences seldom do. A text without them needs no separate match. */
const TELLING = /[<>$%&@\\^{}|=+*#~`[\]]/;

/** Yields each text of a document that is long enough, and the CDATA sections of any other text. Works in one pass. */
export function* xmlTexts(source: Buffer): Generator<Buffer> {
  const head = source.toString('latin1', 0, HEAD_BYTES);
  const is_document = DOCUMENT.test(head) && !PAGE.test(head);
  let at = is_document ? source.indexOf(LESS) : source.indexOf(CDATA);
  while (at >= 0) {
    const begins = (mark: Buffer) => source.subarray(at, at + mark.length).equals(mark);
    const open = [CDATA, COMMENT].find(begins);
    const close = open === CDATA ? CDATA_END : COMMENT_END;
    const found = open === undefined ? source.indexOf(GREATER, at) : source.indexOf(close, at + open.length);
    const end = found < 0 ? source.length : found;
    if (open === CDATA && end - at - CDATA.length >= LEAST) yield source.subarray(at + CDATA.length, end);
    if (!is_document) {
      at = source.indexOf(CDATA, end);
      continue;
    }
    if (open === undefined && end - at > LEAST && end - at <= TAG_BYTES_MAXIMUM) {
      const tag = source.subarray(at, end);
      if (tag.includes(AMPERSAND))
        for (const [, double, single] of tag.toString('latin1').matchAll(ATTRIBUTE))
          yield Buffer.from(resolved(double ?? single ?? ''), 'latin1');
    }
    const after = end + (open === undefined ? 1 : close.length);
    at = source.indexOf(LESS, after);
    const text = source.subarray(after, at < 0 ? source.length : at);
    if (text.length < LEAST) continue;
    const plain = resolved(text.toString('latin1')).trim();
    if (plain.length >= LEAST && TELLING.test(plain)) yield Buffer.from(plain, 'latin1');
  }
}
