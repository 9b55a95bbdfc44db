import type { CheckedCode, InputKind, Span, SpanSource } from '@palisade/contract/scam-check';
import { SPAN_LENGTH_MAXIMUM } from '@palisade/contract/scam-check';
import { type Address, takeApart } from './address.ts';
import type { Brand } from './brands.ts';
import { type FoundAccount, findAccounts } from './find-accounts.ts';
import { type FoundLink, findLinks } from './find-links.ts';
import { type FoundNumber, findNumbers } from './find-numbers.ts';
import type { Evidence } from './intents.ts';
import { ownerOf } from './likeness.ts';
import { type Imitation, imitationOf, namedInAddress } from './look-alike.ts';
import type { Hits } from './phrases.ts';
import { type Readable, readText } from './readable.ts';
import type { Surroundings } from './surroundings.ts';
import { type PassingKind, passingOf, targetOf } from './through-others.ts';
import { CONCEPTS, type Concept } from './words/concepts.ts';
import { findConcepts } from './words/lists.ts';

/** One text of an input: where it was, and what was read in it. */
export interface MessageText {
  source: SpanSource;
  index: number;
  text: string;
  readable: Readable;
  concepts: Hits<Concept>;
}

export interface MessageLink extends FoundLink {
  text: MessageText;
  /** The brand that owns the address. */
  brand: Brand | undefined;
  imitation: Imitation | undefined;
  /** The list that names its domain as dangerous. */
  listedBy: string | undefined;
  isTrusted: boolean;
  /** The kind of known service that it goes through: a mail gateway, a translator, a click counter. */
  through: PassingKind | undefined;
  /** It counts the clicks of the organisation that the email is from, and of no other that the email names. */
  isOfSender: boolean;
  /** Where it sends a browser on to, when the link itself says so. */
  redirectsTo: MessageLink | undefined;
  /** In an HTML email: the words that were shown in place of the address. */
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
  /** The verdict of an engine; undefined without one. */
  verdict: 'infected' | 'clean' | 'not_checked' | undefined;
}

/** A brand that a text names, and where. */
interface NamedBrand {
  brand: Brand;
  span: Span;
}

/** An input taken apart: what the detectors look at. */
export interface Message {
  kind: InputKind;
  texts: MessageText[];
  links: MessageLink[];
  numbers: MessageNumber[];
  accounts: MessageAccount[];
  named: NamedBrand[];
  codes: CheckedCode[];
  sender: Sender | undefined;
  attachments: Attachment[];
  evidence: ReadonlySet<Evidence>;
}

/** A text of an input before it is read. `links` are those that an HTML email has beside its words. */
export interface RawText {
  source: SpanSource;
  text: string;
  links?: readonly { href: string; label: string }[];
}

/** Redirections within one link that are followed; each is part of the link's own text. */
const REDIRECTS_MAXIMUM = 5;
const AMOUNT =
  /(?:[$€£]|\b(?:eur|usd|gbp|pln|chf|rs|inr)\b|r\$) ?\d|(?<!\d)\d[\d.,]{0,15}(?: ?[$€£%]|\s?(?:euros?|eur|dollars?|usd|pounds?|gbp|quid|zl|zł|złotych|pln|chf|reais|usdt|btc|libras|dolares|dólares|dollari|dolarów)(?![\p{L}]))/iu;

/** A place of a text as the answer shows it. */
export function spanOf({ source, index, text }: MessageText, { start, end }: { start: number; end: number }): Span {
  return { source, index, start, end, text: text.slice(start, Math.min(end, start + SPAN_LENGTH_MAXIMUM)) };
}

