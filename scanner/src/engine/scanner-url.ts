/** Where a clamd listens. */
export type ScannerAddress = { host: string; port: number } | { path: string };

/** clamd's own default (`TCPSocket` of clamd.conf). */
const CLAMD_PORT = 3310;

/** Default sockets of an installed clamd: Debian's package, and Homebrew's on both kinds of Mac. Only in system folders: in /tmp any user could open a socket and receive every file. */
export const USUAL_SCANNERS: readonly ScannerAddress[] = [
  { path: '/var/run/clamav/clamd.ctl' },
  { path: '/opt/homebrew/var/run/clamav/clamd.sock' },
  { path: '/usr/local/var/run/clamav/clamd.sock' },
];

/** Undefined for invalid percent-encoding. */
function decoded(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
}

function addressOf(text: string): ScannerAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(text);
  if (`${username}${password}${search}${hash}` !== '') return undefined;
  if (protocol === 'clamd+unix:') {
    // Require three slashes: a host before the path would be a path that lost its first part.
    const path = decoded(pathname);
    return hostname === '' && path !== undefined && path.length > 1 ? { path } : undefined;
  }
  if (protocol !== 'clamd:' || hostname === '' || !['', '/'].includes(pathname) || port === '0') return undefined;
  return { host: hostname.replaceAll(/^\[|\]$/g, ''), port: port === '' ? CLAMD_PORT : Number(port) };
}

/** The distinct addresses of a list; undefined if one is invalid. */
export function parseScannerUrls(urls: readonly string[]): ScannerAddress[] | undefined {
  const addresses = new Map<string, ScannerAddress>();
  for (const url of urls) {
    const address = addressOf(url);
    if (address === undefined) return undefined;
    addresses.set(scannerName(address), address);
  }
  return [...addresses.values()];
}

/** An address as people write it. */
export function scannerName(address: ScannerAddress): string {
  if ('path' in address) return `clamd+unix://${address.path}`;
  return `clamd://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}
