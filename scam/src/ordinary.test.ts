import { afterAll, expect, test } from 'vitest';
import { HIDDEN, WRAPPERS } from '#test/wrapped-links.ts';
import { findLinks } from './find-links.ts';
import { ScamCheck } from './scam-check.ts';

const check = new ScamCheck();
afterAll(() => check.close());

/** Numbers between 0 and 1 that are the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = seeded(47);
const any = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
const digits = (pattern: string) => pattern.replaceAll('#', () => String(Math.floor(random() * 10)));

/** Per language: honest lines around a number of the country, around a count or code, and around a link; and what a scam asks. */
const LANGUAGES: Readonly<
  Record<string, { phones: string[]; call: string[]; counted: string[]; link: string[]; scam: string[] }>
> = {
  en: {
    phones: ['087 ### ####', '0909 642 ####', '+353 87 ### ####', '020 7946 0###', '(212) 555-01##'],
    call: [
      'Mary is now at ☎, ring her about Sunday.',
      'The surgery moved. Tel:☎, open from 8.',
      'My new number is ☎, see you in Galway!',
    ],
    counted: ['Your verification code is ☎. Do not share it.', 'Order no. ☎ was dispatched.', 'Parcel ☎ is with your neighbour.'],
    link: ['The photos are here: ☍', 'Our timetable for May =>☍', 'Programme of the choir:☍'],
    scam: ['Your account is locked, confirm your details: ☍', 'Parcel on hold, pay the fee:☍', 'Sign in and verify your card=☍'],
  },
  de: {
    phones: ['0911 ######', '0871 ######', '0176 ########', '+49 911 ######', '0900###'],
    call: ['Oma ist jetzt unter ☎ zu erreichen.', 'Praxis Dr. Huber, Tel:☎, Mo bis Fr.', 'Ruf mich heute unter ☎ an.'],
    counted: [
      'Ihre TAN ☎ gilt fünf Minuten.',
      'Kundennummer: ☎, bitte angeben.',
      'Bestellnummer ☎ ist unterwegs.',
      'TAN 739 ###',
    ],
    link: ['Die Fotos vom Ausflug: ☍', 'Fahrplan für Mai =>☍', 'Das Programm:☍'],
    scam: ['Ihr Konto wurde gesperrt, bestätigen Sie Ihre Daten: ☍', 'Ihr Paket wird zurückgehalten, Gebühr bezahlen:☍'],
  },
  es: {
    phones: ['91 ### ## ##', '6## ### ###', '+34 6## ### ###'],
    call: ['La abuela está en el ☎.', 'Clínica, tel:☎, de 9 a 14.', 'Llámame hoy al ☎, por favor.'],
    counted: ['Tu código es ☎. No lo compartas.', 'El pedido ☎ ya ha salido.', 'Tu número de cliente: ☎'],
    link: ['Las fotos del viaje: ☍', 'El horario de mayo =>☍', 'El programa:☍'],
    scam: ['Su cuenta ha sido bloqueada, confirme sus datos: ☍', 'Su paquete está retenido, pague la tasa:☍'],
  },
  fr: {
    phones: ['09 ## ## ## ##', '06 ## ## ## ##', '+33 6 ## ## ## ##', '01 ## ## ## ##'],
    call: ['Mamie est au ☎ maintenant.', 'Le cabinet a changé. Tél:☎', 'La box est au ☎, appelle-moi.'],
    counted: ['Votre code est ☎. Ne le partagez pas.', 'Commande ☎ expédiée.', 'Votre colis ☎ arrive demain.'],
    link: ['Les photos du voyage : ☍', 'Les horaires de mai =>☍', 'Le programme:☍'],
    scam: ['Votre compte est bloqué, confirmez vos données : ☍', 'Votre colis est en attente, payez les frais:☍'],
  },
  it: {
    phones: ['091 #######', '095 #######', '0924 ######', '347 #######', '+39 091 #######'],
    call: ['La nonna è allo ☎.', 'Studio medico di Palermo, tel:☎', 'Chiamami oggi allo ☎, grazie.'],
    counted: ['Il codice è ☎. Non condividerlo.', 'Ordine ☎ spedito.', 'Il pacco ☎ arriva domani.'],
    link: ['Le foto della gita: ☍', 'Gli orari di maggio =>☍', 'Il programma:☍'],
    scam: ['Il suo conto è bloccato, confermi i suoi dati: ☍', 'Il suo pacco è in giacenza, paghi le spese:☍'],
  },
  pt: {
    phones: ['91# ### ###', '21# ### ###', '+351 91# ### ###'],
    call: ['A avó está no ☎.', 'Consultório, tel:☎, das 9 às 17.', 'Liga-me hoje para o ☎.'],
    counted: ['O seu código é ☎. Não o partilhe.', 'A encomenda ☎ já saiu.', 'Número de cliente: ☎'],
    link: ['As fotos da viagem: ☍', 'O horário de maio =>☍', 'O programa:☍'],
    scam: ['A sua conta foi bloqueada, confirme os seus dados: ☍', 'A sua encomenda está retida, pague a taxa:☍'],
  },
  nl: {
    phones: ['06 ########', '020 ### ####', '+31 6 ########', '088 ### ####'],
    call: ['Oma is nu op ☎ te bereiken.', 'De praktijk, tel:☎, is verhuisd.', 'Bel me vandaag op ☎.'],
    counted: ['Uw code is ☎. Deel hem niet.', 'Bestelling ☎ is onderweg.', 'Klantnummer: ☎'],
    link: ['De foto’s van het uitje: ☍', 'Het rooster van mei =>☍', 'Het programma:☍'],
    scam: ['Uw rekening is geblokkeerd, bevestig uw gegevens: ☍', 'Uw pakket wordt vastgehouden, betaal de kosten:☍'],
  },
  pl: {
    phones: ['22 ### ## ##', '601 ### ###', '+48 601 ### ###'],
    call: ['Babcia ma teraz numer ☎.', 'Przychodnia, tel:☎, od 8.', 'Zadzwoń dziś pod ☎.'],
    counted: ['Twój kod to ☎. Nie udostępniaj go.', 'Zamówienie ☎ jest w drodze.', 'Numer klienta: ☎'],
    link: ['Zdjęcia z wycieczki: ☍', 'Rozkład na maj =>☍', 'Program:☍'],
    scam: ['Twoje konto zostało zablokowane, potwierdź dane: ☍', 'Twoja paczka została wstrzymana, dopłać:☍'],
  },
};
const COUNTS = ['### ###', '######', '##########', '1Z######', '0871######', '09########', '####-####-####', '##.##.2026'];
const HONEST = [
  'https://www.example.org/fotos',
  'HTTPS://WWW.EXAMPLE.COM/MAY',
  'Https://example.net/a-b',
  'https://www.wikipedia.org/wiki/Linz',
];
const EVIL = [
  'https://paypa1-login.com/confirm',
  'https://dhl-zoll.info/pay',
  'HTTPS://NETFLIX-BILLING.TOP/LOGIN',
  'https://amaz0n-verify.com/a',
];
const WRAPPED = Object.values(WRAPPERS);
const linkOf = (links: readonly string[]) => {
  const url = any(links) ?? '';
  return random() < 0.7 ? (any(WRAPPED)?.(url.toLowerCase()) ?? url) : url;
};
const EACH = 25;

