import { foldWithOrigins } from '@palisade/contract/text';
import { parse } from 'tldts';
import { type Address, takeApart } from './address.ts';
import { BOUNDARY, patternOf } from './boundaries.ts';
import { WORD_ENDINGS } from './host-rows.ts';
import { LIMITS } from './limits.ts';
import { LONG_SIGNS } from './readable.ts';

/** A link in a text: its text, and the URL derived from it. */
export interface FoundLink {
  shown: string;
  address: Address;
  start: number;
  end: number;
  /** The link is obfuscated, so that programs do not recognize it: `hxxp`, `[.]`, dots as words, hidden characters, line breaks. */
  isDisguised: boolean;
  /** The link exceeds the maximum length and was truncated. */
  isCut: boolean;
}

/** A text with the original position of each UTF-16 code unit. */
interface Mapped {
  text: string;
  starts: number[];
  ends: number[];
  /** Code units at which an obfuscation was removed. */
  undone: boolean[];
}

const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\u00ad]/gu;
/** Characters that browsers treat as a dot (UTS 46), and full-width dots. */
const OTHER_DOTS = /[\u3002\uff0e\uff61\u2024\ufe52]/gu;

/** Normalizes a character with NFKC, unless it is a symbol that stands for several letters or a special digit: `℡`, `①`, `²`. */
function normalLetter(letter: string): string {
  if (/^[\u0020-\u007e]$/u.test(letter)) return letter;
  const inked = letter.replaceAll(IGNORABLE, '').replaceAll(LONG_SIGNS, ' ').replaceAll(OTHER_DOTS, '.');
  const normal = inked.normalize('NFKC');
  if (/^\p{Nl}/u.test(inked)) return ' ';
  return /^\p{No}/u.test(inked) || (/^\p{So}/u.test(inked) && normal.length > 1) ? inked : normal;
}

/** Replaces matches of a pattern. Each replacement maps to the whole original range. */
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
    // If a match is removed, the previous character is marked.
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

const DOT_WORD = '(?:dot|punkt|punto|point|ponto|punt|kropka)';
/** Articles before the word "dot", as in "the dot com years", which is not a link. */
const ARTICLE = '(?:the|a|an|my|this|der|die|das|le|la|el|il|de|het)';
const COMMON_ENDING = '(?:com|net|org|info|top|xyz|online|site|shop)';
const COUNTRY_ENDING = '(?:de|fr|es|it|pt|nl|pl|co|uk|app)';
const HOST_BEGINS = String.raw`(?<=\bhttps?:\/\/[\w.-]{1,60}`;

/**
 * Obfuscations and their replacements. No pattern repeats a part that can be empty or that overlaps the next one, so that
 * each takes linear time.
 * Defanging by security analysts: https://datatracker.ietf.org/doc/draft-grimminck-safe-ioc-sharing/.
 */
