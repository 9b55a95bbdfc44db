const YEAR_SECONDS = 31_536_000;

/** API answers contain no active content, and the application loads everything from its own origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  // Mantine inserts style elements (docs/decisions/web.md).
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  // Also covers the events socket (CSP 3, section 6.7.2.8).
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
  // The microphone is used in remote sessions after the person turns it on; framed pages never get it.
  'permissions-policy': 'camera=(), microphone=(self), geolocation=()',
  // By default an answer may be personal.
  'cache-control': 'no-store',
} as const;

/** A script, style, font or icon is not a document: a document's policies would add 600 useless bytes to each (docs/decisions/web.md). */
const ASSET_HEADERS = {
  'content-security-policy': "frame-ancestors 'none'",
  'x-content-type-options': DOCUMENT_HEADERS['x-content-type-options'],
  'cross-origin-resource-policy': DOCUMENT_HEADERS['cross-origin-resource-policy'],
} as const;

/** A service worker has its own policy, which limits it to requests to this origin. */
const WORKER_HEADERS = {
  ...ASSET_HEADERS,
  'content-security-policy': "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
} as const;

type Headers = Readonly<Record<string, string>>;

/**
 * The headers of every answer (OWASP Secure Headers Project): for documents and the API, and for the application's files. With an https `public_url`, browsers are told to
 * use only https for a year, also for subdomains (RFC 6797; docs/decisions/web.md).
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
