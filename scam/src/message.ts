import type { CheckedCode, InputKind, Span, SpanSource } from '@palisade/contract/scam-check';
import { SPAN_LENGTH_MAXIMUM } from '@palisade/contract/scam-check';
import { type Address, takeApart } from './address.ts';
import { patternOf } from './boundaries.ts';
import type { Brand } from './brands.ts';
import { countriesSaid } from './countries.ts';
import { type Coverage, mergeCoverage } from './coverage.ts';
import { type FoundAccount, findAccounts } from './find-accounts.ts';
import { type FoundLink, findLinks } from './find-links.ts';
import { type FoundNumber, findNumbers } from './find-numbers.ts';
import type { Evidence } from './intents.ts';
import { ownerOf } from './likeness.ts';
import { LIMITS } from './limits.ts';
import { type Imitation, imitationOf, isLongPath, namedInAddress } from './look-alike.ts';
import type { Hits } from './phrases.ts';
import { type Readable, readText } from './readable.ts';
import type { Surroundings } from './surroundings.ts';
import { type PassingKind, passingOf, targetOf } from './through-others.ts';
import { CONCEPTS, type Concept } from './words/concepts.ts';
import { findConcepts, isKnownLanguage, languageOf } from './words/lists.ts';

/** One text of an input, its location, and the data found in it. */
export interface MessageText {
  source: SpanSource;
  index: number;
  /** Index of the piece of the input that contains the text. */
  piece: number;
  text: string;
  readable: Readable;
  concepts: Hits<Concept>;
}

export interface MessageLink extends FoundLink {
  text: MessageText;
  /** The brand that owns the address. */
  brand: Brand | undefined;
  imitation: Imitation | undefined;
  /** Name of the list of dangerous domains that contains its domain. */
  listedBy: string | undefined;
  isTrusted: boolean;
  /** The kind of known intermediate service: a mail gateway, a translator, a click counter. */
  through: PassingKind | undefined;
  /** The link is a click counter in an email from an organisation that names no other organisation. */
  isOfSender: boolean;
  /** The target to which it redirects, if the link contains it. */
  redirectsTo: MessageLink | undefined;
  /** In an HTML email: the visible text of the link. */
  label?: string;
}

interface MessageNumber extends FoundNumber {
  text: MessageText;
}
interface MessageAccount extends FoundAccount {
  text: MessageText;
}

export interface Sender {
  name: string;
  address: string;
  replyTo: string | undefined;
  proof: 'proven' | 'failed' | 'unsigned' | 'not_checked';
}

export interface Attachment {
  name: string;
  mediaType: string;
  /** The verdict of the scanner; undefined without a scanner. */
  verdict: 'infected' | 'clean' | 'not_checked' | undefined;
}

/** A brand that a text names, and the location. */
interface NamedBrand {
  brand: Brand;
  text: MessageText;
  span: Span;
}

/** The input itself, or a file within it, such as an attachment. */
export interface Piece {
  texts: readonly RawText[];
  codes: readonly CheckedCode[];
  sender?: Sender | undefined;
}

/** A parsed input, on which the detectors work. */
export interface Message {
  kind: InputKind;
  texts: MessageText[];
  links: MessageLink[];
  numbers: MessageNumber[];
  accounts: MessageAccount[];
  named: NamedBrand[];
  codes: CheckedCode[];
  sender: Sender | undefined;
  attachments: readonly Attachment[];
  evidence: ReadonlySet<Evidence>;
  /** Coverage of the texts' words, links, numbers and accounts. */
  coverage: Coverage;
}

/** An unparsed text of an input. `links` are the link elements of an HTML email. */
export interface RawText {
  source: SpanSource;
  text: string;
  links?: readonly { href: string; label: string }[];
  /** The text is a list of fields, such as a contact card, whose language cannot be detected. */
  isFields?: boolean;
}

