import type { CheckedCode } from '@palisade/contract/scam-check';
import { percentDecoded } from './percent-decoded.ts';

type Fact = CheckedCode['facts'][number];
interface Reading {
  kind: CheckedCode['kind'];
  facts: Fact[];
  /** All text of the content without the syntax of its format; absent if the content has no text. */
  plain?: string;
}

const fact = (name: string, value: string | null | undefined): Fact[] =>
  value === undefined || value === null || value.trim() === '' ? [] : [{ name, value: value.trim().slice(0, 300) }];

/** A field of a vCard: its name in upper case without group and parameters, and its value. */
type Field = readonly [name: string, value: string];

const fieldOf = (fields: readonly Field[], name: string) => fields.find(([one]) => one === name)?.[1];
const linesOf = (fields: readonly Field[]) => fields.map(([name, value]) => `${name}: ${value}`).join('\n');

/** Parses `KEY:value;` fields, in which a backslash escapes the next character (Wi-Fi, MECARD, MEBKM, MATMSG). */
function keyFields(text: string): Field[] {
  const found: Field[] = [];
  let [key, value, inKey] = ['', '', true];
  for (let at = 0; at <= text.length; at += 1) {
    const sign = text[at] ?? ';';
    if (sign === '\\' && !inKey) {
      at += 1;
      value += text[at] ?? '';
    } else if (inKey && sign === ':') inKey = false;
    else if (!inKey && sign === ';') {
      found.push([key.trim().toUpperCase(), value]);
      [key, value, inKey] = ['', '', true];
    } else if (inKey) key += sign === ';' ? '' : sign;
    else value += sign;
  }
  return found;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', N: '\n' };

function quotedPrintable(text: string, charset: string): string {
  const bytes = Buffer.from(
    text.replaceAll(/=([0-9a-f]{2})/giu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

/** Unfolds the lines of a vCard or an iCalendar: removes line breaks that are followed by a space or tab (RFC 5545, section 3.1). */
export const unfolded = (text: string) => text.replaceAll(/\r?\n[ \t]/gu, '');

/**
 * Parses the fields of a vCard (RFC 2426, 6350, and 2.1) or an iCalendar (RFC 5545). In quoted-printable a long line
 * ends in an equals sign.
 */
function cardFields(text: string): Field[] {
  const lines: string[] = [];
  for (const line of unfolded(text).split(/\r?\n/u)) {
    const before = lines.at(-1);
    if (before !== undefined && /;(?:ENCODING=)?QUOTED-PRINTABLE[;:]/iu.test(before) && before.endsWith('='))
      lines[lines.length - 1] = before.slice(0, -1) + line;
    else lines.push(line);
  }
  return lines.flatMap((line) => {
    const [, name = '', params = '', value = ''] =
      /^(?:[\w-]{1,40}\.)?([\w-]{1,60})((?:;(?:"[^"]{0,300}"|[^:"]){0,300})?):(.*)$/u.exec(line) ?? [];
    // Pictures and keys contain no text.
    if (name === '' || /;ENCODING=(?:B|BASE64)\b|;BASE64\b/iu.test(params) || value.startsWith('data:')) return [];
    const charset = /;CHARSET="?([\w-]{1,40})/iu.exec(params)?.[1] ?? 'utf-8';
    const isQuoted = /QUOTED-PRINTABLE/iu.test(params);
    const plain = isQuoted ? quotedPrintable(value, charset) : value;
    return [[name.toUpperCase(), plain.replaceAll(/\\(.)/gu, (_, sign: string) => ESCAPED[sign] ?? sign)] as const];
  });
}

/** The part of an address such as `mailto:` before the question mark, and the parameters after it. */
function beforeAndAfter(text: string): { before: string; given: URLSearchParams; plain: string } {
  // In `sms:` some phones start the parameters with an ampersand or a semicolon.
  const at = text.search(/[?&]|;\?/u);
  const before = percentDecoded(at < 0 ? text : text.slice(0, at));
  const given = new URLSearchParams(
    at < 0
      ? ''
      : text
          .slice(at)
          .replace(/^[;?&]+/u, '')
          .replaceAll('+', '%2B'),
  );
  return { before, given, plain: [before, ...given.values()].join('\n') };
}

const query = (text: string) => beforeAndAfter(text).given;

/** Readers by the beginning of the content. The first matching reader is used. */
const READERS: readonly { begins: RegExp; read: (text: string) => Reading }[] = [
  {
    // European Payments Council, EPC069-12: service tag, version, character set, identification, BIC, payee, IBAN, amount,
    // purpose, reference, text.
    begins: /^BCD\r?\n/u,
    read: (text) => {
      const [, , , , bic, payee, iban, amount, , reference, remittance] = text.split(/\r?\n/u);
      return {
        kind: 'payment',
        facts: [
          ...fact('payee', payee),
          ...fact('iban', iban),
          ...fact('bic', bic),
          ...fact('amount', amount),
          ...fact('reference', remittance ?? reference),
        ],
      };
    },
  },
  {
    // Swiss QR bill (SIX, Implementation Guidelines): the IBAN is on line 4, the payee on line 6, the amount on line 19, the
    // currency on line 20.
    begins: /^SPC\r?\n/u,
    read: (text) => {
      const lines = text.split(/\r?\n/u);
      return {
        kind: 'payment',
        facts: [
          ...fact('payee', lines[5]),
          ...fact('iban', lines[3]),
          ...fact('amount', `${lines[18] ?? ''} ${lines[19] ?? ''}`),
        ],
      };
    },
  },
  {
    begins: /^bank:\/\/singlepayment/iu,
    read: (text) => {
      const given = query(text);
      return {
        kind: 'payment',
        facts: [...fact('payee', given.get('name')), ...fact('iban', given.get('iban')), ...fact('amount', given.get('amount'))],
      };
    },
  },
  {
    // Polish bank transfer (ZBP 2D): tax number | country | account | amount in grosz | payee | title.
    begins: /^\d{0,10}\|PL\|\d{26}\|/u,
    read: (text) => {
      const [, country, number, amount, payee, title] = text.split('|');
      return {
        kind: 'payment',
        facts: [
          ...fact('payee', payee),
          ...fact('iban', `${country}${number}`),
          ...fact('amount', `${Number(amount) / 100} PLN`),
          ...fact('reference', title),
        ],
      };
    },
  },
  {
    // EMVCo merchant code, among them Pix and Bizum: the payee's name is field 59, the amount field 54.
    begins: /^000201/u,
    read: (text) => {
      const found = new Map<string, string>();
      for (let at = 0; at + 4 <= text.length; ) {
        const length = Number(text.slice(at + 2, at + 4));
        if (!Number.isInteger(length)) break;
        found.set(text.slice(at, at + 2), text.slice(at + 4, at + 4 + length));
        at += 4 + length;
      }
      return {
        kind: 'payment',
        facts: [...fact('payee', found.get('59')), ...fact('amount', found.get('54')), ...fact('country', found.get('58'))],
      };
    },
  },
  {
    begins: /^(?:bitcoin|ethereum|litecoin|tron|monero|lightning):/iu,
    read: (text) => {
      const [scheme = '', rest = ''] = text.split(/:(.*)/su);
      return {
        kind: 'payment',
        facts: [
          ...fact('currency', scheme.toLowerCase()),
          ...fact('wallet', rest.split('?')[0]),
          ...fact('amount', query(text).get('amount')),
        ],
        plain: beforeAndAfter(rest).plain,
      };
    },
  },
  {
    begins: /^WIFI:/iu,
    read: (text) => {
      const given = keyFields(text.slice(5));
      const network = fieldOf(given, 'S');
      return {
        kind: 'wifi',
        facts: [...fact('network', network), ...fact('security', fieldOf(given, 'T') ?? 'none')],
        plain: network ?? '',
      };
    },
  },
  {
    begins: /^(?:BEGIN:VCARD|MECARD:|BIZCARD:)/iu,
    read: (text) => {
      const fields = /^BEGIN:/iu.test(text) ? cardFields(text) : keyFields(text.slice(text.indexOf(':') + 1));
      return {
        kind: 'contact',
        facts: [
          ...fact('name', fieldOf(fields, 'FN') ?? fieldOf(fields, 'N')),
          ...fact('phone', fieldOf(fields, 'TEL') ?? fieldOf(fields, 'B')),
          ...fact('mail', fieldOf(fields, 'EMAIL') ?? fieldOf(fields, 'E')),
          ...fact('link', fieldOf(fields, 'URL')),
        ],
        plain: linesOf(fields),
      };
    },
  },
  {
    begins: /^BEGIN:(?:VCALENDAR|VEVENT)/iu,
    read: (text) => {
      const fields = cardFields(text);
      return {
        kind: 'calendar',
        facts: [
          ...fact('title', fieldOf(fields, 'SUMMARY')),
          ...fact('begins', fieldOf(fields, 'DTSTART')),
          ...fact('place', fieldOf(fields, 'LOCATION')),
        ],
        // Times, ids and sequence numbers are left out of the text.
        plain: linesOf(fields.filter(([name]) => !/^(?:DT|UID|PRODID|RRULE|SEQUENCE|CREATED|LAST|TZ|X-)/u.test(name))),
      };
    },
  },
  {
    // The text is everything after the second colon.
    begins: /^(?:sms|mms)to:/iu,
    read: (text) => {
      const [, number = '', body = ''] = /^\w+:([^:]{0,100}):?(.*)$/su.exec(text) ?? [];
      return { kind: 'sms', facts: [...fact('phone', number), ...fact('text', body)], plain: `${number}\n${body}` };
    },
  },
  {
    begins: /^(?:sms|mms):/iu,
    read: (text) => {
      const [first = '', ...rest] = text.slice(4).replace(/^\/\//u, '').split(':');
      const { before, given, plain } = beforeAndAfter(rest.length > 0 && !first.includes('?') ? first : text.slice(4));
      const body = given.get('body') ?? rest.join(':');
      return { kind: 'sms', facts: [...fact('phone', before), ...fact('text', body)], plain: `${plain}\n${body}` };
    },
  },
  {
    begins: /^tel:/iu,
    read: (text) => ({ kind: 'phone', facts: fact('phone', text.slice(4)), plain: percentDecoded(text.slice(4)) }),
  },
  {
    begins: /^(?:mailto:|smtp:)/iu,
    read: (text) => {
      const { before, plain } = beforeAndAfter(text.slice(text.indexOf(':') + 1));
      const [address = '', ...words] = before.split(':');
      return { kind: 'mail', facts: fact('mail', address), plain: [address, ...words, plain].join('\n') };
    },
  },
  {
    begins: /^MATMSG:/iu,
    read: (text) => {
      const fields = keyFields(text.slice(7));
      return { kind: 'mail', facts: fact('mail', fieldOf(fields, 'TO')), plain: linesOf(fields) };
    },
  },
  {
    begins: /^geo:/iu,
    read: (text) => ({ kind: 'place', facts: fact('place', text.slice(4)), plain: [...query(text).values()].join('\n') }),
  },
  {
    // Bookmarks: MEBKM of NTT Docomo, and URLTO and URL of other readers.
    begins: /^(?:MEBKM|URLTO|URL):/iu,
    read: (text) => {
      const rest = text.slice(text.indexOf(':') + 1);
      const fields: Field[] = /^MEBKM:/iu.test(text) ? keyFields(rest) : [['URL', rest]];
      return { kind: 'link', facts: fact('link', fieldOf(fields, 'URL')), plain: linesOf(fields) };
    },
  },
  { begins: /^https?:\/\//iu, read: (text) => ({ kind: 'link', facts: fact('link', text) }) },
  {
    begins: /^(?:market|itms-apps|intent|otpauth|otpauth-migration|whatsapp|tg|fb|upi|app):/iu,
    read: (text) => ({
      kind: 'app',
      facts: fact('app', text.split(':')[0]?.toLowerCase()),
      plain: /^intent:/iu.test(text) ? text : [text, ...query(text).values()].join('\n'),
    }),
  },
  { begins: /^(?:www\.)?[\w-]+(?:\.[\w-]+)+(?:[/?#]\S*)?$/u, read: (text) => ({ kind: 'link', facts: fact('link', text) }) },
];

const read = (text: string): Reading =>
  READERS.find(({ begins }) => begins.test(text))?.read(text) ?? { kind: 'text', facts: [] };

/** The text of a code or a vCard without the syntax of its format. */
export function plainContents(text: string): string {
  const begun = text.trimStart();
  return read(begun).plain ?? begun;
}

/** Whether a text is the content of a QR code or a contact card, and not a message. */
export const isCodeContents = (text: string): boolean => read(text.trimStart()).plain !== undefined;

/** Describes a code: its kind, and the data that matters to a person. */
export function explainCode(format: string, text: string): CheckedCode {
  const { kind, facts } = read(text.trimStart());
  return { kind, facts, format, text };
}
