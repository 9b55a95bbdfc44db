import { foldWithOrigins } from '@palisade/contract/text';
import { parse } from 'tldts';
import { type Address, takeApart } from './address.ts';
import { WORD_ENDINGS } from './host-rows.ts';
import { LONG_SIGNS } from './readable.ts';

/** A link of a text: what stands there, and the address that a program makes of it. */
export interface FoundLink {
  shown: string;
  address: Address;
  start: number;
  end: number;
  /** It is written so that programs do not see it as a link: `hxxp`, `[.]`, dots as words, hidden letters, breaks. */
  isDisguised: boolean;
}

const LINKS_MAXIMUM = 50;
const URL_LENGTH_MAXIMUM = 2_048;

/** A text and where each of its units stands in the original. */
interface Mapped {
  text: string;
  starts: number[];
  ends: number[];
  /** Units that a trick was undone at. */
  undone: boolean[];
}

const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\u00ad]/gu;
/** Dots of other scripts, which browsers take for a dot (UTS 46), and those of full width. */
const OTHER_DOTS = /[\u3002\uff0e\uff61\u2024\ufe52]/gu;

function normalLetter(letter: string): string {
  if (/^[\u0020-\u007e]$/u.test(letter)) return letter;
  return letter.replaceAll(IGNORABLE, '').replaceAll(LONG_SIGNS, ' ').replaceAll(OTHER_DOTS, '.').normalize('NFKC');
}

/** Writes one place anew. The written form covers the whole original range. */
function rewrite(mapped: Mapped, pattern: RegExp, write: (match: RegExpMatchArray) => string): Mapped {
  const result: Mapped = { text: '', starts: [], ends: [], undone: [] };
  let from = 0;
  const copy = (until: number) => {
    result.text += mapped.text.slice(from, until);
    for (let at = from; at < until; at += 1) {
      result.starts.push(mapped.starts[at] ?? 0);
      result.ends.push(mapped.ends[at] ?? 0);
      result.undone.push(mapped.undone[at] ?? false);
    }
  };
  for (const match of mapped.text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    const written = write(match);
    if (written === match[0]) continue;
    copy(match.index);
    // The letter before it keeps the mark.
    if (written === '') result.undone[result.undone.length - 1] = true;
    result.text += written;
    for (let unit = 0; unit < written.length; unit += 1) {
      result.starts.push(mapped.starts[match.index] ?? 0);
      result.ends.push(mapped.ends[end - 1] ?? 0);
      result.undone.push(true);
    }
    from = end;
  }
  copy(mapped.text.length);
  return result;
}

/**
 * The tricks, each with what it stood for. No pattern repeats a part that can be empty or that overlaps the next one, so that
 * each is linear.
 * Defanging as analysts write it: https://datatracker.ietf.org/doc/draft-grimminck-safe-ioc-sharing/.
 */