const MONEY_SIGN = String.raw`(?:[$€£]|\b(?:eur|usd|gbp|pln|chf|rs|inr)\b|r\$)`;
const MONEY_WORD = [
  '(?:euros?|eur|dollars?|usd|pounds?|gbp|quid|zl|zł|złotych|pln|chf|reais|usdt|btc',
  '|libras|dolares|dólares|dollari|dolarów)',
].join('');
const AMOUNT = patternOf('iu', String.raw`${MONEY_SIGN} ?\d|(?<!\d)\d[\d.,]{0,15}(?: ?[$€£%]|\s?${MONEY_WORD}(?!\p{L}))`);
const UNIT = '(?:min|msg|mess|txt|text|sms|call|wk|week|month|day|tone|pm|sec|go|mins|rcvd)';
/** A price per unit: 150p/msg, 10ppm, £1.50 per week, 0,99 €/Min. */
const UNIT_PRICE = patternOf(
  'iu',
  String.raw`(?<![\d.,])\d{1,3}(?:[.,]\d\d?)? ?(?:p|ct|cents?|pence|€|eur|gbp|zł)? ?`,
  String.raw`(?:\/|per|p(?=[a-z])|a(?= )|each|pro|par|al?|za|por|@) ?${UNIT}`,
  String.raw`|[£€$] ?\d{1,2}(?:[.,]\d\d?)? ?(?:\/|per|p|a|each)? ?${UNIT}|(?<![\d.])\d{2,3}p(?!\p{L})|\d{1,3} ?p(?:pm|\/)`,
);
/** A keyword to send: a word in capitals or quotation marks after a verb such as "reply". */
const KEYWORD = patternOf(
  'u',
  String.raw`\b(?:[Rr]eply|[Tt]ext|[Tt]xt|[Ss]end|[Ss]ms|(?:REPLY|TEXT|TXT|SEND|SMS)(?=.{0,400}[a-z]{2}))(?:ing)?[: ]{1,2}`,
  String.raw`(?:[a-z]{1,8}:? ){0,5}(?:["'“‘]\w{1,12}["'”’]|(?!I\b|OK\b|UR?\b|ME\b|UK\b)[A-Z][A-Z\d]{1,11}\b)`,
);

