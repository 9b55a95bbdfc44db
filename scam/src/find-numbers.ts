import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { BOUNDARY, patternOf } from './boundaries.ts';

/** A phone number in a text. `kind` is the kind of number (premium, ordinary, short), as far as the number shows it. */
export interface FoundNumber {
  /** The number as written in the text. */
  shown: string;
  /** The number in international format (+49...); a short number, and one of an unknown country, as its digits. */
  number: string;
  country: string | undefined;
  kind: 'ordinary' | 'premium' | 'short';
  /** The country is unknown, and the number is a premium number in at least one possible country. */
  isPerhapsPremium?: boolean;
  start: number;
  end: number;
}

/**
 * Prefixes of premium-rate numbers by country. United Kingdom: 09 and 087 (Ofcom, National Telephone Numbering
 * Plan); Germany: 0900, 0137 and 118
 * (Bundesnetzagentur); Austria: 0900, 0901, 0930, 0931 (RTR); Switzerland: 0900, 0901, 0906 (BAKOM); France: 081, 082, 089
 * (ARCEP); Spain: 803, 806, 807, 905 (CNMC);
 * Italy: 89x (AGCOM); Portugal: 601, 607, 608, 760, 761, 762 (ANACOM); Netherlands: 0900, 0906, 0909 (ACM); Poland: 70x (UKE);
 * North America: 900 (NANPA).
 */
const PREMIUM: Readonly<Record<string, RegExp>> = {
  GB: /^\+44(?:9|87)/u,
  DE: /^\+49(?:900|137|118)/u,
  AT: /^\+43(?:90[01]|93[01])/u,
  CH: /^\+41(?:90[016])/u,
  FR: /^\+33(?:81|82|89)/u,
  ES: /^\+34(?:80[367]|905)/u,
  IT: /^\+3989/u,
  PT: /^\+351(?:60[178]|76[0-2])/u,
  NL: /^\+31(?:900|906|909)/u,
  PL: /^\+4870/u,
  US: /^\+1900/u,
};

/** Countries with messages in English and different number formats. */
const ENGLISH = ['GB', 'US', 'IE'];
/** The countries to which numbers in messages of a language mostly belong. English has too many. */
const COUNTRIES_OF: Readonly<Record<string, readonly string[]>> = {
  de: ['DE', 'AT', 'CH'],
  fr: ['FR', 'BE', 'CH'],
  es: ['ES', 'MX', 'AR', 'CO', 'CL', 'PE'],
  it: ['IT', 'CH'],
  pt: ['PT', 'BR'],
  nl: ['NL', 'BE'],
  pl: ['PL'],
};
/** Countries that are tried to distinguish a phone number without other indications from other digits. */
const COUNTRIES_TRIED = ['GB', 'DE', 'FR', 'ES', 'IT', 'PT', 'NL', 'PL', 'US', 'IE', 'AT', 'CH', 'BE', 'JP'];

const MESSAGE_VERB = '(?:text|txt|txting|send|sms|mms|call|reply|rply|envia|enviar|stuur|invia|wyslij|sende|schicke|envoyez)';
const TO = String.raw`(?:to|\b(?:2|at|al|an|naar|au|na))`;
/** A short number after words that ask to send a message to it or to call it. */
const SHORT = patternOf(
  'giu',
  String.raw`\b(?:${MESSAGE_VERB}\b[^.\n]{0,60}?${TO}|(?:call|text|txt))\s?:?\s?`,
  String.raw`(?<![\d£$€])(\d{4,6})(?!\d|[.,:]\d| ?\d)`,
);

const { begin, beginOfDigits, end } = BOUNDARY;
/** In many messages the number directly follows a word such as "call". */
const BEHIND_CALL = String.raw`(?<=\b(?:call|tel|ring|phone))`;
/**
 * A candidate: digits with single separators. libphonenumber's own search takes seconds for a text of digits, so it is called
 * for each candidate instead.
 */
const CANDIDATE = patternOf(
  'giu',
  `(?:${begin}|${BEHIND_CALL})`,
  beginOfDigits,
  String.raw`(?:\+|00|\()?\d(?:[ ()./-]{0,2}\d){5,17}`,
  end,
);

const wordsOf = (text: string) => text.trim().split(/\s+/u).join('|');
/** Beginnings of words before a phone number. */
const CALLED = patternOf(
  'iu',
  `^(?:${wordsOf(`tel phone call ring dial hotline helpline landline mobil phon festnetz cell fax handy ruf
    anruf rückruf whatsapp sms text txt
    llam móvil appel joindre cellulare chiam telem liga ligue bel\\b bellen dzwo zadzwo telefo komórk ☎`)})`,
);
/** Beginnings of words before other numbers, such as amounts and ids. */
const COUNTED = patternOf(
  'iu',
  `^(?:${wordsOf(`tan code kode códig codice código kod pin otp passw kennwort order bestell pedido commande ordin encomenda
    zamówien customer kund client klant klient cliente parcel package paket paquete colis pacco pakket paczk przesył
    send[uû]ng tracking seguimiento suivi spedizion reference referen referên riferiment kenmerk ref\\b invoice rechnung
    factura facture fattura fatura factuur faktur account konto cuenta compte conto conta rekening card karte tarjeta
    carte carta cartão kaart policy police póliza polizza apólice polis polisa case ticket vorgang aktenzeichen dossier
    expediente pratica processo contract vertrag contrato contrat contratto contract umow serial serie booking buchung
    reserva réservation prenotazion reservering rezerwac member mitglied socio adhér tess miembro lid id\\b iban bic
    vat ust steuer nif nie siret siren partita p\\.iva btw nip regon pesel imei meter zähler contador compteur contatore teller
    licznik transaction transakt transac transaz postcode plz isbn ean item artikel artículo article articolo artigo artyku
    receipt beleg quittung recibo reçu ricevuta bon paragon voucher gutschein`)})`,
);
/** Maximum characters before a number that are searched for such words, within its sentence. */
const BEFORE_LENGTH = 60;
const DATE = /^\(?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2}))(?!\d)/u;
const MONEY_BEFORE = /[$€£¥]\s?$|\b(?:eur|usd|gbp|chf|pln|rs)\.?\s?$/iu;
const MONEY_BEHIND = /^\s?(?:[$€£¥%]|(?:eur|usd|gbp|chf|pln|zł)\b)/iu;