const TRICKS: readonly { pattern: RegExp; write: (match: RegExpMatchArray) => string }[] = [
  // hxxps://, h**p://, http[:]//, http : // , http:\\
  { pattern: /\bh(?:xx|XX|\*\*|__)p(s?)(?=\s?\[?:)/giu, write: ([, s]) => `http${s?.toLowerCase()}` },
  { pattern: /(\bhttps?) ?(?:\[:\]|:) ?(?:\[?\/\/\]?|\\\\)(?=\S)/giu, write: ([, scheme]) => `${scheme?.toLowerCase()}://` },
  // example[.]com, example(.)com, example{.}com, example[dot]com, example (punkt) com
  {
    pattern: /(?<=[\p{L}\p{N}]) ?[[({] ?(?:\.|dot|punkt|punto|point|ponto|punt|kropka) ?[\])}] ?(?=[\p{L}\p{N}])/giu,
    write: () => '.',
  },
  // example dot com
  {
    pattern:
      /(?<=[\p{L}\p{N}])(?<!\b(?:the|a|an|my|this|der|die|das|le|la|el|il|de|het)) (?:dot|punkt|punto|point|ponto|punt|kropka) (?=(?:com|net|org|info|top|xyz|online|site|shop|de|fr|es|it|pt|nl|pl|co|uk|app)\b)/giu,
    write: () => '.',
  },
  // example . com
  { pattern: /(?<=[\p{L}\p{N}])(?: \.|\. | \. )(?=(?:com|net|org|info|top|xyz|online|site|shop)\b)/gu, write: () => '.' },
  // A host that a line break was put into.
  { pattern: /(?<=\bhttps?:\/\/[\w.-]{1,60})[\r\n]{1,2}(?=\.[\w-]{2,})/gu, write: () => '' },
  { pattern: /(?<=\bhttps?:\/\/[\w.-]{1,60}-)[\r\n]{1,2}(?=[\w-]{1,40}\.[a-z])/gu, write: () => '' },
  { pattern: /(?<=\bhttps?:\/\/[\w.-]{1,60}\.)[\r\n]{1,2}(?=[a-z][\w-]{0,30}(?:[./]|\s|$))/gu, write: () => '' },
];

const SCHEMES =
  /\b(?:https?|ftp|intent|market|itms-apps|file):\/\/[^\s<>"'`{}|\\^]{1,2048}|\b(?:javascript|vbscript):[^\s<>"]{1,2048}|\bdata:[a-z]{2,12}\/[^\s<>"]{1,2048}/giu;
const BARE =
  /(?<![\p{L}\p{N}@._/:=-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,62})\.){1,10}(?:xn--[a-z0-9-]{2,40}|\p{L}{2,24})(?::\d{1,5})?(?![\p{L}\p{N}@])(?:[/?#][^\s<>"'`{}|\\^]{0,2048})?/gu;
const NUMBER_HOST = /(?<![\p{L}\p{N}@._/:-])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:\/[^\s<>"']{0,2048})?(?![\p{L}\p{N}.])/gu;
const MAIL =
  /(?<![\p{L}\p{N}@.!#$%&'*+/=?^_{|}~-])[\w.!#$%&'*+/=?^{|}~-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,10}\p{L}{2,24}(?![\p{L}\p{N}])/gu;
/** Signs of a sentence around a link. */
const AFTER = /[.,;:!?'"’”»…\])}>*_]+$/u;

/** Whether a text without a scheme is meant as a link. */
function isMeant(text: string): boolean {
  const [host = '', ...rest] = text.split(/(?=[/?#])/u);
  const bare = host.replace(/:\d+$/u, '');
  const { publicSuffix, isIcann, domainWithoutSuffix } = parse(bare, { allowPrivateDomains: false });
  if (isIcann !== true || publicSuffix === null || !domainWithoutSuffix) return false;
  const hasPath = rest.join('').length > 1;
  if (/^www\./iu.test(bare) || hasPath) return true;
  // "See you.It was": a sentence without a space.
  const ending = bare.slice(bare.lastIndexOf('.') + 1);
  if (ending !== ending.toLowerCase() && ending !== ending.toUpperCase()) return false;
  if (WORD_ENDINGS.has(ending.toLowerCase())) return /[-\d]/u.test(bare) || bare.split('.').length > 2;
  return domainWithoutSuffix.length > 1;
}

function trimmed(text: string): string {
  const cut = text.replace(AFTER, '');
  // A bracket that the link itself opened stays.
  return text.startsWith(`${cut})`) && cut.includes('(') ? `${cut})` : cut;
}

interface Candidate {
  text: string;
  url: string;
  at: number;
}

function candidates(text: string): Candidate[] {
  const found: Candidate[] = [];
  const add = (pattern: RegExp, urlOf: (shown: string) => string | undefined) => {
    for (const match of text.matchAll(pattern)) {
      const shown = trimmed(match[0]);
      const url = urlOf(shown);
      if (url !== undefined) found.push({ text: shown, url, at: match.index });
    }
  };
  add(SCHEMES, (shown) => shown);
  add(MAIL, (shown) => `mailto:${shown}`);
  add(BARE, (shown) => (isMeant(shown) ? `http://${shown}` : undefined));
  add(NUMBER_HOST, (shown) => `http://${shown}`);
  return found;
}

/** All links of a text, without those that lie within another one. */
export function findLinks(original: string): FoundLink[] {
  const { folded, starts, ends } = foldWithOrigins(original, normalLetter);
  let mapped: Mapped = {
    text: folded,
    starts,
    ends,
    undone: Array.from(folded, () => false),
  };
  mapped.undone = mapped.starts.map((start, at) => {
    const written = original.slice(start, ends[at] ?? start);
    return written !== folded[at] && /[a-z0-9.:/]/iu.test(folded[at] ?? '') && /[\uff01-\uff5e\u3002\u2024]/u.test(written);
  });
  for (const { pattern, write } of TRICKS) mapped = rewrite(mapped, pattern, write);
  const found: FoundLink[] = [];
  const taken: [number, number][] = [];
  for (const { text, url, at } of candidates(mapped.text)) {
    if (found.length >= LINKS_MAXIMUM || url.length > URL_LENGTH_MAXIMUM + 10) continue;
    const end = at + text.length;
    if (taken.some(([from, to]) => at < to && end > from)) continue;
    const address = takeApart(url);
    if (address === undefined || (address.kind === 'web' && address.ending === '')) continue;
    taken.push([at, end]);
    const [start, last] = [mapped.starts[at] ?? 0, mapped.ends[end - 1] ?? original.length];
    const shown = original.slice(start, last);
    const hasHidden = /[\u00ad\u200b-\u200d\u2060\ufeff]/u.test(shown);
    found.push({ shown, address, start, end: last, isDisguised: hasHidden || mapped.undone.slice(at, end).some(Boolean) });
  }
  return found.sort((one, other) => one.start - other.start);
}