const TRICKS: readonly { pattern: RegExp; write: (match: RegExpMatchArray) => string }[] = [
  // hxxps://, h**p://, http[:]//, http : // , http:\\
  { pattern: /\bh(?:xx|XX|\*\*|__)p(s?)(?=\s?\[?:)/giu, write: ([, s]) => `http${s?.toLowerCase()}` },
  {
    pattern: /(https?) ?(?:\[:\]|:) ?(?:\[?\/\/\]?|\\\\)(?=\S)/giu,
    // Phones capitalize the first letter, and QR codes use capitals only.
    write: ([all, scheme]) => (all === `${scheme}://` ? all : `${scheme?.toLowerCase()}://`),
  },
  // example[.]com, example(.)com, example{.}com, example[dot]com, example (punkt) com
  {
    pattern: patternOf('giu', String.raw`(?<=[\p{L}\p{N}]) ?[[({] ?(?:\.|`, DOT_WORD, String.raw`) ?[\])}] ?(?=[\p{L}\p{N}])`),
    write: () => '.',
  },
  // example dot com
  {
    pattern: patternOf(
      'giu',
      String.raw`(?<=[\p{L}\p{N}])(?<!\b${ARTICLE}) ${DOT_WORD} `,
      String.raw`(?=(?:${COMMON_ENDING}|${COUNTRY_ENDING})\b)`,
    ),
    write: () => '.',
  },
  // example . com
  { pattern: patternOf('gu', String.raw`(?<=[\p{L}\p{N}])(?: \.|\. | \. )(?=${COMMON_ENDING}\b)`), write: () => '.' },
  // A host with a line break inside.
  { pattern: patternOf('gu', HOST_BEGINS, String.raw`)[\r\n]{1,2}(?=\.[\w-]{2,})`), write: () => '' },
  { pattern: patternOf('gu', HOST_BEGINS, String.raw`-)[\r\n]{1,2}(?=[\w-]{1,40}\.[a-z])`), write: () => '' },
  { pattern: patternOf('gu', HOST_BEGINS, String.raw`\.)[\r\n]{1,2}(?=[a-z][\w-]{0,30}(?:[./]|\s|$))`), write: () => '' },
];

const { begin, beginOfDigits, end, nameSign, notJoined, otherSign } = BOUNDARY;
const ADDRESS_SIGN = '[^\\s<>"\'`{}|\\\\^]';
const LABEL = `${nameSign}(?:${nameSign}|[_-]){0,62}`;
const OTHER_LABEL = `${otherSign}(?:${otherSign}|-){0,62}`;
const ENDING = `(?:xn--[a-z0-9-]{2,40}|${nameSign}{2,24})${end}`;
const PORT = String.raw`(?::\d{1,5})?`;
const REST = `(?:[/?#]${ADDRESS_SIGN}{0,2048})?`;
/** The position does not follow a single slash, which is part of a path. Two slashes begin an address without a scheme. */
const NOT_IN_PATH = String.raw`(?<!(?<!\/)\/)`;
const NOT_IN_MAILBOX = "(?<![\\p{L}\\p{N}.!#$%&'*+_-]@)";

const SCHEMES = patternOf(
  'giu',
  String.raw`(?:https?|${begin}(?:ftp|intent|market|itms-apps|file)):\/\/${ADDRESS_SIGN}{1,2048}`,
  String.raw`|${begin}(?:javascript|vbscript):[^\s<>"]{1,2048}|${begin}data:[a-z]{2,12}\/[^\s<>"]{1,2048}`,
);
const BARE = patternOf(
  'giu',
  begin + notJoined + NOT_IN_PATH + NOT_IN_MAILBOX,
  String.raw`(?:${LABEL}\.){1,10}${ENDING}${PORT}(?!@)${REST}`,
);
/** A host without a scheme in a non-Latin alphabet. */
const OTHER_BARE = patternOf(
  'giu',
  String.raw`(?<![\p{L}\p{N}@._/-])(?:${OTHER_LABEL}\.){1,10}(?:${ENDING}|${otherSign}{2,24})${REST}`,
);
const NUMBER_HOST = patternOf(
  'gu',
  begin + beginOfDigits + NOT_IN_PATH,
  String.raw`(?<!@)\d{1,3}(?:\.\d{1,3}){3}${PORT}(?!\.?\d)${end}${REST}`,
);
const MAIL_SIGN = "[\\w.!#$%&'*+/=?^{|}~-]";
const MAIL = patternOf('gu', String.raw`${begin}(?<!${MAIL_SIGN})${MAIL_SIGN}{1,64}@(?:${LABEL}\.){1,10}${ENDING}`);
/** Punctuation of the sentence after a link. */
const AFTER = /[.,;:!?'"’”»…\])}>*_]+$/u;
/** The beginning of a sentence directly after an address: a character that addresses cannot contain, or another alphabet. */
const SENTENCE = patternOf('iu', String.raw`[^\x21-\x7e\p{L}\p{M}\p{N}]|(?<=[a-z0-9.,;:!?)])${otherSign}`);

/** Whether a text without a scheme is probably a link. */
export function isMeant(text: string): boolean {
  const [host = '', ...rest] = text.split(/(?=[/?#])/u);
  const bare = host.replace(/:\d+$/u, '');
  const { publicSuffix, isIcann, domainWithoutSuffix } = parse(bare, { allowPrivateDomains: false });
  if (isIcann !== true || publicSuffix === null || !domainWithoutSuffix) return false;
  const hasPath = rest.join('').length > 1;
  if (/^www\./iu.test(bare) || hasPath) return true;
  // "See you.It was": the end of a sentence without a space, not a link.
  const ending = bare.slice(bare.lastIndexOf('.') + 1);
  if (ending !== ending.toLowerCase() && ending !== ending.toUpperCase()) return false;
  if (WORD_ENDINGS.has(ending.toLowerCase())) return /[-\d]/u.test(bare) || bare.split('.').length > 2;
  return domainWithoutSuffix.length > 1;
}

function trimmed(text: string): string {
  const cut = text.replace(AFTER, '');
  // A closing bracket stays if the link contains the opening one.
  return text.startsWith(`${cut})`) && cut.includes('(') ? `${cut})` : cut;
}

/** Scheme, user and host of an address. */
const AUTHORITY = /^(?:[a-z-]+:\/\/(?:[^@/?#]*@)?)?(?:\[[\da-f:.]+\]|[\p{L}\p{M}\p{N}.%_-]+)(?::\d{1,5})?/iu;

/** Removes a directly following sentence from an address. Letters of another alphabet stay if they are part of a host with an ending in that alphabet. */
function withoutSentence(text: string): string {
  const authority = AUTHORITY.exec(text)?.[0] ?? '';
  const at = text.search(SENTENCE);
  const isForeignHost = at >= 0 && at < authority.length && takeApart(authority)?.hasKnownEnding === true;
  if (at >= 0 && at < authority.length && !isForeignHost) return text.slice(0, at);
  const rest = text.slice(authority.length);
  if (authority !== '' && !/^[/?#]/u.test(rest)) return authority;
  const behind = rest.search(SENTENCE);
  return behind < 0 ? text : text.slice(0, authority.length + behind);
}

/** The link in a text without a scheme: in "example.com.Then" a sentence follows without a space. */
function meantPart(text: string): string | undefined {
  let part = text;
  while (!isMeant(part)) {
    const dot = part.lastIndexOf('.');
    if (dot < 0 || /[/?#:]/u.test(part)) return undefined;
    part = part.slice(0, dot);
  }
  return part;
}

interface Candidate {
  text: string;
  url: string;
  at: number;
}

function candidates(text: string): Candidate[] {
  const found: Candidate[] = [];
  const add = (pattern: RegExp, partOf: (match: string) => string | undefined, scheme = '') => {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const shown = partOf(match);
      if (shown !== undefined) found.push({ text: shown, url: `${scheme}${shown}`, at: index });
    }
  };
  const addressOf = (match: string) => trimmed(withoutSentence(match));
  add(SCHEMES, (match) => (/^(?:data|javascript|vbscript):/iu.test(match) ? trimmed(match) : addressOf(match)));
  add(MAIL, trimmed, 'mailto:');
  add(BARE, (match) => meantPart(addressOf(match)), 'http://');
  add(OTHER_BARE, (match) => (isMeant(trimmed(match)) ? trimmed(match) : undefined), 'http://');
  add(NUMBER_HOST, addressOf, 'http://');
  return found;
}

/** Finds the links in a text, without links inside other links. If there are more than the limit, it returns one more than the limit. */
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
    if (found.length > LIMITS.links) break;
    const end = at + text.length;
    if (taken.some(([from, to]) => at < to && end > from)) continue;
    const address = takeApart(url);
    if (address === undefined || (address.kind === 'web' && address.ending === '')) continue;
    taken.push([at, end]);
    const [start, last] = [mapped.starts[at] ?? 0, mapped.ends[end - 1] ?? original.length];
    const shown = original.slice(start, last);
    const hasHidden = /[\u00ad\u200b-\u200d\u2060\ufeff]/u.test(shown);
    const isDisguised = hasHidden || mapped.undone.slice(at, end).some(Boolean);
    found.push({ shown, address, start, end: last, isDisguised, isCut: url.length > LIMITS.link_letters });
  }
  return found.sort((one, other) => one.start - other.start);
}