/** Honest lines and scams of one language. */
function generate(language: (typeof LANGUAGES)[string]): { honest: string[]; scams: string[] } {
  const { call, counted, link, phones, scam } = language;
  const honest = Array.from({ length: EACH }, (_, at) => {
    if (at % 3 === 0) return any(call)?.replace('☎', digits(any(phones) ?? '')) ?? '';
    if (at % 3 === 1) return any(counted)?.replace('☎', digits(any(COUNTS) ?? '')) ?? '';
    return any(link)?.replace('☍', at % 4 === 0 ? (any(HIDDEN) ?? '') : linkOf(HONEST)) ?? '';
  });
  return { honest, scams: Array.from({ length: EACH }, () => any(scam)?.replace('☍', linkOf(EVIL)) ?? '') };
}

const GENERATED = Object.values(LANGUAGES).map(generate);
async function judgedAs(texts: readonly string[], ...verdicts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const text of texts) if (verdicts.includes((await check.checkText(text)).verdict)) found.push(text);
  return found;
}

test('of 200 honest lines in eight languages none is dangerous and at most one suspicious', async () => {
  const honest = GENERATED.flatMap((one) => one.honest);
  expect(honest).toHaveLength(200);
  expect(await judgedAs(honest, 'dangerous')).toEqual([]);
  expect((await judgedAs(honest, 'suspicious')).slice(1)).toEqual([]);
});

test('of 200 scams of the same kinds at least 97 % are found', async () => {
  const scams = GENERATED.flatMap((one) => one.scams);
  const missed = await judgedAs(scams, 'nothing_found', 'not_checked');
  expect(missed.slice(6)).toEqual([]);
});

/** A letter, mark, digit, sign or blank of each kind that can stand beside a link without being part of it. */
const NEIGHBOURS = [
  ...'中語のカー한글กไລកမঀअعאა',
  ...'٣५①²½Ⅷ℡№™©€+=≈|~^`´',
  ...':：,，;；。、!！?？…‥·•—–_‿',
  ...`(（)）[【]】{}「」《》<>"'“”‘’«»`,
  ...' \t\n\u00a0\u2003\u2028\u3000\u200b\u200e\ufeff😀\ue000\u20dd',
  '=>',
  '👍🏽',
];
const LINKS = ['https://example.com', 'example.com', 'www.example.com', 'https://example.com/a', 'example.com/a?b=1'];
test.each(LINKS)('%s is found between neighbours of every kind', (link) => {
  const wrong = NEIGHBOURS.flatMap((sign) => [`x ${sign}${link}`, `${link}${sign}`, `x ${sign}${link}${sign}`]).filter((text) => {
    const hosts = findLinks(text).map(({ address }) => address.host.replace(/^www\./u, ''));
    return hosts.length !== 1 || hosts[0] !== 'example.com';
  });
  expect(wrong).toEqual([]);
});

/** Marks that are letters too: of Cyrillic, and without regard to case. */
test.each(['\u0483', '\u0345', '\u0301', '\u0323\u0301\u0345'])('a run of the marks %j takes no exponential time', (marks) => {
  expect(findLinks(`a${marks.repeat(500)} example.com`)).toHaveLength(1);
});