/** The address of elsewhere that a link of an unknown host names: in a parameter, or at the end of its path. */
function namedTarget({ url, owner, host }: Address): string[] {
  const given = [...url.searchParams.values()].find((value) => /^https?:\/\//iu.test(value));
  const target = given ?? targetOf(/\/(https?:\/{1,2}[^\s]+)$/iu.exec(`${url.pathname}${url.search}`)?.[1]);
  const address = target === undefined ? undefined : takeApart(target);
  return target === undefined || (address?.owner ?? address?.host) === (owner ?? host) ? [] : [target];
}

/** The link through which another one leads. Of several targets it is the first that leads to no known owner. */
function judgeLink(found: FoundLink, text: MessageText, surroundings: Surroundings, depth = 0): MessageLink {
  const { host, kind, url } = found.address;
  const isRead = depth < REDIRECTS_MAXIMUM && (kind === 'web' || kind === 'other');
  const passing = isRead ? passingOf(url, host) : undefined;
  const targets = (passing?.targets ?? (isRead && kind === 'web' ? namedTarget(found.address) : [])).flatMap((target) => {
    const address = takeApart(target);
    return address === undefined ? [] : [judgeLink({ ...found, address, isDisguised: false }, text, surroundings, depth + 1)];
  });
  const isTrusted = surroundings.isTrusted(host);
  return {
    ...found,
    text,
    brand: ownerOf(surroundings.brands, host),
    isTrusted,
    imitation: isTrusted || passing !== undefined ? undefined : imitationOf(surroundings.brands, found.address),
    listedBy: isTrusted ? undefined : surroundings.isListed(found.address),
    through: passing?.kind,
    isOfSender: false,
    redirectsTo: targets.find(isUnknown) ?? targets[0],
  };
}

/** A link and where it leads on to. */
export const chainOf = (link: MessageLink): MessageLink[] =>
  link.redirectsTo === undefined ? [link] : [link, ...chainOf(link.redirectsTo)];

/** The target of a link that goes through a known service is in no part of the link. */
export const isTargetHidden = (link: MessageLink): boolean =>
  link.redirectsTo === undefined ? link.through !== undefined : isTargetHidden(link.redirectsTo);

/** Whether a link leads where nobody known receives the click. A gateway is known; its target counts, if the link names it. */
export function isUnknown({ address, brand, isTrusted, isOfSender, through, redirectsTo }: MessageLink): boolean {
  if (redirectsTo !== undefined && isUnknown(redirectsTo)) return true;
  if (through !== undefined && through !== 'counter') return false;
  if (through === 'counter' && (redirectsTo !== undefined || isOfSender)) return false;
  if (address.kind !== 'web' && address.kind !== 'number_address' && address.kind !== 'code') return false;
  return (brand === undefined && !isTrusted) || address.isShortener || address.isFreeHost;
}

/** Whether the address of a link is odd without any words beside it. */
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

function evidenceOf(message: Omit<Message, 'evidence'>): Set<Evidence> {
  const evidence = new Set<Evidence>();
  for (const { concepts, text } of message.texts) {
    for (const concept of CONCEPTS) if (concepts[concept] !== undefined) evidence.add(concept);
    if (AMOUNT.test(text)) evidence.add('amount');
  }
  for (const link of message.links) {
    if (link.address.kind === 'mail' && link.text.source !== 'sender') evidence.add('mail_address');
    if (isUnknown(link)) evidence.add('link');
    if (isOdd(link)) evidence.add('odd_link');
  }
  for (const { kind } of message.numbers)
    evidence.add(kind === 'premium' ? 'premium_number' : kind === 'short' ? 'short_number' : 'number');
  for (const { kind } of message.accounts) evidence.add(kind === 'iban' ? 'iban' : 'wallet');
  for (const { brand } of message.named) evidence.add(NAME_FACTS[brand.kind]);
  return evidence;
}

/** A text with spaces in place of some places, so that all others stay where they are. */
function withoutPlaces(text: string, places: readonly { start: number; end: number }[]): string {
  let [rest, from] = ['', 0];
  for (const { start, end } of places) {
    rest += text.slice(from, start) + ' '.repeat(Math.max(0, end - Math.max(start, from)));
    from = Math.max(from, end);
  }
  return rest + text.slice(from);
}

/** Takes an input apart. */
export function takeMessageApart(
  kind: InputKind,
  raw: readonly RawText[],
  surroundings: Surroundings,
  rest: Partial<Pick<Message, 'codes' | 'sender' | 'attachments'>> = {},
): Message {
  const counts = new Map<SpanSource, number>();
  const message: Omit<Message, 'evidence'> = {
    ...{ kind, texts: [], links: [], numbers: [], accounts: [], named: [] },
    ...{ codes: rest.codes ?? [], sender: rest.sender, attachments: rest.attachments ?? [] },
  };
  for (const { source, text, links = [] } of raw) {
    const index = counts.get(source) ?? 0;
    counts.set(source, index + 1);
    const foundLinks = findLinks(text);
    // Words of an address are no words of the message.
    const readable = readText(withoutPlaces(text, foundLinks));
    const whole: MessageText = { source, index, text, readable, concepts: findConcepts(readable) };
    message.texts.push(whole);
    for (const found of foundLinks) {
      // A picture breaks long links where its lines end.
      const isDisguised = found.isDisguised && source !== 'picture';
      message.links.push(judgeLink({ ...found, isDisguised }, whole, surroundings));
    }
    for (const { href, label } of links) {
      const address = takeApart(href);
      if (address === undefined || message.links.length >= 200) continue;
      const linkText: MessageText = {
        source: 'link',
        index: counts.get('link') ?? 0,
        text: href,
        readable: readText(''),
        concepts: {},
      };
      counts.set('link', linkText.index + 1);
      const found = { shown: href, address, start: 0, end: href.length, isDisguised: false };
      message.links.push({ ...judgeLink(found, linkText, surroundings), label });
    }
    const taken = message.links.filter((link) => link.text === whole);
    const isFree = (place: { start: number; end: number }) =>
      !taken.some((link) => place.start < link.end && place.end > link.start);
    for (const found of findNumbers(text, surroundings.country))
      if (isFree(found)) message.numbers.push({ ...found, text: whole });
    for (const found of findAccounts(text)) if (isFree(found)) message.accounts.push({ ...found, text: whole });
    for (const { brand, start, end } of surroundings.findNames(readable))
      if (isFree({ start, end })) message.named.push({ brand, span: spanOf(whole, { start, end }) });
  }
  const brands = message.named.map(({ brand }) => brand);
  const { address = '', proof } = message.sender ?? {};
  const sending =
    proof === 'failed' ? undefined : ownerOf(surroundings.brands, address.slice(address.lastIndexOf('@') + 1).toLowerCase());
  if (sending !== undefined && brands.every((brand) => brand === sending))
    for (const link of message.links.flatMap(chainOf)) link.isOfSender = link.through === 'counter';
  for (const link of message.links)
    for (const one of chainOf(link))
      if (one.address.kind === 'web' && one.through === undefined && isUnknown(one) && one.brand === undefined && !one.isTrusted)
        one.imitation ??= namedInAddress(brands, one.address);
  // A number within an account is none.
  message.numbers = message.numbers.filter(
    (number) =>
      !message.accounts.some(
        (account) => account.text === number.text && number.start < account.end && number.end > account.start,
      ),
  );
  return { ...message, evidence: evidenceOf(message) };
}