/** Names of call centres. They are matched as a whole, because "customer" alone indicates a customer number. */
const CALL_DESK = patternOf(
  'giu',
  String.raw`\b(?:customer|client) (?:services?|care|support)|kunden(?:service|dienst)|klantenservice|servicio al cliente`,
  '|servizio clienti|service clients?|apoio ao cliente|obsługi klienta',
);

type Meaning = 'called' | 'counted' | 'unsaid';

/** The meaning of a number by the words before it; the nearest word counts. */
function meaningOf(text: string, index: number): Meaning {
  // The dot of an abbreviation such as `no.` does not end the sentence.
  const before = text.slice(Math.max(0, index - BEFORE_LENGTH), index).replace(/[.#№]\s?$/u, ' ');
  const words = before
    .slice(before.search(/[^.!?\n;]*$/u))
    .replaceAll(CALL_DESK, 'call')
    .split(/[\s:,(="“'’>!*-]+/u)
    .filter((word) => word !== '');
  for (const word of words.reverse().slice(0, 6)) {
    if (COUNTED.test(word)) return 'counted';
    if (CALLED.test(word)) return 'called';
  }
  return 'unsaid';
}

/** Whether digits begin or are grouped like a phone number. */
const looksCalled = (shown: string) => /^[+(]|^0/u.test(shown) || /^1?[ .-]?\d{3}[ .-]\d{3}[ .-]\d{4}$/u.test(shown);

/** Parses a number as a number of each country in turn; undefined if it is valid in none. */
function readIn(shown: string, countries: readonly string[]): Pick<FoundNumber, 'number' | 'country' | 'kind'> | undefined {
  for (const country of countries) {
    if (!isSupportedCountry(country)) continue;
    const read = parsePhoneNumberFromString(shown, { defaultCountry: country, extract: false });
    if (read?.isValid() !== true) continue;
    const isPremium = Object.values(PREMIUM).some((pattern) => pattern.test(read.number));
    const named = read.country ?? (shown.startsWith('+') ? undefined : country);
    return { number: read.number, country: named, kind: isPremium ? 'premium' : 'ordinary' };
  }
  return undefined;
}

/** Parses a number without a known country. It counts as premium if it is premium in every country of the language in which it is valid. */
function readWithout(shown: string, language: string | undefined) {
  const natural = COUNTRIES_OF[language ?? ''] ?? [];
  const readings = natural.flatMap((country) => readIn(shown, [country]) ?? []);
  if (readings.length === 0 && readIn(shown, COUNTRIES_TRIED) === undefined) return undefined;
  const costs = readings.length > 0 && readings.every(({ kind }) => kind === 'premium');
  const perhaps =
    language === undefined || language === 'en' ? ENGLISH.flatMap((country) => readIn(shown, [country]) ?? []) : readings;
  return {
    number: shown.replaceAll(/\D/gu, ''),
    country: undefined,
    kind: costs ? ('premium' as const) : ('ordinary' as const),
    isPerhapsPremium: perhaps.some(({ kind }) => kind === 'premium'),
  };
}

/** Data of a message that shows the country of its numbers. */
export interface NumberSigns {
  /** Countries that the message indicates. */
  said?: ReadonlySet<string>;
  /** The language of the message. */
  language?: string | undefined;
  /** The recipient's country, used if the message indicates none. */
  home?: string | undefined;
}

/** Finds the phone numbers in a text. */
export function findNumbers(text: string, { said = new Set(), language, home }: NumberSigns = {}): FoundNumber[] {
  if (!/\d[\d ()./-]{2,}\d/u.test(text)) return [];
  const found: FoundNumber[] = [];
  for (const match of text.matchAll(SHORT)) {
    const number = match[1] ?? '';
    const start = match.index + match[0].length - number.length;
    found.push({ shown: number, number, country: undefined, kind: 'short', start, end: start + number.length });
  }
  const isAtHome = home !== undefined && (language === undefined || language === 'en' || COUNTRIES_OF[language]?.includes(home));
  const countries = said.size > 0 || !isAtHome ? [...said] : [home];
  for (const { 0: shown, index } of text.matchAll(CANDIDATE)) {
    const last = index + shown.length;
    if (found.some((other) => index < other.end && last > other.start)) continue;
    const isWhole = shown.startsWith('+') || shown.startsWith('00');
    if (DATE.test(shown) || MONEY_BEFORE.test(text.slice(Math.max(0, index - 6), index)) || MONEY_BEHIND.test(text.slice(last)))
      continue;
    const meaning = meaningOf(text, index);
    if (!isWhole && (meaning === 'counted' || (meaning === 'unsaid' && !looksCalled(shown)))) continue;
    const read = isWhole ? readIn(shown, COUNTRIES_TRIED) : (readIn(shown, countries) ?? readWithout(shown, language));
    if (read !== undefined) found.push({ shown, ...read, start: index, end: last });
  }
  return found.sort((a, b) => a.start - b.start);
}
