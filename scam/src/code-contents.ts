import type { CheckedCode } from '@palisade/contract/scam-check';

type Fact = CheckedCode['facts'][number];
interface Reading {
  kind: CheckedCode['kind'];
  facts: Fact[];
}

const fact = (name: string, value: string | undefined): Fact[] =>
  value === undefined || value.trim() === '' ? [] : [{ name, value: value.trim().slice(0, 300) }];

/** `KEY:value;` fields in which a backslash keeps the next sign (Wi-Fi, MECARD). */
function fields(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let [key, value, inKey] = ['', '', true];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (sign === '\\') {
      at += 1;
      value += text[at] ?? '';
    } else if (inKey && sign === ':') inKey = false;
    else if (!inKey && sign === ';') {
      found.set(key.toUpperCase(), value);
      [key, value, inKey] = ['', '', true];
    } else if (inKey) key += sign === ';' ? '' : sign;
    else value += sign;
  }
  return found;
}

/** Lines of a vCard or an iCalendar: `NAME;params:value`. */
const lineOf = (text: string, name: string) => new RegExp(`^${name}(?:;[^:\\n]{0,200})?:(.{1,300})$`, 'imu').exec(text)?.[1];

function query(text: string): URLSearchParams {
  const at = text.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : text.slice(at + 1));
}

/** The beginning of each kind of content, and its facts. The first that fits reads it. */
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
        facts: [
          ...fact('payee', given.get('name') ?? undefined),
          ...fact('iban', given.get('iban') ?? undefined),
          ...fact('amount', given.get('amount') ?? undefined),
        ],
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
          ...fact('amount', query(text).get('amount') ?? undefined),
        ],
      };
    },
  },
  {
    begins: /^WIFI:/iu,
    read: (text) => {
      const given = fields(text.slice(5));
      return { kind: 'wifi', facts: [...fact('network', given.get('S')), ...fact('security', given.get('T') ?? 'none')] };
    },
  },
  {
    begins: /^(?:BEGIN:VCARD|MECARD:)/iu,
    read: (text) => {
      const card = /^MECARD:/iu.test(text) ? fields(text.slice(7)) : undefined;
      const name = card?.get('N') ?? lineOf(text, 'FN') ?? lineOf(text, 'N');
      return {
        kind: 'contact',
        facts: [
          ...fact('name', name),
          ...fact('phone', card?.get('TEL') ?? lineOf(text, 'TEL')),
          ...fact('mail', card?.get('EMAIL') ?? lineOf(text, 'EMAIL')),
          ...fact('link', card?.get('URL') ?? lineOf(text, 'URL')),
        ],
      };
    },
  },
  {
    begins: /^BEGIN:(?:VCALENDAR|VEVENT)/iu,
    read: (text) => ({
      kind: 'calendar',
      facts: [
        ...fact('title', lineOf(text, 'SUMMARY')),
        ...fact('begins', lineOf(text, 'DTSTART')),
        ...fact('place', lineOf(text, 'LOCATION')),
      ],
    }),
  },
  {
    begins: /^(?:smsto|sms):/iu,
    read: (text) => {
      const [, number, body] = text.split(/[:?]/u);
      return { kind: 'sms', facts: [...fact('phone', number), ...fact('text', body?.replace(/^body=/iu, ''))] };
    },
  },
  { begins: /^tel:/iu, read: (text) => ({ kind: 'phone', facts: fact('phone', text.slice(4)) }) },
  {
    begins: /^(?:mailto:|MATMSG:)/iu,
    read: (text) => ({
      kind: 'mail',
      facts: fact('mail', /^MATMSG:/iu.test(text) ? fields(text.slice(7)).get('TO') : text.slice(7).split('?')[0]),
    }),
  },
  { begins: /^geo:/iu, read: (text) => ({ kind: 'place', facts: fact('place', text.slice(4)) }) },
  { begins: /^https?:\/\//iu, read: (text) => ({ kind: 'link', facts: fact('link', text) }) },
  {
    begins: /^(?:market|itms-apps|intent|otpauth|otpauth-migration|whatsapp|tg|fb|upi|app):/iu,
    read: (text) => ({ kind: 'app', facts: fact('app', text.split(':')[0]) }),
  },
  { begins: /^(?:www\.)?[\w-]+(?:\.[\w-]+)+(?:[/?#]\S*)?$/u, read: (text) => ({ kind: 'link', facts: fact('link', text) }) },
];

/** Explains a code: its kind, and the facts that a person would act on. */
export function explainCode(format: string, text: string): CheckedCode {
  const reading = READERS.find(({ begins }) => begins.test(text))?.read(text) ?? { kind: 'text' as const, facts: [] };
  return { ...reading, format, text };
}
