/** The part of `URL` that is used here and exists in browsers and Node (WHATWG URL, with IDNA by UTS 46). */
declare const URL: { new (url: string): { hostname: string } };

/** RFC 5321, 4.5.3.1.3: a path has at most 256 octets including its angle brackets. */
const LENGTH_MAXIMUM = 254;
/** Local part and domain of a valid email address in HTML (section 4.10.5.1.5), which allows the symbols of RFC 5322. */
const LOCAL = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+$/u;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/u;
/** Top-level domains are never numeric (RFC 3696, section 2); this also rejects IP addresses, in hexadecimal too. */
const NUMBER_AT_END = /(?:^|\.)(?:\d+|0x[\da-f]*)$/u;
/** Characters that a domain name may have before IDNA processing. Others would make the URL parser see a port, a path or an escape. */
const DOMAIN_LETTERS = /^(?:[\p{L}\p{N}\p{M}.\u30fb\u00b7\u05f3\u05f4\u0375-]|\u200c|\u200d)+$/u;
const DOTS = /[\u3002\uff0e\uff61]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/** The domain in lower-case A-labels without a trailing dot; undefined if it is invalid. */
function canonicalDomain(typed: string): string | undefined {
  const domain = typed.replaceAll(DOTS, '.').normalize('NFKC').toLowerCase().replace(/\.$/u, '');
  if (ASCII.test(domain)) return DOMAIN.test(domain) && !NUMBER_AT_END.test(domain) ? domain : undefined;
  if (!DOMAIN_LETTERS.test(domain)) return undefined;
  try {
    const { hostname } = new URL(`http://${domain}/`);
    return DOMAIN.test(hostname) && !NUMBER_AT_END.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The canonical form in which an email address is stored, compared and sent to; undefined if it is invalid. The domain is in A-labels, so each spelling of it gives
 * the same address. The local part is lower-cased, because people who type both `Anna` and `anna` are more common than mail servers that distinguish them.
 * A domain of one label is valid, as in HTML: households use `localhost` and names of their network.
 * Otherwise unchanged: `a.b` and `a+b` are separate mailboxes. A local part with non-ASCII characters (RFC 6531) is invalid, as in the email field of browsers.
 */
export function canonicalEmail(typed: string): string | undefined {
  const text = typed.trim().replaceAll('\uff20', '@');
  const at = text.lastIndexOf('@');
  if (at < 1) return undefined;
  const local = text.slice(0, at).normalize('NFKC').toLowerCase();
  const domain = canonicalDomain(text.slice(at + 1));
  if (domain === undefined || !LOCAL.test(local)) return undefined;
  const email = `${local}@${domain}`;
  return email.length <= LENGTH_MAXIMUM ? email : undefined;
}

/** Invisible characters in pasted text. The two joiners are valid in some domains and stay inside an address. */
const WITHOUT_INK = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}|^[\u200c\u200d]+|[\u200c\u200d]+$/gu;
/** Punctuation before and after an address in a list or a sentence. */
const BEFORE = /^[\s,;:"'\u2018-\u201f\u00ab\u00bb([\uff0c\uff1b\u3001]+/u;
const AFTER = /[\s,;:.!?"'\u2018-\u201f\u00ab\u00bb)\]\u2026\uff0c\uff1b\u3001\u3002]+$/u;
const COMMENT = /\([^()@]*\)$/u;
/** A name followed by an address in brackets; the closing bracket may already be removed with the punctuation. */
const NAMED = /^([^<>()[\]]*)[<([]([^<>()[\]]*)>?$/u;

function bareAddress(text: string): string {
  const inner = text.replace(BEFORE, '').replace(COMMENT, '').replace(AFTER, '');
  const link = /^mailto:\/{0,2}([^?]*)/iu.exec(inner)?.[1];
  if (link === undefined) return inner;
  try {
    return decodeURIComponent(link).trim();
  } catch {
    return link;
  }
}

/**
 * The address in a pasted text, as it is spelled there: from `Erin Bar <x@y>`, `mailto:x@y`, `x@y;` or text with invisible characters. The trimmed text if it does
 * not contain exactly one address.
 */
export function addressIn(typed: string): string {
  if (typed.length > 4 * LENGTH_MAXIMUM) return typed;
  const text = typed.replaceAll(WITHOUT_INK, '').trim();
  if (canonicalEmail(text) !== undefined) return text;
  const bare = bareAddress(text);
  const named = NAMED.exec(bare);
  const address = bareAddress(named?.[2] ?? bare);
  const email = canonicalEmail(address);
  if (email === undefined) return text;
  // If the name is a different address, it is unclear which one is meant.
  const name = bareAddress(named?.[1] ?? '');
  return name.includes('@') && canonicalEmail(name) !== email ? text : address;
}

/** The canonical form of a typed or pasted address; undefined if there is none. */
export const typedEmail = (typed: string): string | undefined => canonicalEmail(addressIn(typed));

/** An instruction that explains why a typed text is not an address; undefined if it is one. */
export function emailFault(typed: string): string | undefined {
  const text = addressIn(typed);
  if (canonicalEmail(text) !== undefined) return undefined;
  const parts = text.split(/[\s,;<>()]+/u);
  if (parts.filter((part) => typedEmail(part) !== undefined).length > 1) return 'Enter only one email address.';
  if (text.length > LENGTH_MAXIMUM) return `Use at most ${LENGTH_MAXIMUM} characters for the email address.`;
  if (parts.length > 1 && text.includes('@')) return 'Enter the email address alone, without spaces.';
  const [local = '', domain = ''] = text.split('@');
  if (!ASCII.test(local) && canonicalEmail(`x@${domain}`) !== undefined)
    return 'Use only letters from a to z, digits, and signs before the @.';
  return 'Enter an email address, like name@example.com.';
}

/** Whether two texts are the same address. */
export function isSameEmail(one: string, other: string): boolean {
  const email = typedEmail(one);
  return email !== undefined && email === typedEmail(other);
}
