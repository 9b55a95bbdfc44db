// Undoes the ways in which a format writes its texts: folded values of calendars and vCards, base64 with escaped slashes or plus signs or with blanks between its letters, URL-encoded
// forms, quoted fields of tables.

const CARD = /^(?:BEGIN:V[A-Z]{4,8}|dn:{1,2} |version: \d)/im;
const QUOTED = /^[^\r\n:]{0,200};(?:ENCODING=)?QUOTED-PRINTABLE[^\r\n:]{0,200}:/im;
/** Larger texts are not converted: their files are found without it. Bytes. */
const CARD_BYTES_MAXIMUM = 1024 ** 2;

/** Unfolds the values of a calendar, a vCard or an LDIF file (RFC 5545, 3.1; RFC 6350, 3.2; RFC 2849) and resolves their escapes; undefined for any other text. */
function ofCard(source: string): string | undefined {
  if (source.length > CARD_BYTES_MAXIMUM || !CARD.test(source.slice(0, 4096))) return undefined;
  const quoted = QUOTED.test(source)
    ? source
        .replaceAll(/=\r?\n/g, '')
        .replaceAll(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : source;
  return (
    quoted
      .replaceAll(/\r?\n[ \t]/g, '')
      .replaceAll(/\\([nN,;\\])/g, (_, letter: string) => (letter === 'n' || letter === 'N' ? '\n' : letter))
      // Puts each value on a line of its own, after its name.
      .replaceAll(/^[A-Za-z][\w.-]{0,60}(?:;[^:\r\n]{0,200})?::? ?/gm, '$&\n')
  );
}

const ESCAPED_BASE64 = /[A-Za-z0-9+/]{16}(?:\\\/|%2[BbFf])/;
const SPELLED: Readonly<Record<string, string>> = { '\\/': '/', '%2b': '+', '%2f': '/', '%3d': '=', '%0a': '\n', '%0d': '' };

/** Resolves the escapes that JSON (`\/`) and forms (`%2B`) use in base64; undefined if there are none. */
function ofEscapes(source: string): string | undefined {
  // A quick check: most texts have neither mark.
  if (!(source.includes('\\/') || source.includes('%2')) || !ESCAPED_BASE64.test(source)) return undefined;
  return source.replaceAll(/\\\/|%(?:2[BF]|3D|0[AD])/gi, (mark) => SPELLED[mark.toLowerCase()] ?? mark);
}

const LETTERS_ALONE = /^[A-Za-z0-9+/=\s]*$/;
const GAPS = /\S[ \t]+\S|\n\s*\n|\r\r/;

/** Removes the blanks of a text that is base64 alone; undefined for any other text. */
function ofLetters(source: string): string | undefined {
  if (!LETTERS_ALONE.test(source.slice(0, 4096)) || !GAPS.test(source) || !LETTERS_ALONE.test(source)) return undefined;
  return source.replaceAll(/\s+/g, '');
}

/** A submitted form (URL Standard, 5.2): names and values without blanks, with `+` and percent escapes. */
const FORM = /^[\w.%*+-]{1,200}=[\w.%*+/=&'()!~:,;@$?-]*\s*$/;

function ofForm(source: string): string | undefined {
  if (source.length > CARD_BYTES_MAXIMUM || !source.includes('%') || !FORM.test(source)) return undefined;
  return source
    .replaceAll('+', ' ')
    .replaceAll('&', '\n')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replaceAll(/^[\w.*-]{1,200}=/gm, '$&\n');
}

const DOUBLED = /(?:^|[,;\t])"[^"]{0,4096}""/m;

/** Puts each quoted value of a CSV table (RFC 4180, 2.7) on a line of its own, and resolves doubled quotation marks; undefined if there are none. */
function ofTable(source: string): string | undefined {
  if (source.length > CARD_BYTES_MAXIMUM || !source.includes('""') || !DOUBLED.test(source)) return undefined;
  return source.replaceAll(/(^|[,;\t])"(?!")/gm, '$1\n').replaceAll('""', '"');
}

const QUOTE = 0x22;
/** Shorter values are ignored. Bytes. */
const VALUE_LEAST = 33;
const VALUES_MAXIMUM = 500;
const BEFORE_VALUE: ReadonlySet<number | undefined> = new Set([undefined, 0x2c, 0x3b, 0x09, 0x0a, 0x0d]);
const VALUE_MARK = /"[\r\n]|\n[^"\r\n]{0,200}"|""/;

/** Yields the values of a CSV table that have several lines or contain quotation marks. Works in one pass. */
export function* tableTexts(text: Buffer): Generator<Buffer> {
  if (text.length > CARD_BYTES_MAXIMUM || !VALUE_MARK.test(text.toString('latin1'))) return;
  let count = 0;
  for (let open = text.indexOf(QUOTE); open >= 0 && count < VALUES_MAXIMUM; ) {
    if (!BEFORE_VALUE.has(text[open - 1])) {
      open = text.indexOf(QUOTE, open + 1);
      continue;
    }
    let is_doubled = false;
    let end = text.indexOf(QUOTE, open + 1);
    for (; end >= 0 && text[end + 1] === QUOTE; end = text.indexOf(QUOTE, end + 2)) is_doubled = true;
    if (end < 0) return;
    const value = text.subarray(open + 1, end);
    if (value.length >= VALUE_LEAST && BEFORE_VALUE.has(text[end + 1]) && (is_doubled || value.includes(0x0a))) {
      count += 1;
      yield is_doubled ? Buffer.from(value.toString('latin1').replaceAll('""', '"'), 'latin1') : value;
    }
    open = text.indexOf(QUOTE, end + 1);
  }
}

const QUOTED_LEAST = 4;

/** Decodes quoted-printable that is not declared; undefined if there are too few escapes. */
function ofQuoted(source: string): string | undefined {
  if (source.length > CARD_BYTES_MAXIMUM || (source.match(/=(?:[0-9A-F]{2}|\r?\n)/g)?.length ?? 0) < QUOTED_LEAST)
    return undefined;
  return source
    .replaceAll(/=[ \t]{0,8}\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The results of all conversions that apply to a text. `text`: UTF-8, or another encoding that extends ASCII. */
export function spelledOut(text: Buffer): Buffer[] {
  const source = text.toString('latin1');
  const cdata = source.includes(']]><![CDATA[') ? source.replaceAll(']]><![CDATA[', '') : undefined;
  return [ofCard(source), ofEscapes(source), ofLetters(source), ofForm(source), ofTable(source), ofQuoted(source), cdata]
    .filter((one) => one !== undefined)
    .map((one) => Buffer.from(one, 'latin1'));
}
