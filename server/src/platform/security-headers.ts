const YEAR_SECONDS = 31_536_000;

/** The API answers no content that a page may run, and the application loads everything from itself. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  // Mantine inserts style elements (docs/decisions/web.md).
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  // The events socket as well (CSP 3, section 6.7.2.8).
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const DOCUMENT_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // The microphone is for talking in a remote session, which its person turns on there; no page in a frame has it.
  'permissions-policy': 'camera=(), microphone=(self), geolocation=()',
  // A response without another policy may be personal.
  'cache-control': 'no-store',
} as const;

/** A script, style, font or icon is no document: the policies of a document would be 600 bytes on each for nothing (docs/decisions/web.md). */
const ASSET_HEADERS = {
  'content-security-policy': "frame-ancestors 'none'",
  'x-content-type-options': DOCUMENT_HEADERS['x-content-type-options'],
  'cross-origin-resource-policy': DOCUMENT_HEADERS['cross-origin-resource-policy'],
} as const;

/** A service worker is a document of its own, whose policy bounds what it loads: it fetches from this origin alone. */
const WORKER_HEADERS = {
  ...ASSET_HEADERS,
  'content-security-policy': "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
} as const;

type Headers = Readonly<Record<string, string>>;

/**
 * The headers of every answer (OWASP Secure Headers Project): of documents and of the API, and of the application's files. With a `public_url` of https browsers
 * are told to come by https alone for a year, to its subdomains as well (RFC 6797; docs/decisions/web.md).
 */
export function securityHeaders(public_url: string | undefined): { document: Headers; asset: Headers; worker: Headers } {
  if (public_url === undefined || new URL(public_url).protocol !== 'https:')
    return { document: DOCUMENT_HEADERS, asset: ASSET_HEADERS, worker: WORKER_HEADERS };
  const transport = { 'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains` };
  return {
    document: { ...DOCUMENT_HEADERS, ...transport },
    asset: { ...ASSET_HEADERS, ...transport },
    worker: { ...WORKER_HEADERS, ...transport },
  };
}