/** Letters and digits of scripts that separate words with spaces. */
const OF_A_WORD = /[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]]/v;
const DIGIT = /\p{Nd}/u;
/** Separators between the digits of a number. */
const IN_A_NUMBER = /[.,'’\u00a0\u202f]/u;
/** Maximum characters by which a span is extended at each end. */
const GROWTH_MAXIMUM = 40;

/** Whether a position of a text is inside a word or a number. */
function isInsideWord(text: string, at: number): boolean {
  const [before, after] = [text.charAt(at - 1), text.charAt(at)];
  if (OF_A_WORD.test(before)) return OF_A_WORD.test(after) || isInNumber(text, at);
  return DIGIT.test(after) && isInNumber(text, at - 1);
}

const isInNumber = (text: string, at: number) =>
  DIGIT.test(text.charAt(at - 1)) && IN_A_NUMBER.test(text.charAt(at)) && DIGIT.test(text.charAt(at + 1));

/** Moves a position in steps of 1 or -1 to the boundary of its word. */
function outOfWord(text: string, at: number, step: 1 | -1): number {
  for (let place = at; Math.abs(place - at) <= GROWTH_MAXIMUM; place += step) if (!isInsideWord(text, place)) return place;
  return at;
}

/** Makes a span for the result. It is extended to whole words and numbers, so that an amount is not shown truncated. */
export function spanOf({ source, index, text }: MessageText, found: { start: number; end: number }): Span {
  const [start, end] = [outOfWord(text, found.start, -1), outOfWord(text, found.end, 1)];
  const last = end - start <= SPAN_LENGTH_MAXIMUM ? end : outOfWord(text, start + SPAN_LENGTH_MAXIMUM, -1);
  return { source, index, start, end, text: text.slice(start, last) };
}

/** Addresses in a parameter or at the end of the path of a link to an unknown host. */
function namedTarget({ url, owner, host }: Address): string[] {
  const given = [...url.searchParams.values()].find((value) => /^https?:\/\//iu.test(value));
  const target = given ?? targetOf(/\/(https?:\/{1,2}[^\s]+)$/iu.exec(`${url.pathname}${url.search}`)?.[1]);
  const address = target === undefined ? undefined : takeApart(target);
  return target === undefined || (address?.owner ?? address?.host) === (owner ?? host) ? [] : [target];
}

/** Evaluates a link and its redirect target. Of several targets, the first one with an unknown owner counts. */
function judgeLink(found: FoundLink, text: MessageText, surroundings: Surroundings, depth = 0): MessageLink {
  const { host, kind, url } = found.address;
  const passing = kind === 'web' || kind === 'other' ? passingOf(url, host) : undefined;
  const named = passing?.targets ?? (kind === 'web' ? namedTarget(found.address) : []);
  const isDeep = named.length > 0 && depth >= LIMITS.redirects;
  const targets = (isDeep ? [] : named).flatMap((target) => {
    const address = takeApart(target);
    return address === undefined ? [] : [judgeLink({ ...found, address, isDisguised: false }, text, surroundings, depth + 1)];
  });
  const isTrusted = surroundings.isTrusted(host);
  const brand = ownerOf(surroundings.brands, host);
  return {
    ...found,
    isCut: found.isCut || isDeep || (brand === undefined && isLongPath(found.address)),
    text,
    brand,
    isTrusted,
    imitation: isTrusted || passing !== undefined ? undefined : imitationOf(surroundings.brands, found.address),
    listedBy: isTrusted ? undefined : surroundings.isListed(found.address),
    through: passing?.kind,
    isOfSender: false,
    redirectsTo: targets.find(isUnknown) ?? targets[0],
  };
}

/** A link and its redirect targets. */
export const chainOf = (link: MessageLink): MessageLink[] =>
  link.redirectsTo === undefined ? [link] : [link, ...chainOf(link.redirectsTo)];

/** Whether a link through a known service does not contain its target. */
export const isTargetHidden = (link: MessageLink): boolean =>
  link.redirectsTo === undefined ? link.through !== undefined : isTargetHidden(link.redirectsTo);

/** Whether the owner of the link's target is unknown. For a gateway the target counts, if the link contains it. */
export function isUnknown({ address, brand, isTrusted, isOfSender, through, redirectsTo }: MessageLink): boolean {
  if (redirectsTo !== undefined && isUnknown(redirectsTo)) return true;
  if (through !== undefined && through !== 'counter') return false;
  if (through === 'counter' && (redirectsTo !== undefined || isOfSender)) return false;
  if (address.kind !== 'web' && address.kind !== 'number_address' && address.kind !== 'code') return false;
  return (brand === undefined && !isTrusted) || address.isShortener || address.isFreeHost;
}

/** Whether a link is suspicious because of its address alone. */
export function isOdd(link: MessageLink): boolean {
  const { address, redirectsTo } = link;
  if (!isUnknown(link)) return false;
  if (link.through !== undefined) return redirectsTo !== undefined && (link.through === 'open' || isOdd(redirectsTo));
  return (
    link.imitation !== undefined ||
    link.listedBy !== undefined ||
    link.isDisguised ||
    address.isThrowaway ||
    address.isShortener ||
    address.isFreeHost ||
    address.kind === 'number_address' ||
    address.kind === 'code' ||
    redirectsTo !== undefined
  );
}

const NAME_FACTS = {
  bank: 'bank_name',
  payment: 'bank_name',
  crypto: 'bank_name',
  parcel: 'parcel_name',
  shop: 'shop_name',
  travel: 'shop_name',
  technology: 'service_name',
  social: 'service_name',
  telecom: 'service_name',
  energy: 'service_name',
  streaming: 'service_name',
  game: 'service_name',
  security: 'service_name',
  insurance: 'service_name',
  provider: 'service_name',
  state: 'state_name',
} as const;

function evidenceOf(message: Omit<Message, 'evidence' | 'coverage'>): Set<Evidence> {
  const evidence = new Set<Evidence>();
  for (const { concepts, text } of message.texts) {
    for (const concept of CONCEPTS) if (concepts[concept] !== undefined) evidence.add(concept);
    if (AMOUNT.test(text)) evidence.add('amount');
    if (UNIT_PRICE.test(text)) evidence.add('unit_price');
    if (KEYWORD.test(text)) evidence.add('keyword');
  }
  for (const link of message.links) {
    if (link.address.kind === 'mail' && link.text.source !== 'sender') evidence.add('mail_address');
    if (isUnknown(link)) evidence.add('link');
    if (isOdd(link)) evidence.add('odd_link');
  }
  for (const { isPerhapsPremium } of message.numbers) if (isPerhapsPremium) evidence.add('perhaps_premium');
  for (const { kind } of message.numbers)
    evidence.add(kind === 'premium' ? 'premium_number' : kind === 'short' ? 'short_number' : 'number');
  for (const { kind } of message.accounts) evidence.add(kind === 'iban' ? 'iban' : 'wallet');
  for (const { brand } of message.named) evidence.add(NAME_FACTS[brand.kind]);
  return evidence;
}

/** Replaces ranges of a text by spaces, so that other positions stay the same. */
function withoutPlaces(text: string, places: readonly { start: number; end: number }[]): string {
  let [rest, from] = ['', 0];
  for (const { start, end } of places) {
    rest += text.slice(from, start) + ' '.repeat(Math.max(0, end - Math.max(start, from)));
    from = Math.max(from, end);
  }
  return rest + text.slice(from);
}

/** Marks click counters in mails of an organisation that name no other organisation. */
function markCounters(
  { named, links }: Pick<Message, 'named' | 'links'>,
  piece: number,
  sender: Sender | undefined,
  { brands }: Surroundings,
): void {
  const { address = '', proof } = sender ?? {};
  const sending = proof === 'failed' ? undefined : ownerOf(brands, address.slice(address.lastIndexOf('@') + 1).toLowerCase());
  if (sending === undefined || named.some(({ brand, text }) => text.piece === piece && brand !== sending)) return;
  for (const link of links.filter(({ text }) => text.piece === piece).flatMap(chainOf))
    link.isOfSender = link.through === 'counter';
}

/** All links of a text: those in its words, and the link elements of a page. */
function linksOf(raw: RawText, text: MessageText, found: readonly FoundLink[], firstIndex: number, surroundings: Surroundings) {
  const links: MessageLink[] = found.map((link) =>
    // In pictures, long links are broken at line ends, which is not an obfuscation.
    judgeLink({ ...link, isDisguised: link.isDisguised && text.source !== 'picture' }, text, surroundings),
  );
  let index = firstIndex;
  for (const { href, label } of raw.links ?? []) {
    const shown = href.slice(0, LIMITS.link_letters);
    const address = takeApart(shown);
    if (address === undefined) continue;
    const linkText: MessageText = {
      source: 'link',
      index,
      piece: text.piece,
      text: shown,
      readable: readText(''),
      concepts: {},
    };
    index += 1;
    const isCut = shown.length < href.length;
    const link = { shown, address, start: 0, end: shown.length, isDisguised: false, isCut };
    links.push({ ...judgeLink(link, linkText, surroundings), label });
  }
  return { links, nextIndex: index };
}

/** The coverage of a text's words, links, numbers and accounts. */
function coverageOf(
  { source, readable }: MessageText,
  isFields: boolean,
  isFull: boolean,
  message: Pick<Message, 'links' | 'numbers' | 'accounts'>,
) {
  const isWorded = (source === 'text' || source === 'picture' || source === 'subject') && readable.words.length > 0;
  // A subject is too short to detect its language.
  const isKnown =
    isFields || isKnownLanguage(source === 'subject' ? { ...readable, words: readable.words.slice(0, 7) } : readable);
  const isCut = message.links.flatMap(chainOf).some((link) => link.isCut);
  return {
    ...(isWorded ? { words: isKnown ? 'checked' : 'language_unknown' } : {}),
    ...(message.links.length === 0 ? {} : { links: isFull ? 'more_links' : isCut ? 'link_cut' : 'checked' }),
    ...(message.numbers.length === 0 ? {} : { numbers: 'checked' }),
    ...(message.accounts.length === 0 ? {} : { accounts: 'checked' }),
  } satisfies Coverage;
}

/** Parses an input. All its pieces together form one message; `messageOfPiece` returns a message of a single piece. */
export function takeMessageApart(
  kind: InputKind,
  pieces: readonly Piece[],
  attachments: readonly Attachment[],
  surroundings: Surroundings,
): Message {
  const counts = new Map<SpanSource, number>();
  const codes = pieces.flatMap((piece) => piece.codes);
  const parts: Omit<Message, 'evidence' | 'coverage'> = {
    ...{ kind, texts: [], links: [], numbers: [], accounts: [], named: [], codes, sender: pieces[0]?.sender, attachments },
  };
  const coverages: Coverage[] = [];
  for (const [piece, { texts }] of pieces.entries()) {
    const said = new Set<string>();
    for (const raw of texts) {
      const { source, text } = raw;
      const index = counts.get(source) ?? 0;
      counts.set(source, index + 1);
      const found = findLinks(text);
      // Words in addresses do not count as words of the message.
      const readable = readText(withoutPlaces(text, found));
      const whole: MessageText = { source, index, piece, text, readable, concepts: findConcepts(readable) };
      const { links, nextIndex } = linksOf(raw, whole, found, counts.get('link') ?? 0, surroundings);
      counts.set('link', nextIndex);
      const isFree = (place: { start: number; end: number }) =>
        !links.some((link) => link.text === whole && place.start < link.end && place.end > link.start);
      const accounts = findAccounts(text).filter(isFree);
      const named = surroundings.findNames(readable).filter(isFree);
      for (const country of countriesSaid(text, readable, { links, accounts, brands: named.map(({ brand }) => brand) }))
        said.add(country);
      const numbers = findNumbers(text, { said, language: languageOf(readable), home: surroundings.country }).filter(
        // Digits within an account are not a phone number.
        (number) => isFree(number) && !accounts.some(({ start, end }) => number.start < end && number.end > start),
      );
      const room = LIMITS.links - parts.links.length;
      parts.texts.push(whole);
      parts.links.push(...links.slice(0, room));
      parts.numbers.push(...numbers.map((number) => ({ ...number, text: whole })));
      parts.accounts.push(...accounts.map((account) => ({ ...account, text: whole })));
      parts.named.push(...named.map(({ brand, start, end }) => ({ brand, text: whole, span: spanOf(whole, { start, end }) })));
      coverages.push(coverageOf(whole, raw.isFields ?? false, links.length > room, { ...parts, links }));
    }
  }
  for (const [piece, { sender }] of pieces.entries()) markCounters(parts, piece, sender, surroundings);
  const brands = parts.named.map(({ brand }) => brand);
  for (const link of parts.links)
    for (const one of chainOf(link))
      if (one.address.kind === 'web' && one.through === undefined && isUnknown(one) && one.brand === undefined && !one.isTrusted)
        one.imitation ??= namedInAddress(brands, one.address);
  return { ...parts, evidence: evidenceOf(parts), coverage: mergeCoverage(coverages) };
}

/** A message of a single piece, so that text of other pieces does not affect its verdict. */
export function messageOfPiece(message: Message, pieces: readonly Piece[], index: number): Message {
  const isOfIt = ({ text }: { text: MessageText }) => text.piece === index;
  const parts = {
    ...message,
    texts: message.texts.filter(({ piece }) => piece === index),
    links: message.links.filter(isOfIt),
    numbers: message.numbers.filter(isOfIt),
    accounts: message.accounts.filter(isOfIt),
    named: message.named.filter(isOfIt),
    codes: [...(pieces[index]?.codes ?? [])],
    sender: pieces[index]?.sender,
    attachments: [],
  };
  return { ...parts, evidence: evidenceOf(parts) };
}
