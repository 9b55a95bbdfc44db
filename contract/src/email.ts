/** The part of `URL` that is used here, which pages and server both have (WHATWG URL, with IDNA by UTS 46). */
declare const URL: { new (url: string): { hostname: string } };

/** RFC 5321, 4.5.3.1.3: a path is at most 256 octets with its angle brackets. */
const LENGTH_MAXIMUM = 254;
/** The local part and the domain of a valid address in HTML (section 4.10.5.1.5): the symbols of RFC 5322 are letters. */
const LOCAL = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+$/u;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/u;
/** No top-level domain is a number (RFC 3696, section 2); an address of a network is no domain, in hexadecimal either. */
const NUMBER_AT_END = /(?:^|\.)(?:\d+|0x[\da-f]*)$/u;
/** Characters that a domain name may have before it is read by IDNA; a URL would take further characters for a port, a path or an escape. */
const DOMAIN_LETTERS = /^(?:[\p{L}\p{N}\p{M}.\u30fb\u00b7\u05f3\u05f4\u0375-]|\u200c|\u200d)+$/u;
const DOTS = /[\u3002\uff0e\uff61]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/** A domain in A-labels and small letters, without a dot at its end; undefined for what is none. */
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
 * The one form in which an email address is stored, compared and sent to; undefined for what is none. The domain is in A-labels: a mailbox has one, however its domain is
 * spelled. The local part is in small letters, as it has always been here: the mail servers of the world that tell `Anna` and `anna` apart are fewer than people who type both.
 * A domain of one label is valid, as in HTML: a household has `localhost` and the names of its own network.
 * The rest is unchanged: `a.b` and `a+b` are mailboxes of their own. A local part beyond ASCII (RFC 6531) is none, as in the pages' own field.
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

/** Whether two texts are the same address. */
export function isSameEmail(one: string, other: string): boolean {
  const email = canonicalEmail(one);
  return email !== undefined && email === canonicalEmail(other);
}
