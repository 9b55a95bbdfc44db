/** Proof of a feed's origin: a checksum, the public key of a detached signature at `<url>.sig`, or only the certificate of its host, for unsigned lists that change daily. */
type FeedPin = { kind: 'sha256'; hex: string } | { kind: 'ed25519'; key: string } | { kind: 'tls' };

/** A source of signatures: an archive of YARA rules, a list of SHA-256 sums, or a list of dangerous domains and addresses for the scam check. */
export interface SignatureFeed {
  kind: 'yara' | 'sha256' | 'domains';
  /** Without the pin. */
  url: string;
  pin: FeedPin;
  /** Whether a feed with unusable parts is rejected as a whole; otherwise these parts are skipped. */
  strict: boolean;
  /** A match of a `note` feed is only a note, and never makes a file infected. */
  severity: 'alarm' | 'note';
}

const EXAMPLE = 'yara+https://example.com/rules.tar.gz#sha256=<64 hex digits>';
const KINDS = ['yara', 'sha256', 'domains'] as const;
/** RFC 8032: 32 bytes, as base64 with its padding. */
const ED25519_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** @throws an error whose message, the end of a sentence, names the fault of the pin and the right form. */
function pinOf(pin: string): FeedPin {
  if (pin === 'tls') return { kind: 'tls' };
  const [, name, value = ''] = /^(\w+)=(.*)$/.exec(pin) ?? [];
  if (name === 'sha256') {
    if (!/^[0-9a-f]{64}$/i.test(value)) throw new Error('needs 64 hex digits after #sha256=');
    return { kind: 'sha256', hex: value.toLowerCase() };
  }
  if (name === 'ed25519') {
    if (!ED25519_KEY.test(value)) throw new Error('needs a public key of 32 bytes in base64 (44 characters) after #ed25519=');
    return { kind: 'ed25519', key: value };
  }
  throw new Error(
    'must end with its pin: #sha256=<64 hex digits>, #ed25519=<public key in base64>, or #tls to trust the certificate of its host',
  );
}

/** Options after the pin, each preceded by `&`. @throws like `pinOf`. */
function wishesOf(wishes: readonly string[]): Pick<SignatureFeed, 'strict' | 'severity'> {
  const unknown = wishes.find((wish) => !['strict', 'alarm', 'note'].includes(wish));
  if (unknown !== undefined) throw new Error(`has "&${unknown}" after its pin. Only &strict, &alarm, or &note can follow`);
  if (wishes.includes('alarm') && wishes.includes('note')) throw new Error('cannot be both &alarm and &note');
  return { strict: wishes.includes('strict'), severity: wishes.includes('note') ? 'note' : 'alarm' };
}

function feedOf(part: string, mayBePlain: (host: string) => boolean): SignatureFeed {
  const [, kindName, address = ''] = /^(\w+)\+(.*)$/.exec(part) ?? [];
  const kind = KINDS.find((one) => one === kindName);
  if (kind === undefined) throw new Error(`must start with yara+, sha256+, or domains+, like ${EXAMPLE}`);
  const url = URL.parse(address);
  if (url === null) throw new Error(`has no address after ${kind}+, like ${EXAMPLE}`);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBePlain(url.hostname))) {
    throw new Error('must have an https:// address');
  }
  const [first = '', ...wishes] = url.hash.slice(1).split('&');
  const pin = pinOf(first);
  url.hash = '';
  return { kind, url: url.href, pin, ...wishesOf(wishes) };
}

/**
 * Parses the comma-separated `SIGNATURE_FEEDS`: `yara+https://host/rules.tar.gz#sha256=HEX`, `sha256+https://host/list.txt#ed25519=KEY`,
 * `sha256+https://host/list.csv.zip#tls&note`. Plain HTTP is allowed only for hosts that `mayBePlain` accepts. A comma in an address is written `%2C`. @throws an error
 * whose message names the first invalid part and the right form.
 */
export function parseSignatureFeeds(list: readonly string[], mayBePlain: (host: string) => boolean): SignatureFeed[] {
  const feeds: SignatureFeed[] = [];
  for (const [index, part] of list.entries()) {
    try {
      const feed = feedOf(part, mayBePlain);
      if (feeds.some((other) => other.url === feed.url && other.kind === feed.kind)) throw new Error('is listed twice');
      feeds.push(feed);
    } catch (error) {
      throw new Error(`part ${index + 1} (${JSON.stringify(part)}) ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return feeds;
}
